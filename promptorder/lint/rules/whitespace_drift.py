"""The same text comes with other white space.

What it does: finds prompts of a log that equal the earlier one but for spaces, line breaks or line ends.

Why it costs: a space more is another token, and everything behind it is read again. Templates, editors, trimming and
Windows line ends do this without anybody seeing it.

Example::

    Section A. Boarding
    Section A.  Boarding

Use instead: one function that builds the text, without reformatting on the way.

When it is fine to ignore: never.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO205"
CHANGES = "rendering"
SEVERITY = "warning"
WORTH = 40
TIP = "Build the text in one place, and send again exactly what was sent."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "whitespace-drift")
