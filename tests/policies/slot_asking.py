"""A cache asked in letters: each letter is a token, and what each slot holds can be read and set."""

from __future__ import annotations

from array import array
from typing import Any

from promptorder.model.trace import Served, TraceRequest
from promptorder.policies._held import Held
from promptorder.policies._options import parse_policy


def held(text: str) -> Held:
    return Held(array("I", map(ord, text)).tobytes(), 1, len(text), len(text))


class Asking:
    """A policy as written on the command line."""

    def __init__(self, policy: str) -> None:
        self.cache: Any = parse_policy(policy).open()
        self._count = 0

    def ask(self, prompt: str, answer: str = "", **more: Any) -> Served:
        self._count += 1
        ids, generated = array("I", map(ord, prompt)), array("I", map(ord, answer))
        served: Served = self.cache.serve(TraceRequest(self._count, self._count, ids, generated, **more))
        return served

    def cached(self, prompt: str, answer: str = "", **more: Any) -> int:
        return self.ask(prompt, answer, **more).cached_tokens

    def holding(self, *texts: str) -> Asking:
        """With these prompts in the slots of llama-server, the first used first."""
        self.ask("\0")
        for number, (slot, text) in enumerate(zip(self._slots(), texts, strict=True)):
            slot.held = held(text)
            slot.used = number + 1
        self._server()._clock = len(texts)
        return self

    def saved(self, *texts: str) -> Asking:
        """With these prompts in the host's cache of llama-server."""
        for text in texts:
            assert self._server()._host.save(held(text))
        return self

    def slots(self) -> list[str]:
        return [_text(slot.held.data) for slot in self._slots()]

    def host(self) -> list[str]:
        """What the host's cache holds, the oldest first."""
        return [_text(held.data) for held in self._server()._host._entries.values()]

    def _server(self) -> Any:
        (model,) = self.cache._models.values()
        return getattr(model.runner, "_slots", None) if hasattr(model.runner, "_cut") else model.runner

    def _slots(self) -> Any:
        return self._server()._slots


def _text(data: bytes) -> str:
    return "".join(chr(number) if number < 0x110000 else "?" for number in memoryview(data).cast("I"))
