"""What stands before a server's own words: colours, and the stamps of docker, Kubernetes and journald."""

from __future__ import annotations

import re
from datetime import datetime

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_DATE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"

PREFIX = (
    r"(?:[\w.-]+\s+\|\s+)?"  # docker compose: the container's name
    rf"(?:\[?(?:{_DATE})\]?\s+)?"
    r"(?:std(?:out|err)\s+[FP]\s+)?"  # Kubernetes
    r"(?:[A-Z][a-z]{2}\s+\d+\s\d\d:\d\d:\d\d\s+)?"  # journald's short form, without a year
    r"(?:[\w.-]+\s+[\w./@-]+(?:\[\d+\])?:\s+)?"  # journald: machine and program
)
"""A pattern for what others put before a line, or nothing."""

_STAMP = re.compile(rf"(?:[\w.-]+\s+\|\s+)?\[?({_DATE})\]?\s|(?:.{{0,120}}?\s)?time=({_DATE})\s")


def plain(line: str) -> str:
    """The line without colours."""
    return _ANSI.sub("", line) if "\x1b" in line else line


def stamp(line: str) -> datetime | None:
    """When the line was written, by docker, journald or Ollama; with the time zone where it says."""
    found = _STAMP.match(line)
    if found is None:
        return None
    try:
        return datetime.fromisoformat((found[1] or found[2]).replace(",", "."))
    except ValueError:
        return None
