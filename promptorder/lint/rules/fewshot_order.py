"""The examples are others, or come in another order.

What it does: finds few-shot examples (questions with answers, inputs with outputs, in the text or as messages) that
are shuffled or drawn anew in each request.

Why it costs: everything behind the first example that moved is read again.

Example::

    Examples:                          Examples:
    Q: Are prams allowed?              Q: Is there wifi?
    A: Yes, folded.                    A: Only in the saloon.

Use instead: an order that stays; ``random.Random(7)`` where it should look random.

When it is fine to ignore: the examples are chosen for each question and stand at the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO214"
CHANGES = "request"
SEVERITY = "warning"
WORTH = 40
TIP = "Keep the examples and their order; choose them once, or put them behind what stays."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "fewshot-order")
