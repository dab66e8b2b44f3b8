"""The texts of the control calls: common words by chance, so that no document is needed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass

from promptorder.model.doctor import CallKind

_WORDS = (
    "the of and to in that was for on are with as his they be at one have this from or by but not what all were "
    "we when your can there use each which how their if will up other about out many then them these so some "
    "make like into time has look two more write go see number no way could people than first water been call "
    "now find long down day get come made may part over new sound take only little work know place year live "
    "back give most very after thing our just name good sentence man think say great where help through much "
    "before line right too mean old any same tell"
).split()

START_WORDS = 800
TAIL_WORDS = 500
SHORT_WORDS = 12
BETWEEN_WORDS = 300
MOST_TAIL_WORDS = 2500
_BEHIND_WINDOW = 200


@dataclass(frozen=True, slots=True)
class Text:
    """One call's text, and how many of its characters stood at the start of an earlier one."""

    kind: CallKind
    text: str
    shared_characters: int


def tail_words(sliding_window_tokens: int | None) -> int:
    """A tail that is longer than the window: a word is a token or more."""
    return min(MOST_TAIL_WORDS, max(TAIL_WORDS, (sliding_window_tokens or 0) + _BEHIND_WINDOW))


def fitting(context_tokens: int | None, tail: int) -> float:
    """By how much to shorten all texts, so that the longest has room: 1.0 is not at all."""
    if context_tokens is None:
        return 1.0
    room = max(0, context_tokens - 64) / 1.3
    return min(1.0, room / (START_WORDS + tail + SHORT_WORDS))


def texts(scale: float, tail: int, seed: int | None = None) -> Iterator[Text]:
    """The texts in the order of the calls, none of which any server has read before."""
    chance = random.Random(os.urandom(8) if seed is None else seed)

    def words(number: float) -> str:
        return " ".join(chance.choice(_WORDS) for _ in range(max(4, round(number))))

    def text(kind: CallKind, own: str) -> Text:
        shared = max((_shared(own, other) for other in read), default=0)
        read.append(own)
        return Text(kind, own, shared)

    read: list[str] = []
    start = words(START_WORDS * scale)
    short = [words(SHORT_WORDS) for _ in range(3)]
    yield text("long", f"{start}. {words(tail * scale)}")
    yield text("short", f"{start}. {short[0]}")
    yield text("other-tail", f"{start}. {short[1]}")
    yield text("repeat", f"{start}. {short[1]}")
    yield text("between", words(BETWEEN_WORDS * scale))
    yield text("back", f"{start}. {short[2]}")


def _shared(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
