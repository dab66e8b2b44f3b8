"""What the engine counts."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.measure.controls import counts_of
from promptorder.model.doctor import Counts, Facts, Line, Status
from promptorder.model.ollama_versions import count_meaning, counts_reuse

TITLE = "counting"
ORDER = 55


def judge(facts: Facts) -> Iterator[Line]:
    """By the control calls; without them, by the version."""
    server = facts.before
    if server is None or facts.model is None:
        return
    counts = counts_of(facts.calls or ())
    tried = counts is not None
    counts = counts or _by_version(facts)
    by = "" if tried else ", by its version"
    if counts is None:
        yield Line(Status.UNKNOWN, "what it counts shows with the first call")
    elif counts == "cached":
        yield Line(Status.OK, f"the engine counts the tokens that it reused{by}")
    elif counts == "read":
        yield Line(Status.OK, f"the engine counts the tokens that it read{by}: the rest was reused")
    else:
        yield Line(
            Status.NOTE,
            f"the engine does not count what it reuses{by}: promptorder infers it from the time, with a band",
            "update Ollama to 0.33.3 or later, or raise --repeats",
        )


def _by_version(facts: Facts) -> Counts | None:
    server = facts.before
    if facts.engine == "embedded":
        return "cached"
    version = server.version_numbers if server is not None else None
    if version is None:
        return None
    if counts_reuse(version):
        return "cached"
    meaning = count_meaning(version)
    return "read" if meaning == "read" else "nothing" if meaning == "whole" else None
