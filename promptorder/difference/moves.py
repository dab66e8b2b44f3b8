"""Two texts as lines, and what they would be if lines that differ stood behind those that both have. Pure text.

Where much of the line that differs is in both, sentences take the place of lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from promptorder.difference.changes import short
from promptorder.forms._json import line_of
from promptorder.prefix import common_start

LEAST_GAIN_TOKENS = 8
_ENOUGH_OF_ALL = 0.9
_MOST_MOVES = 4
_MOST_UNITS = 1500
"""Units between shared start and shared end that are laid side by side; more of them count as one change."""
_MOST_OF_LINE = 100_000
_WORTH_A_CUT = 40
"""Characters that both hold behind the difference in its own line."""
_SENTENCE = re.compile(r"(?<=[.!?;。！？]) (?=\S)|(?<=\n)")


class Region(NamedTuple):
    """Units that differ: ``a0`` up to ``a1`` in the one text, ``b0`` up to ``b1`` in the other."""

    a0: int
    a1: int
    b0: int
    b1: int


class Texts:
    """Two texts in units, with their regions and the last unit that both have (-1 where there is none)."""

    def __init__(self, a: str, b: str, n: int) -> None:
        """``n`` is the length of the shared start."""
        rests = [text[n : n + _MOST_OF_LINE].partition("\n")[0] for text in (a, b)]
        self.of_sentences = common_start(rests[0][::-1], rests[1][::-1]) >= _WORTH_A_CUT
        self.a, self.b = (
            _sentences(text) if self.of_sentences else text.splitlines(keepends=True) for text in (a, b)
        )
        self.regions, self.last_a, self.last_b = _regions(self.a, self.b)

    def behind_last(self, regions: Sequence[Region]) -> tuple[str, str]:
        """Both texts with regions behind the last unit that both have."""
        return (
            _moved(self.a, [(r.a0, r.a1) for r in regions], self.last_a),
            _moved(self.b, [(r.b0, r.b1) for r in regions], self.last_b),
        )

    def taken_out(self, regions: Sequence[Region]) -> tuple[tuple[str, str], tuple[str, str]]:
        """For each text what is left without the regions, and what they hold."""
        return (
            _without(self.a, [(r.a0, r.a1) for r in regions]),
            _without(self.b, [(r.b0, r.b1) for r in regions]),
        )

    def inner(self) -> list[Region]:
        """The regions with something behind them that both texts have."""
        return [region for region in self.regions if region.b0 <= self.last_b]

    def called(self, region: Region) -> str:
        """A region for people: its lines, and the words that it begins with."""
        if region.b0 == region.b1:
            return f"what only the first has ({short(''.join(self.a[region.a0 : region.a1])[:80])})"
        begins = short("".join(self.b[region.b0 : region.b1])[:80])
        return f"{self.place(region.b0, region.b1 - 1)} ({begins})"

    def place(self, first: int, last: int) -> str:
        """Where units of the second text stand."""
        if self.of_sentences:
            line = line_of("".join(self.b[:first]))
            return (
                f"the sentence in line {line:,}"
                if first == last
                else f"{last - first + 1} sentences from line {line:,} on"
            )
        return f"line {first + 1:,}" if first == last else f"lines {first + 1:,} to {last + 1:,}"


def fewest(
    regions: Sequence[Region], shared_tokens: int, tokens: Callable[[Sequence[Region]], int]
) -> tuple[Sequence[Region], int] | None:
    """The fewest first regions whose move wins most of what can be won, and the tokens shared then; None: nothing is won."""
    numbers = range(1, min(len(regions), _MOST_MOVES) + 1)
    tried = [(regions[:number], tokens(regions[:number])) for number in numbers]
    most = max((gained for _, gained in tried), default=0)
    if most < shared_tokens + LEAST_GAIN_TOKENS:
        return None
    return next(each for each in tried if each[1] - shared_tokens >= _ENOUGH_OF_ALL * (most - shared_tokens))


def _sentences(text: str) -> list[str]:
    cuts = [match.end() for match in _SENTENCE.finditer(text)]
    return [piece for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True) if (piece := text[i:j])]


def _regions(a: list[str], b: list[str]) -> tuple[list[Region], int, int]:
    limit = min(len(a), len(b))
    start = next((i for i in range(limit) if a[i] != b[i]), limit)
    end = next((i for i in range(limit - start) if a[-1 - i] != b[-1 - i]), limit - start)
    middle, others = a[start : len(a) - end], b[start : len(b) - end]
    last = (-1, -1)
    if max(len(middle), len(others)) > _MOST_UNITS:
        found = [Region(start, len(a) - end, start, len(b) - end)]
    else:
        codes = SequenceMatcher(None, middle, others, autojunk=False).get_opcodes()
        found = [Region(*(start + i for i in places)) for tag, *places in codes if tag != "equal"]
        for tag, _, i1, j0, j1 in codes:
            if tag == "equal" and any(unit.strip() for unit in others[j0:j1]):
                last = (start + i1 - 1, start + j1 - 1)
    if any(unit.strip() for unit in b[len(b) - end :]):
        last = (len(a) - 1, len(b) - 1)
    return found, *last


def _moved(units: list[str], spans: Sequence[tuple[int, int]], last: int) -> str:
    inside = {index for i, j in spans for index in range(i, j)}
    head = [unit for index, unit in enumerate(units[: last + 1]) if index not in inside]
    tail = [unit for index, unit in enumerate(units[last + 1 :], last + 1) if index not in inside]
    taken = [units[index] for index in sorted(inside)]
    if taken and head and not head[-1][-1:].isspace():
        head[-1] += "\n"
    return "".join((*head, *taken, *tail))


def _without(units: list[str], spans: Sequence[tuple[int, int]]) -> tuple[str, str]:
    inside = {index for i, j in spans for index in range(i, j)}
    kept = "".join(unit for index, unit in enumerate(units) if index not in inside)
    return kept, "".join(units[index] for index in sorted(inside))
