"""A document stands in front of static rules.

What it does: finds placeholders such as ``{document}``, ``{article}`` and ``{transcript}`` with static text behind them.

Why it costs: the rules behind it are read again for each document. For many questions about one document this order is as
good as any; for one question about each of many documents the rules should come first.

Example::

    {document}
    Summarise the text above by these rules: (300 tokens)

Use instead::

    Summarise the text below by these rules: (300 tokens)
    {document}

When it is fine to ignore: you ask many questions about each document.
"""

from __future__ import annotations

CODE = "PO133"
CHANGES = "session"
SEVERITY = "info"
WORTH = 80
TIP = "If several documents share the rules, put the rules first."
KINDS = ("document-first",)
