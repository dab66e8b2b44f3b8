"""The tools, or the schema of the answer, changed.

What it does: finds requests of a log that have a tool more or less than the earlier one, a tool in other words, or
another schema for the answer.

Why it costs: tools stand in front of everything else, so the system text and the whole chat are read again.

Example::

    {"tools": [{"name": "open_bay", "description": "Opens a bay. 3 bays are free."}], "messages": [...]}
    {"tools": [{"name": "open_bay", "description": "Opens a bay. 2 bays are free."}], "messages": [...]}

Use instead: a description that stays, and the number in the result of a call or the newest message.

When it is fine to ignore: tools are switched on once, at a point where the chat is short.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO203"
CHANGES = "session"
SEVERITY = "warning"
WORTH = 40
TIP = "Keep the tools of a session as they are; put what changes in them into the newest message."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "tool-changed")
