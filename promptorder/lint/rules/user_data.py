"""Something about the user stands in front of static text.

What it does: reads the names of placeholders (``{user_name}``, ``{{customer}}``, ``${location}``, ``{profile}``).

Why it costs: the static text behind it is read once for every user instead of once for all.

Example::

    Hello {{user_name}}.
    You are the help desk of a ferry line. (400 tokens of rules)

Use instead: rules first, then who is asking.

When it is fine to ignore: there is one user, or each has a server of his own.
"""

from __future__ import annotations

CODE = "PO121"
CHANGES = "user"
SEVERITY = "warning"
WORTH = 40
TIP = "Put what differs between users after the static part."
KINDS = ("user-data",)
