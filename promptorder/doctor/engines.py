"""The other engines of promptorder."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status

TITLE = "engines"
ORDER = 90


def judge(facts: Facts) -> Iterator[Line]:
    """A line for each that is not the one that is examined."""
    for engine in facts.engines:
        if engine.name == facts.engine and facts.before is not None:
            continue
        if facts.before is None and engine.name == facts.engine and facts.chosen_by_user:
            continue  # the first line has told it
        if engine.refusal is None:
            yield Line(Status.OK, f"{engine.name} can be used too: {engine.summary}")
        else:
            yield Line(Status.NOTE, f"{engine.name} cannot be used: {engine.refusal}", engine.hint)
