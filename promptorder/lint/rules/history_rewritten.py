"""An earlier turn of the chat was sent again in other words.

What it does: finds turns of a log that are other ones when they are sent again: stamped anew, with new ids, without
what had been put into them, results of tools that were cut, something put in between, a summary in the place of
turns.

Why it costs: the turns behind the first one that changed are read again.

Example::

    user: [09:10] Hi            user: [09:14] Hi
    assistant: Hello.           assistant: Hello.
                                user: Maps?

Use instead: a history that is only ever added to; the time of each message in it, not that of the request.

When it is fine to ignore: a person edited an earlier question, or a summary that comes once in many turns; both are
notes only.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO207"
CHANGES = "turn"
SEVERITY = "warning"
WORTH = 40
TIP = "Send earlier turns again exactly as they were; put what is new behind them."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "history-rewritten")
