"""Patterns that are compiled when they are first used.

A start of lint loads every rule, but most texts need the patterns of few: compiling all of them would cost more than
reading the file.
"""

from __future__ import annotations

import re
from typing import Any, cast


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, but compiled at the first use of one of its methods."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))


class _Lazy:
    """Stands for a compiled pattern; a method once asked for is an attribute, so later calls cost nothing more."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)
        return value
