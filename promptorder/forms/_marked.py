"""Static text whose characters do not all stand in the file as they are: cut up without losing their places."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from promptorder.forms._placeholders import split
from promptorder.model.lint import STATIC, Segment

Marks = tuple[tuple[int, int], ...]
_FAR = 1 << 60
_BREAKS = "\r\n \t\x85\u2028\u2029"
_BLANK = re.compile(r"[ \t\r\n\u2028\u2029]*")


def align(value: str, raw: str, base: int, seams: re.Pattern[str]) -> Marks:
    """Marks for ``value``, which was made of ``raw``, the text of the file from ``base`` on.

    ``seams`` matches what is not taken over as it is (escapes, line breaks with their indentation); what stands
    between two seams is found again in the value, close behind what was found before.
    """
    marks: list[tuple[int, int]] = []
    at = last = 0
    for match in seams.finditer(raw):
        at = _found(marks, value, at, raw[last : match.start()], base + last)
        if at < len(value):
            marks.append((at, base + match.start()))
        if match[0][-1] not in _BREAKS:
            at += 1  # an escape is one character
        elif match[0][0] != "\\" and value[at : at + 1] in ("\n", " ", "\u2028", "\u2029"):
            at += 1  # a break is one, or none where lines are joined
        last = match.end()
    _found(marks, value, at, raw[last:], base + last)
    if not marks or marks[0][0]:
        marks.insert(0, (0, base))
    return tuple(marks)


def _found(marks: list[tuple[int, int]], value: str, at: int, piece: str, place: int) -> int:
    if not piece:
        return at
    # A line that is indented further than its block has spaces in the value that the seam has taken.
    blank = _BLANK.match(value, at)
    found = value.find(piece, at, (blank.end() if blank else at) + len(piece) + 16)
    if found < 0:
        return at
    marks.append((found, place))
    return found + len(piece)


def cut(segment: Segment, start: int, end: int) -> Segment:
    """The part of a static segment between two offsets in its text."""
    text = segment.text[start:end]
    if not segment.marks:
        return segment._replace(text=text, start=segment.start + start, end=segment.start + end)
    first = bisect_right(segment.marks, (start, _FAR))
    stop = bisect_right(segment.marks, (end, -1))
    marks = (
        (0, segment.place(start)),
        *((at - start, place) for at, place in segment.marks[first:stop]),
    )
    return segment._replace(text=text, start=marks[0][1], end=segment.place(end - 1) + 1, marks=marks)


def split_marked(segment: Segment) -> Iterator[Segment]:
    """Cut a static segment into static text and placeholders, as ``split`` does with plain text."""
    for piece in split(segment.text, role=segment.role):
        if piece.origin == STATIC:
            yield cut(segment, piece.start, piece.end)
        else:
            start, end = segment.place(piece.start), segment.place(piece.end - 1) + 1
            yield piece._replace(start=start, end=end)
