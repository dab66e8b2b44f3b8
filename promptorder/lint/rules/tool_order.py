"""The same tools come in another order.

What it does: finds requests of a log whose tools are those of the earlier request, in another order.

Why it costs: tools stand in front of everything else, so the system text and the whole chat behind the first tool
that moved are read again. Lists that come from several servers, or from a map without an order, change with each
connection.

Example::

    {"tools": [{"name": "find_title"}, {"name": "open_bay"}], "messages": [...]}
    {"tools": [{"name": "open_bay"}, {"name": "find_title"}], "messages": [...]}

Use instead: ``tools.sort(key=lambda tool: tool["name"])``.

When it is fine to ignore: never.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO202"
CHANGES = "session"
SEVERITY = "error"
WORTH = 40
TIP = "Sort the tools by name before each request."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "tool-order")
