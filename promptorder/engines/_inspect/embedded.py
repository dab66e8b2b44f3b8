"""The embedded engine: a model file's header; its server is ours alone."""

from __future__ import annotations

import importlib.metadata
from contextlib import suppress

from promptorder.engines._embedded_models import find_model, model_name
from promptorder.engines._gguf import read_header
from promptorder.errors import EngineError
from promptorder.model.doctor import Environment, ModelFacts, Runner, ServerFacts
from promptorder.model.engine import EngineOptions


def inspect(options: EngineOptions, model: str | None) -> tuple[ServerFacts, ModelFacts | None]:
    """What the file says. Its server is started by promptorder alone, so no variable reaches it."""
    version = importlib.metadata.version("xllamacpp")
    server = ServerFacts(
        version=f"xllamacpp {version}", runner=Runner(slots=1), environment=Environment(server={})
    )
    return server, None if model is None else _model(options)


def default_keep_alive_s(options: EngineOptions, model: str, context_tokens: int | None) -> float | None:
    """None: nobody else uses this server, and it lives as long as the measurement."""
    return None


def _model(options: EngineOptions) -> ModelFacts | None:
    with suppress(EngineError, ValueError, OSError):
        path = find_model(options.model)
        header = read_header(path)
        family = str(header.get("general.architecture") or "")
        context = header.get(f"{family}.context_length")
        window = header.get(f"{family}.attention.sliding_window")
        label = header.get("general.size_label")
        return ModelFacts(
            name=model_name(path),
            family=family or None,
            parameters=str(label) if label else None,
            file_bytes=path.stat().st_size,
            max_context_tokens=int(context) if context is not None else None,
            sliding_window_tokens=int(window) if window else None,
        )
    return None
