"""The texts of the control calls: one start with different ends, the longest end first.

An identical repeat alone is too weak a control: on a model with a sliding window it is reused, and so is a short
new end, but not the same start behind another prompt with a long end (seen on gemma3 270m).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from promptorder.model.sample import ControlKind
from promptorder.prefix import common_start

_WORDS = (
    "the of and to in that was for on are with as his they be at one have this from or by but not what all were "
    "we when your can there use each which how their if will up other about out many then them these so some "
    "make like into time has look two more write go see number no way could people than first water been call "
    "now find long down day get come made may part over new sound take only little work know place year live "
    "back give most very after thing our just name good sentence man think say great where help through much "
    "before line right too mean old any same tell"
).split()

FROM_DOCUMENT = 4
"""So many texts are made of a document."""
START_TOKENS = 1000
"""Of a document: enough for a time that tells, on the slowest machine seen 5 s."""
TAIL_TOKENS = 700
"""Beside a sliding window: a cache keeps a batch of 512 tokens more than the window."""
START_WORDS = 800
TAIL_WORDS = 500
SHORT_WORDS = 12
BETWEEN_WORDS = 300
MOST_TAIL_WORDS = 2500
_BEHIND_WINDOW = 200


@dataclass(frozen=True, slots=True)
class Text:
    """One call's text, and how many of its characters stood at the start of an earlier one."""

    kind: ControlKind
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
    """Generated texts in the order of the calls, none of which any server has read before: no document is needed."""
    chance = random.Random(os.urandom(8) if seed is None else seed)
    start = _words(chance, START_WORDS * scale)
    short = [_words(chance, SHORT_WORDS) for _ in range(3)]
    return _sharing(
        (
            ("long", f"{start}. {_words(chance, tail * scale)}"),
            ("short", f"{start}. {short[0]}"),
            ("other-tail", f"{start}. {short[1]}"),
            ("repeat", f"{start}. {short[1]}"),
            ("between", _words(chance, BETWEEN_WORDS * scale)),
            ("back", f"{start}. {short[2]}"),
        )
    )


def document_texts(
    document: str,
    *,
    room_characters: int,
    characters_per_token: float,
    sliding_window_tokens: int | None,
    nonce: str,
) -> list[Text]:
    """The first four texts out of a document: its start, and as the long end what follows it there.

    None is longer than ``room_characters``. Beyond a long document's first few thousand tokens nothing is gained: the end
    need only be longer than the window and a batch, after which the start is no longer in it. ``nonce`` stands first,
    so that the start was never read before.
    """
    chance = random.Random(0)
    ends = [f"\n\n{_words(chance, SHORT_WORDS)}" for _ in range(2)]
    room = max(0, room_characters - len(nonce) - max(map(len, ends)))
    start_characters = min(round(START_TOKENS * characters_per_token), room // 2, len(document) // 2)
    tail_tokens = max(TAIL_TOKENS, (sliding_window_tokens or 0) + TAIL_TOKENS)
    tail_characters = min(round(tail_tokens * characters_per_token), room - start_characters)
    start, rest = f"{nonce}\n{document[:start_characters]}", document[start_characters:]
    return list(
        _sharing(
            (
                ("long", f"{start}\n{rest[:tail_characters]}"),
                ("short", start + ends[0]),
                ("other-tail", start + ends[1]),
                ("repeat", start + ends[1]),
            )
        )
    )


def _words(chance: random.Random, number: float) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(max(4, round(number))))


def _sharing(texts: Iterable[tuple[ControlKind, str]]) -> Iterator[Text]:
    read: list[str] = []
    for kind, text in texts:
        yield Text(kind, text, max((common_start(text, other) for other in read), default=0))
        read.append(text)
