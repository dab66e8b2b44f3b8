"""The head of a prompt is another one than in the request before.

What it does: compares each request of a log with the earlier one that it could best have reused, and reports the
first place in the system text, or in a prompt that is one text, that differs: a clock, a date, an id, a counter, the
folder or branch, memory, the question, or other words. What both requests hold behind that place is counted as lost.

Why it costs: a server reuses the longest start that two prompts share, so everything behind the first difference is
read again.

Example::

    {"messages": [{"role": "system", "content": "Clock 09:10:05. You answer for ... (400 tokens)"}, ...]}
    {"messages": [{"role": "system", "content": "Clock 09:11:41. You answer for ... (400 tokens)"}, ...]}

Use instead: the rules first, and the clock in the newest message.

When it is fine to ignore: the rules got a new version. Words that change once are reported as a note only.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO201"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Move what changes behind what stays: the end of the prompt, or the newest message."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "prompt-head-changed")
