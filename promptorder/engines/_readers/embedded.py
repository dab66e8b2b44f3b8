"""The embedded engine: llama.cpp renders by the template in the model's file, which holds the vocabulary as well."""

from __future__ import annotations

from array import array
from typing import Any

from promptorder.difference.rendering import Rendered, chat, is_raw, without_template
from promptorder.engines import embedded
from promptorder.model.engine import EngineOptions
from promptorder.tokenizers import Tokenizer, UnknownVocabularyError, of_vocabulary
from promptorder.tokenizers.byte_bpe import little_endian


def open_reader(options: EngineOptions) -> EmbeddedReader:
    """Choose the model; a server starts when the first request is rendered."""
    engine = embedded.open_engine(options)
    assert isinstance(engine, embedded.EmbeddedEngine)
    return EmbeddedReader(engine)


class EmbeddedReader:
    """A model file."""

    def __init__(self, engine: embedded.EmbeddedEngine) -> None:
        self._engine = engine
        self._how = f"by llama.cpp with the template of {engine.name}"

    def render(self, body: dict[str, Any]) -> Rendered:
        """A raw prompt as it is, a chat by the model's own template."""
        if is_raw(body):
            return without_template(body)
        content = chat(body)
        kept = ("messages", "tools", "chat_template_kwargs", "reasoning_effort")
        return Rendered(
            self._engine.rendered({key: content[key] for key in kept if key in content}), self._how
        )

    def tokenizer(self) -> Tokenizer:
        """Of the vocabulary in the file, or where that is of a kind not known here, llama.cpp's own."""
        try:
            made = of_vocabulary(self._engine.vocabulary(), self._engine.name)
        except (UnknownVocabularyError, ValueError):
            return _ServerTokens(self._engine)
        return made if made.exact else _ServerTokens(self._engine)

    def close(self) -> None:
        """Stop the server."""
        self._engine.close()


class _ServerTokens:
    """The tokenizer of a running llama.cpp."""

    exact = True

    def __init__(self, engine: embedded.EmbeddedEngine) -> None:
        self._engine = engine
        self.name = engine.name

    def encode(self, text: str) -> list[int]:
        """All ids, as the server reads a chat."""
        return self._engine.tokenize(text)

    def packed(self, text: str) -> bytes:
        """See ``Tokenizer.packed``."""
        return little_endian(array("I", self.encode(text)))
