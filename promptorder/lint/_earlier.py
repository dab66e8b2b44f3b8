"""Earlier requests of a log: what is kept of one, and which of them a request could best have reused."""

from __future__ import annotations

from collections import deque
from typing import Any

from promptorder.difference.changes import WORTH, size
from promptorder.forms._lifetimes import cache_key, lifetime
from promptorder.forms._requests import Part, parts, provider
from promptorder.prefix import common_start

_STEP = 64
"""Characters in which shared starts are counted: a few letters alike are chance."""


class Group:
    """A session, or requests without one that belong together."""

    __slots__ = ("requests",)

    def __init__(self) -> None:
        self.requests = 0


class Earlier:
    """A request: its parts, and for each of them a hash of all up to there."""

    __slots__ = (
        "bytes", "cache_key", "chain", "group", "life", "line", "lora", "maker", "model", "offset", "parts", "when",
    )  # fmt: skip

    def __init__(self, body: dict[str, Any], line: int, offset: int, when: float | None) -> None:
        self.line, self.offset, self.when = line, offset, when
        self.model = str(body.get("model", ""))
        self.parts: list[Part] = parts(body)
        self.chain: list[int] = []
        seen = 0
        for part in self.parts:
            seen = hash((seen, part.role, part.kind, part.text))
            self.chain.append(seen)
        self.cache_key = cache_key(body)
        self.lora = str(body.get("lora", ""))
        self.maker = provider(body)
        self.life = lifetime(self.maker, body)
        self.group = Group()
        self.bytes = 0

    def shares(self, other: Earlier) -> int:
        """How many parts both begin with."""
        low, high = 0, min(len(self.chain), len(other.chain))
        while low < high:
            middle = (low + high + 1) // 2
            if self.chain[middle - 1] == other.chain[middle - 1]:
                low = middle
            else:
                high = middle - 1
        return low


def best(window: deque[Earlier], now: Earlier) -> tuple[Earlier | None, int]:
    """The earlier request of which most can be reused: by the shared start, then by most of the rest, then the latest."""
    if not window:
        return None, 0
    starts = [(was.shares(now), was) for was in window]
    longest = max(shared for shared, _ in starts)
    fellows = [was for shared, was in starts if shared == longest]
    if len(fellows) == 1:
        return fellows[0], longest
    chosen, most_in, most_behind = fellows[-1], -1, -1
    rest = {part[:3] for part in now.parts[longest:]}
    for was in reversed(fellows):
        inside = _in_part(was, now, longest, most_in)
        if inside < most_in or (inside == most_in > 0 and len(rest) == 1):
            continue
        behind = _behind(was, rest, now, longest)
        if inside > most_in or behind > most_behind:
            chosen, most_in, most_behind = was, inside, behind
    return chosen, longest


def belongs(was: Earlier, now: Earlier, shared: int) -> bool:
    """Whether a request is of the same program as an earlier one: much of a system text or prompt in common."""
    if size(now.parts[:shared]) >= _STEP:
        return True
    rest = {part[:3] for part in now.parts}
    return _in_part(was, now, shared) > 0 or _behind(was, rest, now, shared) >= WORTH


def _in_part(was: Earlier, now: Earlier, k: int, known: int = 0) -> int:
    """How much of the first part that differs is shared, in steps.

    ``known`` is what another request shares; whether this one shares less, as much or more is told by two comparisons.
    """
    if k >= len(was.parts) or k >= len(now.parts):
        return 0
    a, b = was.parts[k].text, now.parts[k].text
    if known > 0 and a[: known * _STEP] != b[: known * _STEP]:
        return 0
    more = (max(known, 0) + 1) * _STEP
    if a[:more] != b[:more]:
        return max(known, 0)
    return common_start(a, b) // _STEP


def _behind(was: Earlier, rest: set[tuple[str, str, str]], now: Earlier, k: int) -> int:
    """How much of what comes after the shared start both hold."""
    total = sum(len(part.text) for part in was.parts[k + 1 :] if part[:3] in rest)
    if k < len(was.parts) and k < len(now.parts):
        old, new = was.parts[k].text, now.parts[k].text
        # A sample from its middle tells whether a long text is the same but for what changes in it.
        if len(new) > 2 * _STEP and new[len(new) // 2 :][:_STEP] in old:
            total += len(old)
    return total
