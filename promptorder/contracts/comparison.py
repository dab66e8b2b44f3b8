"""``promptorder.comparison/1``: the result of ``promptorder compare``."""

from __future__ import annotations

from typing import Any

from promptorder._version import __version__
from promptorder.model.comparison import Caveat, Comparison, Estimate, LayoutResult, SampleResult
from promptorder.model.engine import EngineInfo

SCHEMA = "promptorder.comparison/1"


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The object of the contract: whole ns, whole tokens, and null for what is not known."""
    document = comparison.document
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "started_at": comparison.started_at,
        "engine": _engine(comparison.engine),
        "options": dict(comparison.options),
        "document": {
            "path": document.path,
            "form": document.form,
            "sha256": document.sha256,
            "characters": len(document.text),
            "pages": [list(pair) for pair in document.pages] if document.pages else None,
        },
        "questions": list(comparison.questions),
        "layouts": [_layout(layout) for layout in comparison.layouts],
        "fastest": comparison.fastest,
        "caveats": [_caveat(caveat) for caveat in comparison.caveats],
    }


def _engine(info: EngineInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "version": info.version,
        "model": info.model,
        "model_digest": info.model_digest,
        "context_tokens": info.context_tokens,
        "max_context_tokens": info.max_context_tokens,
        "counts_cached_tokens": info.counts_cached_tokens,
        "facts": dict(info.facts),
    }


def _layout(layout: LayoutResult) -> dict[str, Any]:
    spread = layout.follow_up_prefill_spread_ns
    return {
        "name": layout.name,
        "verdict": layout.verdict.value,
        "reused_fraction": _fraction(layout.reused_fraction),
        "expected_reused_tokens": layout.expected_reused_tokens,
        "first_prefill_ns": layout.first_prefill_ns,
        "follow_up_prefill_ns": layout.follow_up_prefill_ns,
        "follow_up_prefill_spread_ns": list(spread) if spread else None,
        "follow_up_total_ns": layout.follow_up_total_ns,
        "samples": [_sample(sample) for sample in layout.samples],
    }


def _sample(result: SampleResult) -> dict[str, Any]:
    sample, reply = result.sample, result.sample.reply
    return {
        "question": sample.question,
        "repeat": sample.repeat,
        "phase": sample.phase.value,
        "started_at": sample.started_at,
        "prompt_tokens": result.prompt_tokens,
        "cached_tokens": reply.cached_tokens if reply else None,
        "reused_tokens": _tokens(result.reused_tokens),
        "expected_reused_tokens": result.expected.shared_tokens if result.expected else None,
        "load_ns": reply.load_ns if reply else None,
        "prefill_ns": reply.prefill_ns if reply else None,
        "decode_ns": reply.decode_ns if reply else None,
        "other_ns": result.other_ns,
        "total_ns": result.total_ns,
        "first_token_ns": reply.first_token_ns if reply else None,
        "output_tokens": reply.output_tokens if reply else None,
        "thinking": reply.thinking if reply else None,
        "answer": reply.answer if reply else None,
        "failure": sample.failure,
    }


def _fraction(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
    }


def _tokens(estimate: Estimate) -> dict[str, Any]:
    whole = {
        key: None if value is None else round(value)
        for key, value in (("value", estimate.value), ("low", estimate.low), ("high", estimate.high))
    }
    return {**whole, "method": estimate.method}


def _caveat(caveat: Caveat) -> dict[str, Any]:
    return {
        "code": caveat.code,
        "message": caveat.message,
        "layout": caveat.layout,
        "samples": [{"repeat": repeat, "question": question} for repeat, question in caveat.samples],
    }
