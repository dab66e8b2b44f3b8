"""Ranges of pages, as ``--pages`` takes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence

from promptorder.errors import InputError, UsageError
from promptorder.inputs._files import shown

Ranges = tuple[tuple[int, int], ...]

LAST_PAGE = sys.maxsize
"""Stands for the last page of a document that has not been opened yet."""

_RANGE = re.compile(r"\s*(?:(?P<only>[0-9]{1,9})|(?P<first>[0-9]{1,9})?\s*-\s*(?P<last>[0-9]{1,9})?)\s*")


def parse_pages(spec: str) -> Ranges:
    """Read pairs of first and last page, counted from 1: ``20-31,40`` is ``((20, 31), (40, 40))``.

    ``5-`` runs to the last page (``LAST_PAGE``), ``-3`` from the first. Raises UsageError.
    """
    return tuple(_parse_range(part, spec) for part in spec.split(","))


def format_pages(ranges: Iterable[tuple[int, int]]) -> str:
    """Write ``ranges`` as short as can be; ``parse_pages`` reads that back."""
    return ",".join(
        str(first) if first == last else f"{first}-" if last == LAST_PAGE else f"{first}-{last}"
        for first, last in ranges
    )


def as_ranges(pages: Iterable[int]) -> Ranges:
    """Draw page numbers together where each follows on the one before."""
    ranges: list[tuple[int, int]] = []
    for page in pages:
        if ranges and page == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], page)
        else:
            ranges.append((page, page))
    return tuple(ranges)


def within(ranges: Sequence[tuple[int, int]], page_count: int, path: str) -> Ranges:
    """Close the open ends of ``ranges`` at ``page_count``.

    Raises InputError for a page that the document ``path`` does not have.
    """
    closed = tuple((first, max(first, page_count) if last == LAST_PAGE else last) for first, last in ranges)
    for first, last in closed:
        if last > page_count:
            has = "1 page" if page_count == 1 else f"{page_count} pages"
            raise InputError(
                f"{shown(path)} has {has}, so there is no page {max(first, page_count + 1)}",
                hint=f"for example: --pages {format_pages([(1, page_count)])}",
            )
    return closed


def _parse_range(part: str, spec: str) -> tuple[int, int]:
    match = _RANGE.fullmatch(part)
    if match is None or not any(match.groups()):
        raise _malformed(f"{spec!r} is no range of pages")
    first = int(match["only"] or match["first"] or 1)
    last = int(match["only"] or match["last"] or LAST_PAGE)
    if first < 1 or last < 1:
        raise _malformed("pages are counted from 1")
    if last < first:
        raise _malformed(f"the range {part.strip()!r} runs backwards")
    return first, last


def _malformed(message: str) -> UsageError:
    return UsageError(f"--pages: {message}", hint="for example: --pages 20-31,40 or --pages 5-")
