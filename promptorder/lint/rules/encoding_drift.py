"""The same words come in other characters.

What it does: finds prompts of a log that equal the earlier one but for Unicode's ways to write the same (composed or
not), escapes (HTML, backslash-u), typographic quotes and dashes, invisible characters, or an encoding that was read
wrongly.

Why it costs: to the model they are other tokens, and everything behind them is read again.

Example::

    Ask for the café's key.
    Ask for the caf&eacute;'s key.

Use instead: normalise to one form at the border of the program.

When it is fine to ignore: never.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO206"
CHANGES = "rendering"
SEVERITY = "warning"
WORTH = 40
TIP = "Normalise text once, when it comes in, and send again exactly what was sent."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "encoding-drift")
