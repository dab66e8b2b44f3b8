"""Special tokens in a text: the longest at each place, by a pattern that shares what they begin with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_END = ""
"""The key under which a branch of the tree says that a text may end there."""


class Specials:
    """The texts that are one token each, wherever they stand."""

    def __init__(self, ids: dict[str, int]) -> None:
        self.ids = {text: ident for text, ident in ids.items() if text}
        self._pattern = re.compile(f"({_alternatives(self.ids)})") if self.ids else None

    def split(self, text: str) -> Iterator[str]:
        """The text in pieces, each of which is a special token or has none; empty ones are left out."""
        pieces = self._pattern.split(text) if self._pattern is not None else [text]
        return filter(None, pieces)


def _alternatives(texts: Iterable[str]) -> str:
    # A plain alternation of Gemma's 6,000 texts, which begin with `<`, tries them one by one at each of those.
    tree: dict[str, Any] = {}
    for text in texts:
        branch = tree
        for character in text:
            branch = branch.setdefault(character, {})
        branch[_END] = {}
    return _pattern(tree)


def _pattern(tree: dict[str, Any]) -> str:
    pieces = []
    for first, branch in tree.items():
        if first == _END:
            continue
        run, rest = first, branch
        while len(rest) == 1 and _END not in rest:  # a run without a fork needs no group
            [(character, rest)] = rest.items()
            run += character
        pieces.append(re.escape(run) + (_pattern(rest) if rest.keys() - {_END} else ""))
    whole = "|".join(pieces)
    if _END in tree:
        return f"(?:{whole})?"
    return f"(?:{whole})" if len(pieces) > 1 else whole
