"""Turns are gone from the front of the history.

What it does: finds requests of a log whose history is that of the earlier request without its first turns.

Why it costs: what comes after the system text is another text from its first word on, so the whole history is read
again. A window that slides with each turn does that in each turn.

Example::

    system, question 1, answer 1, question 2
    system, question 2, answer 2, question 3

Use instead: when the context is full, drop half of it at once; then the next turns are only added to.

When it is fine to ignore: a big cut that comes once, which is a note only.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO208"
CHANGES = "turn"
SEVERITY = "warning"
WORTH = 40
TIP = "Drop many turns at once and seldom, or summarise them; not one with each request."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "history-dropped")
