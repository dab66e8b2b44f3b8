"""One space of 32-bit ids for all files of a trace.

Small ids stay as they are; what is too large, or means something else in each file, is numbered.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import Any

from promptorder.errors import InputError

NUMBERED_FROM = 1 << 31
"""Ids below stand for themselves, those from here on are numbers that were given."""
_END = 1 << 32
_EXACT_FLOAT = 1 << 53


class IdSpace:
    """Gives out ids; remembers each large or scoped one, so memory grows with the number of different ones."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._next = NUMBERED_FROM

    def blocks(self, ids: list[Any], scope: Hashable = None) -> array[int]:
        """The ids of a row; with a ``scope``, equal ones in another scope are others. Raises ValueError for what is no id."""
        if scope is None:
            try:
                packed = array("I", ids)
            except (TypeError, OverflowError):
                pass
            else:
                if not ids or max(ids) < NUMBERED_FROM:
                    return packed
        return array("I", [self._number(each, scope) for each in ids])

    def number(self, key: Hashable) -> int:
        """The id of anything that can be told apart."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.reserve(1)
        return found

    def reserve(self, count: int) -> int:
        """The first of ``count`` new ids in a row. Raises InputError when all are given out."""
        start = self._next
        self._next += count
        if self._next > _END:
            raise InputError("the trace has more than two thousand million different blocks", hint="split it")
        return start

    def fresh(self, count: int) -> array[int]:
        """New ids, for what nothing else can share."""
        start = self.reserve(count)
        return array("I", range(start, start + count))

    def _number(self, each: Any, scope: Hashable) -> int:
        kind = type(each)
        if kind is int:
            if scope is None and 0 <= each < NUMBERED_FROM:
                return each  # type: ignore[no-any-return]
        # A number beyond 64 bits comes as a float
        elif kind is not str and not (kind is float and abs(each) >= _EXACT_FLOAT):
            raise ValueError(f"a block's id is {_shown(each)}")
        return self.number(each if scope is None else (scope, each))


def tokens(ids: list[Any]) -> array[int]:
    """Token ids. Raises ValueError for what is none."""
    try:
        return array("I", ids)
    except (TypeError, OverflowError):
        wrong = next(each for each in ids if type(each) is not int or not 0 <= each < _END)
        raise ValueError(f"a token's id is {_shown(wrong)}") from None


def _shown(value: object) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
