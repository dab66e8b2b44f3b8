"""A counter stands in front of static text or of the chat history.

What it does: finds running numbers (tokens left, turn 7 of 20, request #12) and placeholders whose name says that they
hold one.

Why it costs: the number is another one in each turn, so everything behind it is read again each time.

Example::

    48123 tokens left.
    You are a careful command-line helper. (800 tokens of rules)

Use instead: write the number into the newest message, behind everything that stays.

When it is fine to ignore: the number is the same for the whole session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.lint._context import Around
from promptorder.lint._patterns import lazily
from promptorder.lint.engine import Found

CODE = "PO113"
CHANGES = "turn"
SEVERITY = "error"
WORTH = 40
TIP = "Put counters and budgets last, or leave them out."
KINDS = ("counter",)

_COUNTER = (
    r"\b\d[\d,.]* (?:tokens?|credits|requests|messages|turns|steps|calls|seconds|minutes) (?:left|remaining|used|so far)\b",
    r"\b(?:turn|step|iteration|attempt|request|message) (?:#|no\.? ?|number )?\d+(?: of (?:at most |up to |a maximum of )?|\s?/\s?)\d+\b",
    r"\b(?:token (?:usage|budget|count)|(?:tokens?|context|budget|credits) (?:left|remaining|used)|(?:remaining|left) tokens?) ?[:=] ?\d[\d,.]*",
    r"\b(?:request|message|turn|call) #\d+\b",
)
TRIGGERS = _COUNTER
_ANY = lazily("|".join(_COUNTER), re.IGNORECASE)


_SERIES = 20


def literals(text: str, around: Around) -> Iterator[Found]:
    """Running numbers in the first lines of a text."""
    found = list(_ANY.finditer(text))
    for match in found:
        # "Step 1 of 3", "Step 2 of 3": the parts of an instruction, and no counter.
        if sum(other[0][:4].lower() == match[0][:4].lower() for other in found[:_SERIES]) > 1:
            continue
        if around.line_number(match.start()) < 5 and not around.is_example(*match.span()):
            yield Found(*match.span(), confidence="medium")
