"""How many prompts the server holds side by side."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status

TITLE = "slots"
ORDER = 35


def judge(facts: Facts) -> Iterator[Line]:
    """One line; several slots share the memory, and each has a cache of its own."""
    now, model = facts.now, facts.model
    if now is None or model is None or model.remote_host:
        return
    slots = now.runner.slots if now.runner is not None else None
    variable = (now.environment.server or {}).get("OLLAMA_NUM_PARALLEL", "")
    if slots is None and variable.isdigit() and int(variable) > 0:
        slots = int(variable)
    if slots is None:
        yield Line(Status.UNKNOWN, f"cannot be seen: {_why(facts)}")
    elif slots == 1:
        yield Line(Status.OK, "1: calls are answered one after the other, and share one cache")
    else:
        yield Line(
            Status.NOTE,
            f"{slots}, each with a cache of its own: calls at the same time read the same document once a slot",
            "send the first call of a document alone, or OLLAMA_NUM_PARALLEL=1 ollama serve",
        )


def _why(facts: Facts) -> str:
    now = facts.now
    if now is not None and now.environment.unseen:
        return now.environment.unseen
    return "the model is not loaded, or its process is another one's"
