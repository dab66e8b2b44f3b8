"""A clock time stands in front of static text.

What it does: finds times with minutes or seconds (ISO 8601, 12-hour and 24-hour clocks, epoch seconds, and
those of other languages) that look as if a program had filled them in: by the words around them, their
precision and their place.

Why it costs: a server reuses the longest start that a prompt shares with an earlier one. A clock makes every start
different from its first digit on, so all that stands behind it is read again in every request.

Example::

    Current time: 2026-03-14T09:26:53Z
    You are the help desk of a ferry line. (400 tokens of rules)

Use instead::

    You are the help desk of a ferry line. (400 tokens of rules)
    Current time: 2026-03-14T09:26:53Z

When it is fine to ignore: the time is part of a fixed example, or the prompt is sent once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.lint._context import Around, first_values
from promptorder.lint._patterns import lazily
from promptorder.lint.engine import Found

CODE = "PO101"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Put the clock after the static part, or round it to the day."

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATED = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[T ,]{1,2}\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?",
    r"\b\d{8}T\d{4}(?:\d{2})?Z?\b",
    r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}[ ,]{1,2}\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m\b)?",
    rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}},? (?:at )?\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?: ?[ap]m\b)?",
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH},? \d{{4}},? (?:at )?\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?: ?[ap]m\b)?",
)
_CLOCK = (
    r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?: ?[ap]\.?m\b)?",
    r"\b\d{1,2}:\d{2}(?: ?[ap]\.?m\b)?",
    r"(?:午前|午後|上午|下午)?\d{1,2}[時时点]\d{1,2}分",
    r"오[전후] ?\d{1,2}시 ?\d{1,2}분",
)
_EPOCH = r"\b1[5-9]\d{8}(?:\d{3})?\b"
TRIGGERS = (*_DATED, *_CLOCK, _EPOCH)

_ANY = lazily(
    "|".join(
        (
            *(f"(?P<d{i}>{p})" for i, p in enumerate(_DATED)),
            *(f"(?P<c{i}>{p})" for i, p in enumerate(_CLOCK)),
            f"(?P<epoch>{_EPOCH})",
        )
    ),
    re.IGNORECASE,
)
_EPOCH_CUE = lazily(
    r"(?:epoch|unix|time|timestamp|\bts|\bat|now)(?:[ _-]?(?:ms|s|sec|secs|seconds|millis|utc))?\W{1,4}$",
    re.IGNORECASE,
)
_RANGE = lazily(r"^\s*(?:-|–|to|until|bis|and|à|a|~)\s*\d{1,2}[:.]\d{2}", re.IGNORECASE)
_END_OF_RANGE = lazily(r"\d{1,2}[:.]\d{2}(?: ?[ap]m)?\s*(?:-|–|to|until|bis|and|à|a|~)\s*$", re.IGNORECASE)


_LASTS = lazily(
    r"(?:\b(?:timeout|ttl|lasts?|takes?|within|under|at (?:most|least)|up to|duration|delay|every|\w+ing time"
    r"|(?:response|run|lead|wait) time|time ?zone|zone|offset|dauer|durée|duración)\b"
    r"\W{0,3}(?:\w+\W{1,2}){0,3}|(?:utc|gmt) ?[-+−±])$",
    re.IGNORECASE,
)
"""Words in front of a length of time, or of an offset between zones."""
_NOW = lazily(r"\b(?:now|current|clock|today)", re.IGNORECASE)


def literals(text: str, around: Around) -> Iterator[Found]:
    """Times in static text that look filled in."""
    for match in first_values(_ANY, text):
        start, end = match.span()
        group = match.lastgroup or ""
        before = text[max(0, start - 40) : start]
        if group == "epoch":
            if not _EPOCH_CUE.search(before) or around.is_example(start, end):
                continue
            yield Found(start, end)
            continue
        if (
            _RANGE.match(text[end : end + 16])
            or _END_OF_RANGE.search(before)
            or around.is_example(start, end)
            or around.is_long_ago(text[start : end + 6])
        ):
            continue  # opening hours, a slot
        precise = group.startswith("d") or match[0].count(":") == 2
        if not group.startswith("d") and _is_length(before.rsplit("\n", 1)[-1]):
            continue
        if around.score(start, end, precise=precise) >= (2 if precise else 3):
            yield Found(start, end)


def _is_length(before: str) -> bool:
    return _LASTS.search(before) is not None and _NOW.search(before) is None
