"""llama-server's cache of whole prompts in the host's memory, beside its slots.

Entries stand twice: in the order in which they came, which is the order of eviction, and sorted by their packed ids. No entry
is the start of another, so those that share most with a prompt stand next to its place in the sorted list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from struct import Struct
from typing import NamedTuple

from promptorder.policies._held import ID_BYTES, Held, tokens_in
from promptorder.prefix import common_start

SMALLEST_KV_BYTES = 256
"""What is taken for a token's keys and values where nobody says: less than a model in use needs, so that too
little is evicted rather than too much."""
_CELL_BYTES = 12  # a position, a count of sequences and one sequence
_HEAD_BYTES = 44  # magic, sequence, streams; kinds and row sizes of keys and values, of one layer
_STREAM_BYTES = 4
_LEAST_KEPT = 0.25

_SINGLE = Struct("f")


def single(number: float) -> float:
    """The number in single precision, in which the server computes its ratios."""
    rounded: float = _SINGLE.unpack(_SINGLE.pack(number))[0]
    return rounded


_NONE = 1 << 62


class _Run(NamedTuple):
    """Entries that share the same start with a prompt: its tokens, their numbers, and how long they are."""

    share: int
    numbers: list[int]
    lengths: list[int]

    def first_after(self, number: int, kept: float) -> int:
        """The first that came after ``number`` of which about ``kept`` or more, and a quarter, would be kept."""
        most = self.share / max(kept * (1 - 1e-6), _LEAST_KEPT)
        pairs = zip(self.numbers, self.lengths, strict=True)
        return min([each for each, length in pairs if each > number and length <= most], default=_NONE)


class HostCache:
    """Prompts moved out of slots.

    ``limit_bytes`` None is no limit in bytes; ``limit_tokens`` holds only where those of the bytes allow no
    more. ``kv_bytes_per_token`` are the keys and values of one token over all layers, and ``streams`` the
    number of buffers that hold them: a saved state names each.
    """

    def __init__(
        self, *, limit_bytes: int | None, limit_tokens: int, kv_bytes_per_token: int | None, streams: int
    ) -> None:
        self._limit_bytes = limit_bytes
        self._limit_tokens = limit_tokens
        self._token_bytes = (kv_bytes_per_token or SMALLEST_KV_BYTES) + _CELL_BYTES
        self._state_bytes = _HEAD_BYTES + streams * _STREAM_BYTES
        self._data: list[bytes] = []
        self._numbers: list[int] = []
        self._lengths: list[int] = []
        self._entries: OrderedDict[int, Held] = OrderedDict()
        self._tokens = 0
        self._next = 0

    def __len__(self) -> int:
        return len(self._entries)

    def save(self, held: Held) -> bool:
        """Keep a copy unless an entry holds all of it or it is too large; drop the entry it continues, and the oldest ones."""
        place = bisect_left(self._data, held.data)
        if place < len(self._data) and self._data[place].startswith(held.data):
            return False
        size = self._size(held.tokens, 1)
        if self._limit_bytes is not None and size > self._limit_bytes:
            return False
        if place and held.data.startswith(self._data[place - 1]):
            self._remove(place - 1)
        if self._limit_bytes is not None:
            while self._entries and self._size(self._tokens, len(self._entries)) + size > self._limit_bytes:
                self._remove_oldest()
        place = bisect_left(self._data, held.data)
        self._data.insert(place, held.data)
        self._numbers.insert(place, self._next)
        self._lengths.insert(place, held.tokens)
        self._entries[self._next] = held
        self._tokens += held.tokens
        self._next += 1
        return True

    def better(self, prompt: Held, held: Held, shared: int) -> Held | None:
        """The entry to load for a prompt into a slot that holds ``held`` and shares so many tokens with it, if any.

        In the order in which they came, an entry is taken for the best so far when more of it would be kept, and
        more of the prompt be found, than with the last one.
        """
        kept = single(shared / held.tokens) if held.tokens else -1.0
        runs = self._sharing_more(prompt, shared)
        best, after = None, -1
        while runs := [run for run in runs if run.share > shared]:
            number, share = min((run.first_after(after, kept), run.share) for run in runs)
            if number == _NONE:
                break
            after = number
            entry = self._entries[number]
            entry_kept = single(share / entry.tokens)
            if entry_kept >= _LEAST_KEPT and entry_kept > kept:
                kept, shared, best = entry_kept, share, entry
        return best

    def take(self, held: Held) -> None:
        """Take an entry out."""
        self._remove(bisect_left(self._data, held.data))

    def shrink(self) -> None:
        """Drop the oldest entries while there are more tokens than both limits allow."""
        tokens = self._limit_tokens
        if self._tokens > tokens and self._limit_bytes is not None:
            size = single(self._size(self._tokens, len(self._entries)))
            per_token = max(1.0, single(size / single(self._tokens)))
            tokens = max(tokens, int(single(single(self._limit_bytes) / per_token)))
        while self._entries and self._tokens > tokens:
            self._remove_oldest()

    def longest(self, prompt: Held) -> int:
        """The most tokens that an entry shares with a prompt."""
        place = bisect_left(self._data, prompt.data)
        return max(
            (
                tokens_in(common_start(data, prompt.data) // ID_BYTES, self._entries[number], prompt)
                for data, number in zip(
                    self._data[max(place - 1, 0) : place + 1],
                    self._numbers[max(place - 1, 0) : place + 1],
                    strict=True,
                )
            ),
            default=0,
        )

    def _sharing_more(self, prompt: Held, shared: int) -> list[_Run]:
        """The entries that share more than ``shared`` tokens with a prompt, each run the same start."""
        data, place = self._data, bisect_left(self._data, prompt.data)
        runs = []
        start, at = prompt.data, place
        while at < len(data):
            start, share = self._start(at, start, prompt)
            if share <= shared:
                break
            end = _end_of(data, start, at)
            runs.append(_Run(share, self._numbers[at:end], self._lengths[at:end]))
            at = end
        start, at = prompt.data, place
        while at:
            start, share = self._start(at - 1, start, prompt)
            if share <= shared:
                break
            begin = bisect_left(data, start, 0, at)
            runs.append(_Run(share, self._numbers[begin:at], self._lengths[begin:at]))
            at = begin
        return runs

    def _start(self, at: int, start: bytes, prompt: Held) -> tuple[bytes, int]:
        """What of a ``start`` of the prompt the entry at a place has, in bytes and in tokens."""
        ids = common_start(self._data[at], start) // ID_BYTES
        return start[: ids * ID_BYTES], tokens_in(ids, self._entries[self._numbers[at]], prompt)

    def _size(self, tokens: int, states: int) -> int:
        return tokens * self._token_bytes + states * self._state_bytes

    def _remove_oldest(self) -> None:
        self.take(next(iter(self._entries.values())))

    def _remove(self, place: int) -> None:
        del self._data[place]
        del self._entries[self._numbers.pop(place)]
        self._tokens -= self._lengths.pop(place)


def _end_of(data: list[bytes], start: bytes, at: int) -> int:
    """The place behind the last that starts so."""
    return bisect_right(data, start, at, key=lambda each: each[: len(start)])
