"""Filling templates in: ``.format``, ``%``, ``string.Template``, ``.replace`` and the template classes of libraries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from promptorder.forms._python_values import cut
from promptorder.model.lint import STATIC, VARIABLE, Segment

Lookup = Callable[[str, tuple[int, int]], tuple[Segment, ...] | None]
"""From a placeholder's name and place to what it is filled with; None leaves it a variable."""

_NAME = r"[A-Za-z_]\w*(?:\.\w+|\[[^\]{}\n]{1,40}\])*"
_SYNTAX = {
    "format": re.compile(
        rf"(?P<escape>\{{\{{|\}}\}})|\{{\s*(?P<name>{_NAME}|\d*)\s*(?:![rsa])?(?::[^{{}}\n]{{0,40}})?\}}"
    ),
    # what is formatted where we cannot see it: a digit or nothing in braces is more likely JSON or a set
    "unseen": re.compile(
        rf"(?P<escape>\{{\{{|\}}\}})|\{{(?P<name>{_NAME})(?:![rsa])?(?::[^{{}}\n\"']{{0,40}})?\}}"
    ),
    "percent": re.compile(r"(?P<escape>%%)|%(?:\((?P<name>\w+)\))?[-#0 +]*\d*(?:\.\d+)?[sdrifgxc]"),
    "dollar": re.compile(r"(?P<escape>\$\$)|\$(?:\{\s*(?P<braced>\w+)\s*\}|(?P<name>[A-Za-z_]\w*))"),
    "double": re.compile(r"(?P<escape>\{#.*?#\})|\{\{[{~&-]?\s*(?P<name>[^{}\n]{1,120}?)\s*[~-]?\}\}\}?"),
}
_ESCAPES = {"{{": "{", "}}": "}", "%%": "%", "$$": "$"}
_FIRST_NAME = re.compile(r"[A-Za-z_][\w.]*")


def fill(pieces: tuple[Segment, ...], syntax: str, lookup: Lookup) -> tuple[Segment, ...]:
    """The pieces with the placeholders of a syntax filled in."""
    pattern = _SYNTAX[syntax]
    result: list[Segment] = []
    for piece in pieces:
        if piece.origin != STATIC or not piece.text:
            result.append(piece)
        else:
            result.extend(_fill(piece, pattern, syntax, lookup))
    return tuple(result)


def _fill(piece: Segment, pattern: re.Pattern[str], syntax: str, lookup: Lookup) -> Iterator[Segment]:
    last = 0
    for match in pattern.finditer(piece.text):
        if match.start() > last:
            yield cut(piece, last, match.start())
        last = match.end()
        if match.lastgroup == "escape":
            if match[0] in _ESCAPES:
                yield cut(piece, match.start(), match.start() + 1)
            continue
        name = match["name"] or (match["braced"] if syntax == "dollar" else "") or ""
        place = piece.place(match.start()), piece.place(match.end() - 1) + 1
        filled = lookup(name, place)
        if filled is not None:
            yield from filled
        else:
            yield variable(match[0], place, name, syntax)
    if last < len(piece.text):
        yield cut(piece, last, len(piece.text))


def variable(source: str, place: tuple[int, int], name: str, syntax: str) -> Segment:
    """The segment of a placeholder that nobody fills in here."""
    kind = changes = ""
    if syntax == "double":
        from promptorder.forms._placeholders import judge

        kind, changes = judge(name)
        name = first_name(name)
    return Segment(source, *place, "prompt", VARIABLE, name, kind, changes)


def first_name(expression: str) -> str:
    """Of ``user.name | upper`` the name, dots and all."""
    match = _FIRST_NAME.match(expression)
    return match[0] if match else ""


def has_placeholders(pieces: tuple[Segment, ...], syntax: str) -> bool:
    """Whether any static piece holds a named placeholder."""
    return any(
        piece.origin == STATIC and any(match["name"] for match in _SYNTAX[syntax].finditer(piece.text))
        for piece in pieces
    )


def replace(
    pieces: tuple[Segment, ...], old: str, new: Callable[[tuple[int, int]], tuple[Segment, ...]]
) -> tuple[Segment, ...]:
    """``text.replace(old, new)``."""
    result: list[Segment] = []
    for piece in pieces:
        if piece.origin != STATIC or old not in piece.text:
            result.append(piece)
            continue
        last = 0
        while (at := piece.text.find(old, last)) >= 0:
            if at > last:
                result.append(cut(piece, last, at))
            result.extend(new((piece.place(at), piece.place(at + len(old) - 1) + 1)))
            last = at + len(old)
        if last < len(piece.text):
            result.append(cut(piece, last, len(piece.text)))
    return tuple(result)
