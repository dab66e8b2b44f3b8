"""Texts that differ in form alone, written the same way."""

from __future__ import annotations

from unicodedata import normalize

from promptorder.difference import kinds
from promptorder.difference.drift import ENCODING, FEWSHOT, JSON_ORDER, LINES, WHITESPACE, plain

FORM = frozenset(
    (WHITESPACE, ENCODING, JSON_ORDER, LINES, FEWSHOT, kinds.LINE_ENDS, kinds.BOM, kinds.UNICODE_FORM)
)
"""Kinds for which that can be done."""


def same_form(kind: str, a: str, b: str) -> tuple[str, str] | None:
    """Both texts without what a kind of change did to one of them; None where they differ in more than their order."""
    if kind in (kinds.LINE_ENDS, kinds.BOM, kinds.UNICODE_FORM):
        return _saved_alike(a), _saved_alike(b)
    if kind == WHITESPACE:
        return " ".join(a.split()), " ".join(b.split())
    if kind == ENCODING:
        return (a, a) if plain(a) == plain(b) else None
    return (a, a) if sorted(_letters(a)) == sorted(_letters(b)) else None


def line_key(line: str, kind: str) -> str:
    """What lines are told apart by, behind a change of that kind."""
    return plain(line) if kind in FORM else line.removesuffix("\r")


def _saved_alike(text: str) -> str:
    """With a program's usual line ends and characters, and without a byte order mark."""
    return normalize("NFC", text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def _letters(text: str) -> str:
    return "".join(text.split())
