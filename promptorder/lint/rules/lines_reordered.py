"""The same words come in another order.

What it does: finds lists in a prompt (memory, facts, files, entities) that hold the same as in the earlier request,
in another order.

Why it costs: everything behind the first entry that moved is read again. A search returns its hits by score, a set in
any order.

Example::

    Known: likes maps; has two cats; reads at night.
    Known: has two cats; likes maps; reads at night.

Use instead: ``sorted(...)`` before they are written.

When it is fine to ignore: never.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO215"
CHANGES = "request"
SEVERITY = "warning"
WORTH = 40
TIP = "Sort what is put into the prompt: by name or age, not by score."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "lines-reordered")
