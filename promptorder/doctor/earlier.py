"""Whether a prompt is still known after another one in between."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.measure.controls import figures, shown
from promptorder.model.doctor import Facts, Line, Status

TITLE = "earlier ones"
ORDER = 70
_STORE_SINCE = (0, 30, 0)


def judge(facts: Facts) -> Iterator[Line]:
    """By the call that comes back to the first text."""
    calls = facts.calls or ()
    back = shown(calls, "back")
    if back == "reused":
        yield Line(Status.OK, f"another prompt in between does no harm ({figures(calls, 'back')})")
    elif back in ("not-reused", "partly"):
        version = facts.before.version_numbers if facts.before is not None else None
        has_store = version is not None and version >= _STORE_SINCE and shown(calls, "short") == "reused"
        yield Line(
            Status.PROBLEM if has_store else Status.NOTE,
            f"only the last prompt is kept: after another one it is read anew ({figures(calls, 'back')})",
            "unset LLAMA_ARG_CACHE_RAM; ollama serve; and ask all questions on one document before the next"
            if has_store
            else "ask all questions on one document before the next",
        )
    elif back == "cannot-tell":
        yield Line(Status.UNKNOWN, f"the times do not tell ({figures(calls, 'back')})")
