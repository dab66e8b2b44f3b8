"""What the slot policies share: one runner a model, its life, and the cause of what was not reused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

from promptorder.model.trace import Cause, Served, TraceRequest
from promptorder.policies._held import ID_BYTES, Held, prompt_of, tokens_in
from promptorder.policies._seen import CHUNK_TOKENS, SeenStarts


class Reuse(NamedTuple):
    """What a runner did with a prompt.

    ``read`` is the prompt as it was read, None where it was refused; ``left`` what the slot holds afterwards.
    ``slots_tokens`` is the longest start of it that any slot held, ``host_tokens`` that which the host's cache held.
    ``may_reuse`` is False where the request forbade it.
    """

    read: Held | None
    cached_tokens: int
    slots_tokens: int
    left: Held
    host_tokens: int = 0
    may_reuse: bool = True


class Runner(Protocol):
    """The slots of one loaded model."""

    def serve(self, prompt: Held, request: TraceRequest) -> Reuse:
        """Choose a slot for a prompt, which is not empty, and leave in it what it holds afterwards."""
        ...


class _Model:
    """A model of a trace: its runner while it is loaded, and how often it was unloaded."""

    __slots__ = ("keep_s", "last_at_s", "lives", "runner")

    def __init__(self) -> None:
        self.runner: Runner | None = None
        self.last_at_s: float | None = None
        self.keep_s = math.inf
        self.lives = 0


class Runners:
    """A cache policy of slots: requests of one namespace go to one runner, which ends when nothing used it for too long.

    ``keep_alive_s`` None: it never ends; with ``obeys`` the ``retention_s`` of the last request goes before it. A runner's
    time starts again with each request, at the time that the trace gives; how long the answer took is not known.
    """

    def __init__(
        self,
        open_runner: Callable[[], Runner],
        *,
        hash_block_tokens: int | None,
        keep_alive_s: float | None,
        obeys: bool = False,
    ) -> None:
        self._open_runner = open_runner
        self._hash_block_tokens = hash_block_tokens
        self._keep_alive_s = math.inf if keep_alive_s is None else keep_alive_s
        self._obeys = obeys
        self._models: dict[tuple[str, int], _Model] = {}
        self._seen_tokens = SeenStarts(CHUNK_TOKENS * ID_BYTES)
        self._seen_blocks = SeenStarts(ID_BYTES)

    def serve(self, request: TraceRequest) -> Served:
        """Answer a request; an empty prompt is refused and changes nothing."""
        prompt = prompt_of(request, self._hash_block_tokens)
        if not prompt.tokens:
            return Served(0, 0, 0, Cause.FIRST_REQUEST)
        kind = request.namespace, prompt.unit
        model = self._models.get(kind)
        if model is None:
            model = self._models[kind] = _Model()
        if model.runner is not None and _expired(model, request.at_s):
            model.runner = None
            model.lives += 1
        if model.runner is None:
            model.runner = self._open_runner()
        if request.at_s is not None:
            model.last_at_s = request.at_s
        asked_s = request.retention_s if self._obeys and request.api == "ollama" else None
        model.keep_s = self._keep_alive_s if asked_s is None else asked_s
        reuse = model.runner.serve(prompt, request)
        seen = self._seen_tokens if prompt.unit == 1 else self._seen_blocks
        return _told(prompt, reuse, *_seen_before(prompt, reuse, seen, kind, model.lives))


def _expired(model: _Model, at_s: float | None) -> bool:
    if model.keep_s == 0:
        return True
    return at_s is not None and model.last_at_s is not None and at_s - model.last_at_s > model.keep_s


def _seen_before(prompt: Held, reuse: Reuse, seen: SeenStarts, kind: object, life: int) -> tuple[int, int]:
    """How many tokens from the start of a prompt were read before: ever, and since the model was loaded."""
    if reuse.read is None:
        ever, lately = seen.read(prompt.data, apart=kind, life=life, note=False)
    else:
        prompt = reuse.read
        ever, lately = seen.read(reuse.left.data, len(prompt.data), apart=kind, life=life)
    return tokens_in(ever // ID_BYTES, prompt, prompt), tokens_in(lately // ID_BYTES, prompt, prompt)


def _told(prompt: Held, reuse: Reuse, ever: int, lately: int) -> Served:
    """What became of a prompt, and the first cause that applies."""
    read, cached, slots, _, host, may_reuse = reuse
    if read is None:
        return Served(prompt.tokens, 0, max(ever, slots, host), Cause.TOO_LONG)
    seen = max(ever, slots, host, cached)
    if read is not prompt:
        cause = Cause.CUT
    elif seen == cached:
        cause = Cause.FIRST_DIFFERENCE if cached else Cause.FIRST_REQUEST
    elif not may_reuse:
        cause = Cause.SWITCHED_OFF
    elif cached == read.tokens - 1:
        cause = Cause.REPEATED
    elif slots > cached:
        cause = Cause.OTHER_SLOT
    elif host > cached:
        cause = Cause.HOST_CACHE
    else:
        cause = Cause.EVICTION if lately > cached else Cause.LIFETIME
    return Served(read.tokens, cached, seen, cause)
