"""A template reads the clock in front of static text.

What it does: finds calls and variables of template languages and chat front ends that give the time: ``now()``, ``strftime_now``,
``$now``, ``utcnow``, ``currentDate``, and filters that format them.

Why it costs: each rendering writes another time, and everything behind it is read again.

Example::

    The time is {{ now() }}.
    You are the help desk of a ferry line. (400 tokens of rules)

Use instead::

    You are the help desk of a ferry line. (400 tokens of rules)
    The time is {{ now() }}.

When it is fine to ignore: the template is rendered once and the result kept.
"""

from __future__ import annotations

CODE = "PO106"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Move the expression behind the static part, or format the day alone."
KINDS = ("template-clock",)
