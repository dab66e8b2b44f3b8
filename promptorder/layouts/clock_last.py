"""A remedy: the clock stands behind the document, so only what follows it is read again."""

from __future__ import annotations

from promptorder.layouts._template import Layout

DEFAULT_RANK: int | None = None
LAYOUT = Layout(
    name="clock-last",
    summary="rules, document, clock, question",
    system="{rules}",
    user="{document}\n\nCurrent time: {clock}\nQuestion: {question}",
    advice="The clock already stands last: look for another difference in front of the document.",
)
