"""OpenAI's rules for models before GPT-5.6: steps of 128 tokens, on the machine that the start of the prompt leads to."""

from __future__ import annotations

from collections import deque
from hashlib import blake2b

from promptorder.model.trace import Cause, Served, TraceRequest
from promptorder.providers import openai_lifetime_s

_STEP_TOKENS = 128
_ROUTED_TOKENS = 256
_Key = tuple[object, ...]


class Automatic:
    """The machines of one organisation; each keeps when every step of a start was first and last read."""

    def __init__(
        self,
        *,
        minimum_tokens: int,
        lifetime_s: float | None,
        requests_per_minute: int | None,
        hash_block_tokens: int | None,
    ) -> None:
        self._minimum_tokens = minimum_tokens
        self._lifetime_s = lifetime_s
        self._most = requests_per_minute
        self._hash_block_tokens = hash_block_tokens
        self._now_s = 0.0
        self._machines: dict[_Key, dict[_Key, tuple[float, float]]] = {}
        self._seen: set[_Key] = set()
        self._recent: dict[_Key, deque[float]] = {}

    def serve(self, request: TraceRequest) -> Served:
        """Answer one request."""
        if request.at_s is not None:
            self._now_s = max(self._now_s, request.at_s)
        steps, route, prompt_tokens = self._steps(request)
        machine = self._machines.setdefault(self._machine(route, timed=request.at_s is not None), {})
        alive, expired = 0, False
        longest_s, idle_s = self._lifetimes(request)
        for step in steps:
            times = machine.get(step)
            if times is None:
                break
            if self._now_s - times[0] > longest_s or self._now_s - times[1] > idle_s:
                expired = True
                break
            alive += 1
        known = next((n for n, step in enumerate(steps) if step not in self._seen), len(steps))
        # The last token is always evaluated: what it gives is the answer's first.
        usable = min(alive, max(0, prompt_tokens - 1) // _STEP_TOKENS)
        cached = usable * _STEP_TOKENS if usable * _STEP_TOKENS >= self._minimum_tokens else 0
        if prompt_tokens >= self._minimum_tokens:
            for number, step in enumerate(steps):
                machine[step] = (machine[step][0] if number < alive else self._now_s, self._now_s)
            self._seen.update(steps[known:])
        seen = max(cached, known * _STEP_TOKENS)
        return Served(
            prompt_tokens, cached, seen, self._cause(cached, usable, known, prompt_tokens, expired=expired)
        )

    def _cause(self, cached: int, usable: int, known: int, prompt: int, *, expired: bool) -> Cause:
        if known == 0:
            return Cause.BELOW_MINIMUM if prompt < self._minimum_tokens else Cause.FIRST_REQUEST
        if known * _STEP_TOKENS < self._minimum_tokens:
            return Cause.BELOW_MINIMUM
        if known <= usable or (cached and known * _STEP_TOKENS >= prompt):
            return (
                Cause.REPEATED
                if known * _STEP_TOKENS >= prompt - _STEP_TOKENS + 1
                else Cause.FIRST_DIFFERENCE
            )
        return Cause.LIFETIME if expired else Cause.OTHER_SLOT

    def _lifetimes(self, request: TraceRequest) -> tuple[float, float]:
        """How long a step lives from its first reading, and from its last."""
        longest_s, idle_s = openai_lifetime_s(request.model, "24h" if request.retention_s == 86400 else "")
        own_s = self._lifetime_s
        return (longest_s, idle_s) if own_s is None else (max(longest_s, own_s), own_s)

    def _machine(self, route: _Key, *, timed: bool) -> _Key:
        if self._most is None or not timed:
            return route
        recent = self._recent.setdefault(route, deque())
        while recent and self._now_s - recent[0] >= 60:
            recent.popleft()
        number = len(recent) // self._most
        recent.append(self._now_s)
        return (*route, number)

    def _steps(self, request: TraceRequest) -> tuple[list[_Key], _Key, int]:
        """A key for each whole step, standing for all up to its end; the route; the prompt's length in tokens."""
        unit, prompt_tokens = request.sizes(self._hash_block_tokens)
        ends = range(_STEP_TOKENS, prompt_tokens + 1, _STEP_TOKENS)
        where = (request.namespace, request.cache_key)
        if request.hash_block_tokens is not None:
            ids = request.ids
            steps: list[_Key] = [(request.namespace, ids[-(-end // unit) - 1], end) for end in ends]
            return steps, (*where, *ids[: -(-_ROUTED_TOKENS // unit)]), prompt_tokens
        data = request.packed()
        running = blake2b(request.namespace.encode(), digest_size=16)
        steps = []
        for end in ends:
            running.update(data[4 * (end - _STEP_TOKENS) : 4 * end])
            steps.append((running.digest(),))
        return steps, (*where, data[: 4 * _ROUTED_TOKENS]), prompt_tokens
