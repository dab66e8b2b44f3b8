"""String literals of Python and where each of their characters stands in the file.

``ast`` says where a literal begins and ends, not where its parts do: adjacent literals, escapes and the fields of
f-strings are found here. (The places that ``ast`` gives inside f-strings are right only from Python 3.12 on.)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Generator, Iterator
from typing import NamedTuple

from promptorder.model.lint import STATIC, Segment

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LINE_END = re.compile(r"\r\n|\n|\r")
_OPEN = re.compile(r"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_GAP = re.compile(r"(?:[\s\\()]|#[^\n\r]*)*+")
_REST = {
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL),
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+'", re.DOTALL),
    '"""': re.compile(r'[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"""', re.DOTALL),
    "'''": re.compile(r"[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''", re.DOTALL),
}
_ESCAPE = re.compile(
    r"\\(?:\r\n|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|N\{[^}]*\}|.)|\r\n?", re.DOTALL
)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_IN_TEXT = {q: re.compile(rf"\{{\{{|\}}\}}|\{{|\\N\{{[^}}]*\}}|\\.|{q}", re.DOTALL) for q in _REST}
_IN_RAW_TEXT = {q: re.compile(rf"\{{\{{|\}}\}}|\{{|\\.|{q}", re.DOTALL) for q in _REST}
_IN_FIELD = re.compile(r"[A-Za-z]{0,2}(?:\"\"\"|'''|\"|')|[\[({]|[\])}]|!=|[!:]|=(?!=)|[<>=!]=")


class Positions:
    """Offsets of the nodes that were parsed from ``source``, which stands in the file at ``base``."""

    def __init__(self, source: str, base: int = 0) -> None:
        self.source = source
        self.base = base
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(source))]
        self._ascii = source.isascii()

    def offset(self, line: int, column: int) -> int:
        """The offset in the file of a line (from 1) and a column in bytes of UTF-8."""
        start = self._starts[min(line, len(self._starts)) - 1]
        if not self._ascii:
            end = self._starts[line] if line < len(self._starts) else len(self.source)
            text = self.source[start:end]
            if not text.isascii():
                column = len(text.encode("utf-8")[:column].decode("utf-8", "ignore"))
        return self.base + start + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends in the file."""
        start = self.offset(node.lineno, node.col_offset)
        if node.end_lineno is None or node.end_col_offset is None:
            return start, start + 1
        return start, self.offset(node.end_lineno, node.end_col_offset)


class Field(NamedTuple):
    """A replacement field of an f-string: where its expression stands, and its format."""

    start: int
    end: int
    format: str


def parts(source: str, start: int, end: int) -> Iterator[Segment | Field]:
    """The text and the fields of the literals in ``source[start:end]``, which are adjacent."""
    at = start
    while at < end:
        gap = _GAP.match(source, at)
        at = gap.end() if gap else at
        opened = _OPEN.match(source, at)
        if opened is None or at >= end:
            return
        prefix, quote = opened[1].lower(), opened[2]
        at = opened.end()
        if "f" in prefix or "t" in prefix:
            at = yield from _formatted(source, at, quote, "r" in prefix)
            continue
        body = _REST[quote].match(source, at)
        if body is None:
            return
        stop = body.end() - len(quote)
        if stop > at and "b" not in prefix:
            yield text_segment(source, at, stop, raw="r" in prefix)
        at = body.end()


def text_segment(source: str, start: int, end: int, *, raw: bool = False, doubled: bool = False) -> Segment:
    """Static text from the inside of a literal, its escapes resolved; ``doubled``: braces are."""
    body = source[start:end]
    if "\r" not in body and (raw or "\\" not in body) and not (doubled and ("{{" in body or "}}" in body)):
        return Segment(body, start, end, "prompt", STATIC)
    out: list[str] = []
    marks: list[tuple[int, int]] = [(0, start)]
    length, last = 0, 0
    for match in _ESCAPED[raw, doubled].finditer(body):
        if match.start() > last:
            out.append(body[last : match.start()])
            length += match.start() - last
        value = _unescape(match[0])
        out.append(value)
        marks.append((length, start + match.start()))
        length += len(value)
        last = match.end()
        marks.append((length, start + last))
    out.append(body[last:])
    return Segment("".join(out), start, end, "prompt", STATIC, marks=_ascending(marks))


_ESCAPED = {
    (False, False): _ESCAPE,
    (False, True): re.compile(rf"{_ESCAPE.pattern}|\{{\{{|\}}\}}", re.DOTALL),
    (True, False): re.compile(r"\r\n?"),
    (True, True): re.compile(r"\r\n?|\{\{|\}\}"),
}


def _ascending(marks: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Without the marks of what stands for no character at all."""
    return tuple(dict(marks).items())


def _unescape(escape: str) -> str:
    if escape[0] != "\\":
        return "\n" if escape[0] == "\r" else escape[0]
    kind = escape[1]
    if kind in "\r\n":
        return ""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind in "01234567":
        return chr(int(escape[1:], 8))
    if kind in "xuU" and len(escape) > 2:
        code = int(escape[2:], 16)
        return chr(code) if code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"
    if kind == "N" and len(escape) > 2:
        import unicodedata

        try:
            return unicodedata.lookup(escape[3:-1])
        except KeyError:
            return escape
    return kind if kind in "\\'\"" else escape


def _formatted(source: str, at: int, quote: str, raw: bool) -> Generator[Segment | Field, None, int]:
    """The parts of one f-string whose body begins at ``at``; returns where it ends."""
    begin = at
    pattern = (_IN_RAW_TEXT if raw else _IN_TEXT)[quote]
    while True:
        match = pattern.search(source, at)
        if match is None:
            return len(source)
        at = match.end()
        if match[0] == quote:
            if match.start() > begin:
                yield text_segment(source, begin, match.start(), raw=raw, doubled=True)
            return at
        if match[0] != "{":
            continue
        if match.start() > begin:
            yield text_segment(source, begin, match.start(), raw=raw, doubled=True)
        field, at = _field(source, at)
        yield field
        begin = at


def _field(source: str, start: int) -> tuple[Field, int]:
    """The field whose expression begins at ``start``, and where the text behind it goes on."""
    depth, at, end = 0, start, -1
    while match := _IN_FIELD.search(source, at):
        sign = match[0]
        at = match.end()
        if sign[-1] in "\"'":
            body = _REST[sign.lstrip(_LETTERS)].match(source, at)
            at = body.end() if body else len(source)
        elif sign in "[({":
            depth += 1
        elif sign in "])}":
            if depth == 0:
                return Field(start, match.start() if end < 0 else end, ""), at
            depth -= 1
        elif depth == 0 and sign in ("!", "="):
            end = match.start() if end < 0 else end
        elif depth == 0 and sign == ":":
            stop = _spec_end(source, at)
            return Field(start, match.start() if end < 0 else end, source[at:stop]), stop + 1
    return Field(start, len(source), ""), len(source)


def _spec_end(source: str, at: int) -> int:
    depth = 0
    for index in range(at, len(source)):
        if source[index] == "{":
            depth += 1
        elif source[index] == "}":
            if depth == 0:
                return index
            depth -= 1
    return len(source)
