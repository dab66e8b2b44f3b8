"""What a reader must know before believing the figures."""

from __future__ import annotations

from promptorder.model.comparison import Comparison
from promptorder.reports._words import listed


def caveats(comparison: Comparison) -> tuple[str, ...]:
    """A sentence for each caveat, with the layouts it is about unless that is all of several."""
    layouts: dict[str, list[str]] = {}
    for caveat in comparison.caveats:
        layouts.setdefault(caveat.message, []).extend([caveat.layout] if caveat.layout else [])
    every = len(comparison.layouts)
    return tuple(
        f"{listed(names)}: {message}" if names and not len(names) == every > 1 else _sentence(message)
        for message, names in ((message, list(dict.fromkeys(each))) for message, each in layouts.items())
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
