"""Ollama: the server renders by itself from 0.30 on, and tells the model's vocabulary."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from promptorder.difference.rendering import Rendered, chat, is_raw, without_template
from promptorder.engines.ollama import OllamaEngine
from promptorder.errors import EngineError, ModelUnsuitableError
from promptorder.model.engine import EngineOptions
from promptorder.tokenizers import Tokenizer, UnknownVocabularyError, of_vocabulary
from promptorder.tokenizers.estimate import Estimate

_OF_GENERATE = ("prompt", "suffix", "system", "template", "think")


def open_reader(options: EngineOptions) -> OllamaReader:
    """Connect, with a cold start that leaves the cache of others alone."""
    return OllamaReader(OllamaEngine(replace(options, cold="nonce")))


class OllamaReader:
    """A model on a server."""

    def __init__(self, engine: OllamaEngine) -> None:
        self._engine = engine
        info = engine.info
        self._how = f"by Ollama {info.version or '(unknown version)'} for {info.model}"

    def render(self, body: dict[str, Any]) -> Rendered:
        """A raw prompt as it is, all else by the server; without its tools where the model knows none."""
        if is_raw(body):
            return without_template(body)
        path, content = _call(body)
        how = self._how
        try:
            text = self._engine.rendered(path, content)
        except ModelUnsuitableError:
            refused = [key for key in ("tools", "think") if key in content]
            if not refused:
                raise
            text = self._engine.rendered(path, {k: v for k, v in content.items() if k not in refused})
            how += f", without {' and '.join(refused)}: the model takes none"
        return without_template(body) if text is None else Rendered(text, how)

    def tokenizer(self) -> Tokenizer:
        """Of the model's vocabulary, as the server tells it."""
        name = self._engine.info.model
        try:
            return of_vocabulary(self._engine.vocabulary(), name)
        except UnknownVocabularyError:
            return Estimate()

    def close(self) -> None:
        """Put the model back and leave."""
        with suppress(EngineError):
            self._engine.restore()
        self._engine.close()


def _call(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if isinstance(body.get("prompt"), str) and "messages" not in body:
        return "/api/generate", {key: body[key] for key in _OF_GENERATE if key in body}
    content = chat(body)
    return "/api/chat", {key: content[key] for key in ("messages", "tools", "think") if key in content}
