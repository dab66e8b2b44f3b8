"""Anthropic: up to four breakpoints of the caller, found again through a short look back, with two lifetimes.

The order is tools, system, messages. A request writes an entry at each of its breakpoints (from a minimum length on, by
model) and reads the longest entry that lives at a breakpoint or within the blocks before it, ``lookback_blocks`` in all. An
entry lives for 5 minutes or an hour from the start of the last request that read or wrote it. A change of tool choice,
thinking or effort parts the messages' cache only. Source: the service's own documentation of prompt caching, 2026.

Without marks nothing is cached, unless ``automatic`` asks for what the request's top-level mark does, one mark at the last block, or
``mark_system`` for one where what stays the same mostly ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from promptorder.model.trace import Breakpoint, Cause, Served, TraceRequest
from promptorder.policies._chain import chain_of, seen_blocks
from promptorder.policies._options import PolicyOptions
from promptorder.providers import (
    ANTHROPIC_LIFETIME_S,
    ANTHROPIC_LONG_LIFETIME_S,
    anthropic_minimum_tokens,
)

SIZE = None
_MOST_BREAKPOINTS = 4


@dataclass(frozen=True, slots=True)
class Options(PolicyOptions):
    """The service's rules.

    ``lookback_blocks``: how many content blocks a breakpoint looks at, itself the first; without limit where a trace does
    not tell its content blocks. ``minimum_tokens``: the least that is
    cached; None: as the model has it. ``lifetime_s``: of marks that do not say 1h; None: 5 minutes. ``automatic``:
    a request without a mark is marked at its last block. ``mark_system``: it is marked behind its tools and system text.
    ``readable_after_s``: how long after a request's start its entries can be read (when its answer begins).
    """

    lookback_blocks: int = 20
    minimum_tokens: int | None = None
    lifetime_s: float | None = None
    automatic: bool = False
    mark_system: bool = False
    readable_after_s: float = 0.0


class _Entry(NamedTuple):
    """A kept start: from when it can be read, until when it lives, and how long a read lets it live again."""

    readable_at_s: float
    expires_at_s: float
    lifetime_s: float


class _Anthropic:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._entries: dict[bytes | tuple[str, int], _Entry] = {}
        self._seen: set[bytes | tuple[str, int]] = set()
        self._now_s = 0.0

    def serve(self, request: TraceRequest) -> Served:
        options = self._options
        chain = chain_of(request, options.hash_block_tokens)
        if not chain.ends:
            return Served(0, 0, 0, Cause.FIRST_REQUEST)
        _, prompt_tokens = request.sizes(options.hash_block_tokens)
        if request.at_s is not None:
            self._now_s = max(self._now_s, request.at_s)
        marks = self._marks(request, len(chain.ends))
        minimum = options.minimum_tokens
        if minimum is None:
            minimum = anthropic_minimum_tokens(request.model)
        # A trace of hashes or bare ids does not tell where its content blocks end: there is nothing to count back by.
        reach = options.lookback_blocks if request.block_ends else len(chain.keys)
        hit, expired = self._read(chain.keys, marks, reach)
        cached = chain.ends[hit] if hit >= 0 else 0
        written = written_long = 0
        reached = cached
        for mark in marks:
            end = chain.ends[mark.block]
            if end < minimum or mark.block < hit:
                continue
            lifetime_s = self._lifetime(mark)
            if mark.block > hit:
                written += end - reached
                written_long += end - reached if lifetime_s >= ANTHROPIC_LONG_LIFETIME_S else 0
                reached = end
                self._keep(chain.keys[mark.block], lifetime_s, self._now_s + options.readable_after_s)
        known = seen_blocks(chain, self._seen)
        seen = chain.ends[known - 1] if known else 0
        cause = _cause(cached, seen, prompt_tokens, marked=bool(marks), expired=expired, minimum=minimum)
        return Served(prompt_tokens, cached, max(seen, cached), cause, written, written_long)

    def _marks(self, request: TraceRequest, blocks: int) -> list[Breakpoint]:
        marks = [mark for mark in request.breakpoints if 0 <= mark.block < blocks]
        if not marks:
            if self._options.mark_system and 0 < request.opening_blocks < blocks:
                marks.append(Breakpoint(request.opening_blocks - 1))
            if self._options.automatic:
                marks.append(Breakpoint(blocks - 1))
        return marks[-_MOST_BREAKPOINTS:]

    def _lifetime(self, mark: Breakpoint) -> float:
        asked, own = mark.lifetime_s, self._options.lifetime_s
        if own is None or (asked or 0.0) >= ANTHROPIC_LONG_LIFETIME_S:
            return ANTHROPIC_LIFETIME_S if asked is None else asked
        return own

    def _read(
        self, keys: list[bytes | tuple[str, int]], marks: list[Breakpoint], reach: int
    ) -> tuple[int, bool]:
        """The last block of the longest entry that lives, -1 for none, and whether a longer one had died. Reading keeps alive."""
        expired = False
        looked = len(keys)
        for mark in reversed(marks):
            lowest = max(0, mark.block - reach + 1)
            for block in range(min(mark.block, looked - 1), lowest - 1, -1):
                entry = self._entries.get(keys[block])
                if entry is None or entry.readable_at_s > self._now_s:
                    continue
                if entry.expires_at_s < self._now_s:
                    expired = True
                    continue
                for earlier in {block, *(each.block for each in marks if each.block < block)}:
                    kept = self._entries.get(keys[earlier])
                    if kept is not None and kept.expires_at_s >= self._now_s:
                        self._keep(keys[earlier], kept.lifetime_s, kept.readable_at_s)
                return block, expired
            looked = min(looked, lowest)
        return -1, expired

    def _keep(self, key: bytes | tuple[str, int], lifetime_s: float, readable_at_s: float) -> None:
        before = self._entries.get(key)
        if before is not None and before.expires_at_s >= self._now_s:
            readable_at_s = min(readable_at_s, before.readable_at_s)
            lifetime_s = max(lifetime_s, before.lifetime_s)
        self._entries[key] = _Entry(readable_at_s, self._now_s + lifetime_s, lifetime_s)


def _cause(cached: int, seen: int, prompt: int, *, marked: bool, expired: bool, minimum: int) -> Cause:
    if seen <= cached:
        if cached == 0:
            return Cause.FIRST_REQUEST
        return Cause.REPEATED if cached == prompt else Cause.FIRST_DIFFERENCE
    if expired:
        return Cause.LIFETIME
    if not marked:
        return Cause.NOT_MARKED
    return Cause.BELOW_MINIMUM if seen < minimum else Cause.NOT_MARKED


def open_cache(options: Options) -> _Anthropic:
    """An empty cache of one workspace."""
    return _Anthropic(options)
