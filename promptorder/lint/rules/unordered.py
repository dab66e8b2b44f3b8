"""Code writes something without an order into a prompt in front of static text.

What it does: follows sets, folder listings, and JSON made of them into prompts.

Why it costs: the order of a set of strings is another one each time Python starts, and a folder lists its files in any order. The
same words in another order are another prompt, and everything behind them is read again.

Example::

    for topic in {"boarding", "refunds"}: listing += f"- {topic}\\n"

Use instead::

    for topic in sorted({"boarding", "refunds"}): listing += f"- {topic}\\n"

When it is fine to ignore: the set has at most one element.
"""

from __future__ import annotations

CODE = "PO141"
CHANGES = "process"
SEVERITY = "error"
WORTH = 40
TIP = "Sort it: sorted(...), sort_keys=True, a list instead of a set."
KINDS = ("unordered",)
