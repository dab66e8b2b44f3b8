"""A clock line above static-first: the very first tokens change every second."""

from __future__ import annotations

from promptorder.layouts._template import Layout

DEFAULT_RANK: int | None = 30
LAYOUT = Layout(
    name="clock-first",
    summary="clock, rules, document, question",
    system="Current time: {clock}\n{rules}",
    user="{document}\n\nQuestion: {question}",
    advice="Move the clock behind the document (layout clock-last), or round it to the day "
    "(layout clock-rounded).",
)
