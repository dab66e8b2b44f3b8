"""Other models that are loaded."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.doctor._words import listed
from promptorder.model.doctor import Facts, Line, Status

TITLE = "other models"
ORDER = 75


def judge(facts: Facts) -> Iterator[Line]:
    """They may push ours out of memory, and slow it down."""
    server = facts.before
    if server is None or not server.address or facts.model is None:
        return
    others = tuple(each.name for each in server.loaded if not each.ours)
    after = {each.name for each in facts.during.loaded} if facts.during is not None else set(others)
    pushed_out = tuple(name for name in others if name not in after)
    if pushed_out:
        yield Line(
            Status.PROBLEM,
            f"{listed(pushed_out)} had to leave the memory for this model: in turns, each call loads and reads anew",
            "use one model, a smaller one, or more memory (OLLAMA_MAX_LOADED_MODELS)",
        )
    elif others:
        yield Line(
            Status.NOTE,
            f"{listed(others)} loaded too: what they do meanwhile slows this one",
            f"ollama stop {others[0]}",
        )
    else:
        yield Line(Status.OK, "none is loaded")
