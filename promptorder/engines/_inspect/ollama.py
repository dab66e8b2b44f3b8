"""An Ollama server: its lists, the description of a model, and on this machine its processes."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from promptorder.engines._inspect import _process
from promptorder.engines._ollama_client import OllamaClient, elsewhere
from promptorder.errors import EngineError
from promptorder.model.doctor import Environment, LoadedModel, ModelFacts, ServerFacts
from promptorder.model.engine import EngineOptions
from promptorder.model.ollama_versions import parse_version

_LIMIT_S = 30.0
_LOAD_LIMIT_S = 900.0
_FOREVER_S = 10 * 365 * 86400


def inspect(options: EngineOptions, model: str | None) -> tuple[ServerFacts, ModelFacts | None]:
    """The server now, and the model where one is named. Raises EngineError and UsageError."""
    with _client(options) as client:
        version = str(client.get("/api/version").get("version") or "")
        listed: list[dict[str, Any]] = client.get("/api/tags").get("models") or []
        name = _full_name(model, listed) if model else None
        shown = _shown(client, name)
        blob = _blob(shown)
        place = elsewhere(client.host_name)
        environment, process = _environment(client, place)
        server = ServerFacts(
            address=client.address,
            version=None if version in ("", "0.0.0") else version,
            version_numbers=parse_version(version),
            elsewhere=place,
            models=tuple(_name(entry) for entry in listed),
            loaded=tuple(_loaded(client, name, blob)),
            runner=_process.runner(process, blob) if process is not None else None,
            environment=environment,
        )
        entry = next((each for each in listed if _name(each) == name), {})
        return server, None if name is None else _model(name, entry, shown)


def default_keep_alive_s(options: EngineOptions, model: str, context_tokens: int | None) -> float | None:
    """How long the server keeps a model when a call does not say: tried by loading it.

    Only the call that loads a model takes the default, so it must not be loaded before; whoever calls this
    unloads it in the end. None where the server does not tell.
    """
    with _client(options) as client:
        client.limit_wait(_LOAD_LIMIT_S)
        body: dict[str, Any] = {"model": model, "prompt": "", "stream": False}
        if context_tokens is not None:
            body["options"] = {"num_ctx": context_tokens}
        client.post("/api/generate", body)
        entries = client.get("/api/ps").get("models") or []
        ours = next((each for each in entries if _name(each) == model), None)
        left = _seconds_left(ours.get("expires_at")) if ours is not None else 0.0
        # One that is just being unloaded is still listed.
        return 0.0 if left is not None and left < 1 else left


@contextmanager
def _client(options: EngineOptions) -> Iterator[OllamaClient]:
    client = OllamaClient(options.host, options.headers)
    client.limit_wait(_LIMIT_S)
    try:
        yield client
    finally:
        client.close()


def _environment(client: OllamaClient, place: str | None) -> tuple[Environment, int | None]:
    own = _process.changing(os.environ)
    if place is not None:
        return Environment(own, None, f"the server runs on {place}"), None
    found = _process.listener(_port(client.address))
    if found.pid is None:
        return Environment(own, None, found.why), None
    seen = _process.environment(found.pid)
    return Environment(
        own, seen, "" if seen is not None else "its process belongs to another user"
    ), found.pid


def _port(address: str) -> int:
    url = urlsplit(address)
    return url.port or (443 if url.scheme == "https" else 80)


def _shown(client: OllamaClient, name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    with suppress(EngineError):  # a model that is not there is for whoever opens the engine to tell
        return client.post("/api/show", {"model": name})
    return {}


def _loaded(client: OllamaClient, name: str | None, blob: str | None) -> Iterator[LoadedModel]:
    for entry in client.get("/api/ps").get("models") or []:
        other = _name(entry)
        # Two names of one file share a runner.
        same = other == name or bool(name and blob and _blob(_shown(client, other)) == blob)
        yield LoadedModel(
            name=other,
            ours=same,
            memory_bytes=_positive(entry.get("size")),
            gpu_bytes=entry.get("size_vram") if _positive(entry.get("size")) else None,
            context_tokens=_positive(entry.get("context_length")),
            seconds_left=_seconds_left(entry.get("expires_at")),
        )


def _model(name: str, entry: Mapping[str, Any], shown: Mapping[str, Any]) -> ModelFacts:
    details = shown.get("details") or entry.get("details") or {}
    info = shown.get("model_info") or {}
    wanted = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE)
    return ModelFacts(
        name=name,
        digest=entry.get("digest"),
        family=details.get("family") or None,
        quantization=details.get("quantization_level") or None,
        parameters=details.get("parameter_size") or None,
        file_bytes=_positive(entry.get("size")),
        max_context_tokens=_ending(info, ".context_length"),
        default_context_tokens=int(wanted[1]) if wanted else None,
        capabilities=tuple(
            str(each) for each in shown.get("capabilities") or entry.get("capabilities") or ()
        ),
        remote_host=entry.get("remote_host") or shown.get("remote_host"),
        sliding_window_tokens=_ending(info, ".attention.sliding_window"),
    )


def _full_name(model: str, listed: list[dict[str, Any]]) -> str:
    full = model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"
    names = [_name(entry) for entry in listed]
    return next((name for name in names if name.lower() in (model.lower(), full.lower())), model)


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or entry.get("model") or "")


def _blob(shown: Mapping[str, Any]) -> str | None:
    match = re.search(r"^FROM .*sha256-([0-9a-f]{64})$", str(shown.get("modelfile") or ""), re.MULTILINE)
    return match[1] if match else None


def _ending(info: Mapping[str, Any], suffix: str) -> int | None:
    return next((_positive(value) for key, value in info.items() if key.endswith(suffix)), None)


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _seconds_left(expires_at: object) -> float | None:
    try:
        text = re.sub(r"(\.\d{6})\d+", r"\1", str(expires_at)).replace("Z", "+00:00")
        left = (datetime.fromisoformat(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return math.inf if left > _FOREVER_S else max(0.0, left)
