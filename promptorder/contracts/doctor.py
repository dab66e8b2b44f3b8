"""``promptorder.doctor/1``: the result of ``promptorder doctor``."""

from __future__ import annotations

import math
from typing import Any

from promptorder._version import __version__
from promptorder.measure.controls import counts_of
from promptorder.model.doctor import Call, Examination, Facts, LoadedModel, ModelFacts, ServerFacts, Status

SCHEMA = "promptorder.doctor/1"


def to_json(examination: Examination) -> dict[str, Any]:
    """The object of the contract: every line, and the facts that it was judged by."""
    facts = examination.facts
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "started_at": examination.started_at,
        "engine": _engine(facts),
        "model": _model(facts.model, facts.now) if facts.model is not None else None,
        "environment": _environment(facts.before) if facts.before is not None else None,
        "calls": None if facts.calls is None else [_call(call) for call in facts.calls],
        "checks": [
            {
                "code": each.code,
                "title": each.title,
                "status": each.line.status.value,
                "message": each.line.message,
                "remedy": each.line.remedy or None,
            }
            for each in examination.checks
        ],
        "summary": {status.value: examination.count(status) for status in Status},
    }


def _engine(facts: Facts) -> dict[str, Any] | None:
    if facts.engine is None:
        return None
    server, runner = facts.before, facts.now.runner if facts.now is not None else None
    return {
        "name": facts.engine,
        "version": server.version if server else None,
        "address": server.address or None if server else None,
        "elsewhere": server.elsewhere if server else None,
        "counts": counts_of(facts.calls or ()),
        "slots": runner.slots if runner else None,
        "cache_type": runner.cache_type if runner else None,
        "flash_attention": runner.flash_attention if runner else None,
        "default_keep_alive_ns": _nanoseconds(facts.default_keep_alive_s),
        "loaded": [_loaded(each) for each in server.loaded] if server else [],
    }


def _loaded(model: LoadedModel) -> dict[str, Any]:
    left = model.seconds_left
    return {
        "name": model.name,
        "examined": model.ours,
        "memory_bytes": model.memory_bytes,
        "gpu_bytes": model.gpu_bytes,
        "context_tokens": model.context_tokens,
        "left_ns": _nanoseconds(left),
        "kept_for_ever": left is not None and math.isinf(left),
    }


def _model(model: ModelFacts, server: ServerFacts | None) -> dict[str, Any]:
    ours = server.ours if server is not None else None
    return {
        "name": model.name,
        "digest": model.digest,
        "family": model.family,
        "quantization": model.quantization,
        "parameters": model.parameters,
        "file_bytes": model.file_bytes,
        "memory_bytes": ours.memory_bytes if ours is not None else None,
        "max_context_tokens": model.max_context_tokens,
        "default_context_tokens": model.default_context_tokens,
        "sliding_window_tokens": model.sliding_window_tokens,
        "capabilities": list(model.capabilities),
        "remote_host": model.remote_host,
    }


def _environment(server: ServerFacts) -> dict[str, Any]:
    seen = server.environment.server
    return {
        "own": dict(server.environment.own),
        "server": None if seen is None else dict(seen),
        "unseen": server.environment.unseen or None,
    }


def _call(call: Call) -> dict[str, Any]:
    return {
        "kind": call.kind,
        "characters": call.characters,
        "shared_characters": call.shared_characters,
        "prompt_tokens": call.prompt_tokens,
        "cached_tokens": call.cached_tokens,
        "read_tokens": call.read_tokens,
        "prefill_ns": call.prefill_ns,
        "load_ns": call.load_ns,
        "waited_ns": call.waited_ns,
        "failure": call.failure,
    }


def _nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None or math.isinf(seconds) else round(seconds * 1e9)
