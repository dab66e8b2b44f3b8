"""A placeholder whose name says that it holds the time stands in front of static text.

What it does: reads the names of placeholders (``{now}``, ``{{current_time}}``, ``${timestamp}``, ``{{CURRENT_DATETIME}}``) in texts, templates
and code.

Why it costs: filled in to the second or minute it differs in every request, and everything behind it is read again.

Example::

    Asked at {{ current_time }}.
    You are the help desk of a ferry line. (400 tokens of rules)

Use instead: move the line behind the rules, or fill in the date alone, which changes once a day.

When it is fine to ignore: the value is constant in your program; say so in the settings under ``variables``.
"""

from __future__ import annotations

CODE = "PO103"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Put the placeholder after the static part, or fill in the day alone."
KINDS = ("clock-variable",)
