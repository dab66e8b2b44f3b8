"""Code puts the time of the call into a prompt in front of static text.

What it does: follows calls such as ``datetime.now()``, ``time.time()``, ``new Date()`` and ``Date.now()`` into f-strings,
templates, concatenations and message lists, through variables and helper functions of the same file.

Why it costs: each call writes another time, and everything behind it is read again. A value that is made once when the module
is imported changes only when the program starts, and is reported as such.

Example::

    system = f"Now: {datetime.now()}\\n{RULES}"

Use instead::

    system = f"{RULES}\\nToday: {date.today()}"

When it is fine to ignore: the prompt is built once for each process and the process lives long.
"""

from __future__ import annotations

CODE = "PO105"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Read the clock after the static text, or round it to the day."
KINDS = ("clock-call",)
