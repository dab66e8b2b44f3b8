"""Retrieved text, memory or state stands in front of static text or of the chat history.

What it does: reads the names of placeholders and variables (``{context}``, ``{memories}``, ``{notes}``, ``{search_results}``, ``{state}``),
and follows what a search returns into prompts.

Why it costs: for each question other passages are found, so the rules, or the whole conversation, behind them are read
again each time.

Example::

    Notes: {context}
    You answer for a reading room. (400 tokens of rules)

Use instead: rules first, then the history, and what was retrieved in the newest message beside the question.

When it is fine to ignore: the same text is retrieved for the whole session.
"""

from __future__ import annotations

CODE = "PO131"
CHANGES = "request"
SEVERITY = "warning"
WORTH = 40
TIP = "Put retrieved text, memory and state after the static rules and after the history."
KINDS = ("retrieved-context",)
