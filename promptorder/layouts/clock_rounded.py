"""A remedy: the clock stays on top but shows the day alone, so it changes once a day."""

from __future__ import annotations

from promptorder.layouts._template import Layout

DEFAULT_RANK: int | None = None
LAYOUT = Layout(
    name="clock-rounded",
    summary="date, rules, document, question",
    system="Current date: {date}\n{rules}",
    user="{document}\n\nQuestion: {question}",
    advice="The date changes once a day only: look for another difference in front of the document.",
)
