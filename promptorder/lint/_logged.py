"""What a rule for logs reports: the differences of its cause, where a prompt is a log."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.lint import Hit, Prompt


def logged(prompt: Prompt, cause: str) -> Iterator[Hit]:
    """The hits of a cause; ``lint.logs`` is not imported for this, since most files are no logs."""
    hits = getattr(prompt.request, "hits", None)
    if hits is not None:
        yield from hits(cause)
