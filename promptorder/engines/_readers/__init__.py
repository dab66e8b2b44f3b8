"""How a model reads requests, one file an engine: its template, and its tokenizer.

A module is named as its engine and defines ``open_reader(options)``, which gives a Reader and raises as the engine's
``open_engine`` does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from promptorder.difference.rendering import Rendered
from promptorder.engines import REGISTRY as ENGINES
from promptorder.errors import EngineUnreachableError
from promptorder.model.engine import EngineOptions
from promptorder.plugins import Registry
from promptorder.tokenizers import Tokenizer

REGISTRY = Registry("promptorder.engines._readers", "engine")


class Reader(Protocol):
    """One model that reads requests. Methods may raise EngineError."""

    def render(self, body: dict[str, Any]) -> Rendered:
        """What the model reads of a request of any provider, or the nearest that can be told."""

    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer, or the nearest that is known."""

    def close(self) -> None:
        """Leave the model as it was found."""


def open_reader(engine: str, options: EngineOptions) -> Reader:
    """The reader of that engine; ``auto`` takes the embedded one for a GGUF file, else the first that can be used."""
    if (
        engine == "auto"
        and options.model
        and options.host is None
        and Path(options.model).expanduser().is_file()
    ):
        engine = "embedded"
    if engine == "auto":
        engine = _first(options)
    reader: Reader = REGISTRY.load(engine).open_reader(options)
    return reader


def _first(options: EngineOptions) -> str:
    modules = sorted(ENGINES.load_all().items(), key=lambda item: item[1].AUTO_RANK)
    refusals = []
    for name, module in modules:
        reason = module.available(options) if name in REGISTRY.names() else "no reader"
        if reason is None:
            return name
        refusals.append(reason)
    raise EngineUnreachableError(
        f"nothing can render for the model {options.model}: {'; '.join(refusals)}",
        hint="leave --model out to compare the texts, or start a server with `ollama serve`",
    )
