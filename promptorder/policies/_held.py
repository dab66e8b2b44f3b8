"""A run of tokens as a slot holds it: packed, so that two of them are compared in C."""

from __future__ import annotations

from array import array
from itertools import count
from typing import NamedTuple

from promptorder.model.trace import TraceRequest
from promptorder.prefix import common_start

ID_BYTES = 4
_unknown_ids = count(2**32 - 1, -1)


class Held(NamedTuple):
    """Tokens in their order: ``data`` are their ids, packed, of ``unit`` tokens each (the last may be partly filled).

    Of its ``tokens`` the first ``known_tokens`` are known. The rest, such as an answer of which only the length is
    known, stands as one id of its own at the end, which equals nothing but itself.
    """

    data: bytes
    unit: int
    known_tokens: int
    tokens: int

    @property
    def is_known(self) -> bool:
        """Whether nothing in it is unknown."""
        return self.known_tokens == self.tokens

    def grown(self, ids: bytes, tokens: int) -> Held:
        """With ``tokens`` more, of which ``ids`` are those that are known (of one token each)."""
        if self.is_known and self.unit == 1:
            known = self.tokens + len(ids) // ID_BYTES
            end = b"" if known == self.tokens + tokens else _unknown()
            return Held(self.data + ids + end, 1, known, self.tokens + tokens)
        data = self.data if self.is_known else self.data[:-ID_BYTES]
        return Held(data + _unknown(), self.unit, self.known_tokens, self.tokens + tokens)

    def without(self, start: int, tokens: int) -> Held:
        """Without the ``tokens`` from ``start`` on; what came after them is unknown unless an id is a token."""
        if self.is_known and self.unit == 1:
            data = self.data[: start * ID_BYTES] + self.data[(start + tokens) * ID_BYTES :]
            return Held(data, 1, self.tokens - tokens, self.tokens - tokens)
        ids = min(start, self.known_tokens) // self.unit
        return Held(
            self.data[: ids * ID_BYTES] + _unknown(), self.unit, ids * self.unit, self.tokens - tokens
        )


EMPTY = Held(b"", 1, 0, 0)


def _unknown() -> bytes:
    return array("I", [next(_unknown_ids)]).tobytes()


def prompt_of(request: TraceRequest, hash_block_tokens: int | None) -> Held:
    """The prompt of a request."""
    unit, tokens = request.sizes(hash_block_tokens)
    return Held(request.packed(), unit, tokens, tokens)


def shared_tokens(a: Held, b: Held) -> int:
    """How many tokens two runs share from their start."""
    return tokens_in(common_start(a.data, b.data) // ID_BYTES, a, b)


def tokens_in(ids: int, a: Held, b: Held) -> int:
    """How many tokens those ``ids`` are which two runs share from their start."""
    if ids * ID_BYTES in (len(a.data), len(b.data)):
        return min(a.tokens, b.tokens)
    return min(ids * a.unit, a.known_tokens, b.known_tokens)


class Room(NamedTuple):
    """What one slot can hold, and what becomes of an answer that does not fit.

    ``most_tokens`` fit. With ``keep_tokens`` None the answer ends there. Else the slot keeps so many from its
    start, and half of what comes after them is dropped.
    """

    most_tokens: int
    keep_tokens: int | None


def answered(prompt: Held, request: TraceRequest, room: Room) -> Held:
    """What a slot holds after a request: the prompt as it was read, and the answer but for its last token."""
    ids = b""
    if request.generated and prompt.unit == 1:
        ids = array("I", request.generated).tobytes()
    left = max(len(ids) // ID_BYTES, request.output_tokens or 0) - 1
    held = prompt
    while left > 0:
        step = min(left, room.most_tokens - held.tokens)
        if step > 0:
            held = held.grown(ids[: step * ID_BYTES], step)
            ids = ids[step * ID_BYTES :]
            left -= step
        elif room.keep_tokens is None:
            break
        else:
            held = held.without(room.keep_tokens, max((held.tokens - room.keep_tokens) // 2, 1))
    return held
