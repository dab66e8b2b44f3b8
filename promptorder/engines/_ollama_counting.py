"""Counting tokens on an Ollama server without a full prefill.

From version 0.30 a prompt that does not fit the context is refused at once (``truncate: false``, HTTP 400), and the refusal
names its tokens: with the smallest context that takes 8 to 80 ms. Older servers count only by reading, so there the
count is estimated from a sample of the text.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from promptorder.engines._ollama_client import OllamaClient
from promptorder.errors import PromptTooLongError
from promptorder.model.engine import TokenCount
from promptorder.model.ollama_versions import (
    CountMeaning,
    Version,
    answers_without_reading,
    count_meaning,
)

KEEP_ALIVE = "15m"
"""Sent with every call: a server whose default is 0 would unload the model after each."""
SMALLEST_CONTEXT = 256
"""llama.cpp's smallest context in tokens."""
_SAMPLE_CHARACTERS = 1500
_SAMPLE_CONTEXT = 2048
_SHORT_CHARACTERS = 4000
_FILLER_WORD = "word "  # at least a token each
_FILLER_MARGIN = 64


class Counting:
    """Counts for one model.

    ``loaded_context`` is the context with which the model was found loaded, ``kept_context`` the same where
    the model is not ours to reload. ``used`` is whether a call has loaded the model.
    """

    def __init__(
        self,
        client: OllamaClient,
        model: str,
        version: Version | None,
        *,
        can_think: bool,
        loaded_context: int | None,
        kept_context: int | None,
    ) -> None:
        self._client = client
        self._model = model
        self._can_think = can_think
        self._loaded_context = loaded_context
        self._kept_context = kept_context
        self._meaning = count_meaning(version)
        # What imitates Ollama may give any version: that a count is of what was read must show before it is believed.
        self._unproven = self._meaning == "read"
        self._answers_unread = answers_without_reading(version)
        self._characters_per_token: float | None = None
        self._filler_tokens: int | None = None
        self.used = False

    @property
    def context(self) -> int:
        """The context for calls that read next to nothing: another than the loaded one would reload the model."""
        return self._loaded_context or SMALLEST_CONTEXT

    @property
    def meaning(self) -> CountMeaning | None:
        """Whether the server's count is the whole prompt or what was read; None until counting has told."""
        return self._meaning

    def answers_unread(self) -> bool:
        """Whether the server renders and counts without running the model; asks one whose version does not tell."""
        if self._answers_unread is None or self._meaning is None or self._unproven:
            self._probe()
        return bool(self._answers_unread)

    def count(
        self, path: str, content: Callable[[str], dict[str, Any]], text: str, *, whole: bool
    ) -> TokenCount:
        """Tokens of what ``content`` sends to ``path``; ``content`` takes a text to add at its end.

        Exact for a ``whole`` prompt that is long enough to be refused as it is, else to a token.
        """
        if not self.answers_unread():
            return self._estimate(text)
        if len(text) > _SHORT_CHARACTERS and self._kept_context is None:
            count = self._refused(path, content(""))
            # What was not refused was read: one such call is enough.
            self._answers_unread = count is not None
            return TokenCount(count, exact=True) if count is not None else self._estimate(text)
        # A short text would be read instead of refused: make it long, and take the filler off again.
        filler = "\n" + _FILLER_WORD * ((self._kept_context or SMALLEST_CONTEXT) + _FILLER_MARGIN)
        if self._filler_tokens is None:
            self._filler_tokens = self._refused("/api/generate", {"raw": True, "prompt": filler})
        padded = self._refused(path, content(filler))
        if padded is None or self._filler_tokens is None:
            return self._estimate(text)
        return TokenCount(max(1, padded - self._filler_tokens), exact=not whole)

    def _refused(self, path: str, content: dict[str, Any]) -> int | None:
        """Tokens of a prompt that is too long for the smallest context; None where it is not refused."""
        body = {**self._body(SMALLEST_CONTEXT), **content, "truncate": False}
        if self._can_think:
            body["think"] = False
        try:
            self._client.post(path, body)
        except PromptTooLongError as refusal:
            match = re.search(r"n_prompt_tokens\D*(\d+)|request \((\d+) tokens\)", str(refusal.__cause__))
            return int(match[1] or match[2]) if match is not None else None
        return None

    def _estimate(self, text: str) -> TokenCount:
        """From a sample out of the text's middle."""
        if self._characters_per_token is None:
            middle = max(0, len(text) // 2 - _SAMPLE_CHARACTERS // 2)
            sample = text[middle : middle + _SAMPLE_CHARACTERS]
            read = self._read(sample, _SAMPLE_CONTEXT) or len(sample) // 4
            self._characters_per_token = max(1, len(sample)) / max(1, read)
        return TokenCount(max(1, round(len(text) / self._characters_per_token)), exact=False)

    def _probe(self) -> None:
        """Ask by a few tokens what the server can do and what it counts."""
        body = {**self._body(self.context), "messages": [{"role": "user", "content": "hi"}]}
        body["options"]["num_ctx"] = self.context
        if self._answers_unread is None:
            reply = self._client.post("/api/chat", {**body, "_debug_render_only": True})
            self._answers_unread = "_debug_info" in reply
        # New each time: what an earlier run has left in the cache would make the first call as short as the second.
        text = f"{secrets.token_hex(8)} two three four five six seven eight nine ten eleven twelve"
        cold, warm = (self._read(text, SMALLEST_CONTEXT) for _ in range(2))
        if self._meaning is None or self._unproven:
            self._meaning = "read" if cold and (warm or 0) < cold else "whole"
            self._unproven = False

    def _read(self, text: str, context: int) -> int | None:
        """Let the server read a short text, and return the number of tokens that it reports."""
        reply = self._client.post("/api/generate", {**self._body(context), "raw": True, "prompt": text})
        return whole_number(reply, "prompt_eval_count")

    def _body(self, context: int) -> dict[str, Any]:
        self.used = True
        options = {"num_ctx": self._kept_context or context, "num_predict": 1, "temperature": 0}
        return {"model": self._model, "stream": False, "keep_alive": KEEP_ALIVE, "options": options}


def whole_number(reply: Mapping[str, Any], key: str) -> int | None:
    """A count or a duration of a reply; absent, and anything that is neither, is None."""
    value = reply.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
