"""Two texts in tokens: what they share, and how many each has."""

from __future__ import annotations

from typing import NamedTuple

from promptorder.prefix import common_start
from promptorder.tokenizers import Tokenizer

_LARGE = 4 << 20
"""Characters from which a part of a text is counted by its share of the whole."""


class Counts(NamedTuple):
    """Tokens; ``shared`` is the start that both have."""

    shared: int
    a: int
    b: int


def counts(tokenizer: Tokenizer, a: str, b: str) -> Counts:
    """Both texts as whole prompts."""
    ids, others = tokenizer.packed(a), tokenizer.packed(b)
    return Counts(common_start(ids, others) // 4, len(ids) // 4, len(others) // 4)


def count(tokenizer: Tokenizer, text: str) -> int:
    """Tokens of a part of a prompt, without those that the model adds at its edges."""
    if len(text) > _LARGE:
        return round(len(text) / _LARGE * count(tokenizer, text[:_LARGE]))
    return max(0, (len(tokenizer.packed(text)) - len(tokenizer.packed(""))) // 4)
