"""The chat history stands in front of static text.

What it does: finds placeholders such as ``{history}`` and ``{chat_history}`` with static text behind them.

Why it costs: the history grows with every turn, and the text behind it moves: it is read again in each turn.

Example::

    {chat_history}
    You are the help desk of a ferry line. (400 tokens of rules)

Use instead: rules first, then the history, then the question.

When it is fine to ignore: the text behind it is a short reminder that works better at the end.
"""

from __future__ import annotations

CODE = "PO134"
CHANGES = "turn"
SEVERITY = "warning"
WORTH = 80
TIP = "Put the static rules before the history."
KINDS = ("history",)
