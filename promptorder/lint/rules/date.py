"""Today's date stands in front of static text.

What it does: finds dates (ISO, with slashes or dots, with the month's name, and those of other languages) that
look like the day on which the prompt was made.

Why it costs: when the day changes, everything behind the date is read again. That is once a day, so it costs far less
than a clock; but if the date comes with a time or is written per request, it costs as much.

Example::

    Today is 14 March 2026.
    You are the help desk of a ferry line. (400 tokens of rules)

Use instead::

    You are the help desk of a ferry line. (400 tokens of rules)
    Today is 14 March 2026.

When it is fine to ignore: the cache would not live until the next day anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.lint._context import Around, first_values
from promptorder.lint._patterns import lazily
from promptorder.lint.engine import Found

CODE = "PO102"
CHANGES = "day"
SEVERITY = "warning"
WORTH = 40
TIP = "Put the date after the static part; a date alone changes once a day."

_MONTH = (
    r"(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[eé]vrier|mar(?:ch|s|zo)?|m[aä]rz|apr(?:il)?|avril|abril|may|mai|mayo|june?|juni|juin|"
    r"junio|july?|juli|juillet|julio|aug(?:ust(?:us)?)?|ao[uû]t|agosto|sep(?:t(?:ember|embre|iembre)?)?|oct(?:ober|obre|ubre)?|oktober|"
    r"nov(?:ember|embre|iembre)?|dec(?:ember)?|dez(?:ember|embro)?|d[eé]cembre|diciembre|janvier|enero|febrero|gennaio|febbraio|aprile|"
    r"maggio|giugno|luglio|settembre|ottobre|dicembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|januari|"
    r"februari|maart|mei|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia|"
    r"января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)\.?"
)
_DATES = (
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b",
    r"\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b",
    rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b",
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:de )?{_MONTH},?(?: de)? \d{{4}}\b",
    r"\d{4}[年년] ?\d{1,2}[月월] ?\d{1,2}[日일]",
)
TRIGGERS = _DATES
_ANY = lazily("|".join(_DATES), re.IGNORECASE)
_TIME_FOLLOWS = lazily(r"^[T ,]{1,2}(?:at )?\d{1,2}:\d{2}")
_ON = lazily(r"\bon $|\bam $|\ble $", re.IGNORECASE)


def literals(text: str, around: Around) -> Iterator[Found]:
    """Dates in static text that look like the day of the request."""
    for match in first_values(_ANY, text):
        start, end = match.span()
        if _TIME_FOLLOWS.match(text[end : end + 12]) or around.is_example(start, end):
            continue
        if around.is_long_ago(text[start : end + 6]):
            continue
        points = around.score(start, end, precise=False)
        if _ON.search(text[max(0, start - 6) : start]) and around.line_number(start) == 0:
            points += 1
        if points >= 3:
            yield Found(start, end)
