"""The question stands in front of the text that it is about.

What it does: finds a question, ticket, query or user message (a placeholder with such a name, or a label such as
``Question:`` in literal text) with static text or a document behind it.

Why it costs: the question is another one in each request, so the rules and the document behind it are read again for
every question; the other way round only the question is read.

Example::

    Question: {question}
    Answer from this handbook: (3,000 tokens)

Use instead::

    Answer from this handbook: (3,000 tokens)
    Question: {question}

When it is fine to ignore: the model answers better with the question first and you have measured that it is worth it (some
people write it twice, before and after), or what follows is short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.lint._context import Around
from promptorder.lint._patterns import lazily
from promptorder.lint.engine import Found

CODE = "PO132"
CHANGES = "request"
SEVERITY = "warning"
WORTH = 80
TIP = "Put the question after everything that stays the same."
KINDS = ("question-first",)

_LABEL = (
    r"(?:user(?:'s)? |customer(?:'s)? )?(?:question|query|ticket|request|message|inquiry|frage|pregunta|domanda|pergunta)"
    r"|質問|问题|질문|вопрос"
)
TRIGGERS = (rf"(?m)^[#*\s]*(?:{_LABEL})[*\s]*[:：]",)
_ANY = lazily(
    rf"^[#*\s]*(?P<label>{_LABEL})[*\s]*[:：][*\s]*(?P<value>\S[^\n]*)", re.IGNORECASE | re.MULTILINE
)
_ANSWER = lazily(
    r"^[#*\s]*(?:answer|a|response|antwort|réponse|label|output)[*\s]*[:：]", re.IGNORECASE | re.MULTILINE
)
_HEAD_LINES = 4


def literals(text: str, around: Around) -> Iterator[Found]:
    """One labelled question at the top; several are few-shot examples, as is one with its answer."""
    found = list(_ANY.finditer(text))
    if len(found) != 1 or around.line_number(found[0].start("label")) >= _HEAD_LINES:
        return
    if _ANSWER.search(text, found[0].end(), found[0].end() + 400):
        return
    yield Found(found[0].start("label"), found[0].end(), confidence="medium")
