"""Rules, then the document, then the question: what stays the same stands first."""

from __future__ import annotations

from promptorder.layouts._template import Layout

DEFAULT_RANK: int | None = 10
LAYOUT = Layout(
    name="static-first",
    summary="rules, document, question",
    system="{rules}",
    user="{document}\n\nQuestion: {question}",
    advice="Something other than the order undoes the reuse here: compare the prompts byte by byte, "
    "and check that the model stays loaded and the server's prompt cache is on.",
)
