"""Rules, then the question, then the document: the document follows a text that changes each time."""

from __future__ import annotations

from promptorder.layouts._template import Layout

DEFAULT_RANK: int | None = 20
LAYOUT = Layout(
    name="question-first",
    summary="rules, question, document",
    system="{rules}",
    user="Question: {question}\n\n{document}",
    advice="Put the question after the document, as in static-first.",
)
