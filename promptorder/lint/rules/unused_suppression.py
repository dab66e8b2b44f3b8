"""A comment silences a rule that finds nothing there.

What it does: reports a ``promptorder: ignore[...]`` comment whose rule finds nothing on its line, the line below or the text
that it belongs to, one that names no rule, and one that names a rule that does not exist. A rule that is off is not asked for.

Why it costs: nothing by itself; but a comment that outlives its reason hides the next clock that somebody puts there.

Example::

    # promptorder: ignore[PO105] one prompt a day
    SYSTEM = "You are the help desk of a ferry line."

Use instead::

    SYSTEM = "You are the help desk of a ferry line."

When it is fine to ignore: while a change is under way.
"""

from __future__ import annotations

CODE = "PO900"
CHANGES = "unknown"
SEVERITY = "info"
WORTH = 0
TIP = "Delete the comment, or name the rule that it is for."
KINDS = ("unused-suppression",)
