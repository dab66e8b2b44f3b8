"""Whether reuse hangs on how long the previous prompt's end was."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.measure.controls import figures, shown
from promptorder.model.doctor import Facts, Line, Status

TITLE = "long tails"
ORDER = 65


def judge(facts: Facts) -> Iterator[Line]:
    """A sliding-window model forgets the start when the end was long; the model's description may say so too."""
    model, calls = facts.model, facts.calls
    if model is None:
        return
    window = model.sliding_window_tokens
    short, other = (shown(calls or (), kind) for kind in ("short", "other-tail"))
    if short in ("not-reused", "partly") and other == "reused":
        text = f"after a prompt with a long end the next one is read anew ({figures(calls or (), 'short')})"
        if window:
            text += f": the model has a sliding window of {window:,} tokens"
        yield Line(
            Status.PROBLEM,
            text,
            "LLAMA_ARG_SWA_FULL=1 ollama serve keeps the whole prompt (more memory, from Ollama 0.30); "
            "keep the changing end short",
        )
    elif short == "reused":
        extra = f", in spite of a sliding window of {window:,} tokens" if window else ""
        yield Line(Status.OK, f"a long end of the previous prompt does no harm{extra}")
    elif window and short is None:
        yield Line(
            Status.NOTE,
            f"the model has a sliding window of {window:,} tokens: what is reused may hang on the previous prompt",
            "promptorder doctor, without --no-calls, tries it",
        )
