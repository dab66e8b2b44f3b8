"""A placeholder whose name says that it holds a date stands in front of static text.

What it does: reads the names of placeholders such as ``{today}``, ``{{ current_date }}`` and ``${weekday}``.

Why it costs: everything behind it is read again when the day changes, and in every request if the program fills in a time too.

Example::

    Day of the visit: {today}. (400 tokens of rules)

Use instead: rules first, the day after them.

When it is fine to ignore: the date is the day alone and the cache would not live longer anyway.
"""

from __future__ import annotations

CODE = "PO104"
CHANGES = "day"
SEVERITY = "warning"
WORTH = 40
TIP = "Put the placeholder after the static part."
KINDS = ("date-variable",)
