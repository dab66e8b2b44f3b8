"""Whether an engine answers, and where it runs."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status

TITLE = "engine"
ORDER = 10


def judge(facts: Facts) -> Iterator[Line]:
    """One line for the engine that is examined."""
    refusal, server = facts.refusal, facts.before
    if server is None:
        if refusal is not None:
            yield Line(Status.PROBLEM, refusal.message, refusal.hint)
        return
    if not server.address:
        yield Line(Status.OK, f"{facts.engine} ({server.version}), a process of its own on this machine")
        return
    name = f"{facts.engine} {server.version or 'of unknown version'} at {server.address}"
    if server.elsewhere is None:
        yield Line(Status.OK, f"{name}, this machine")
    else:
        yield Line(
            Status.NOTE,
            f"{name}, on {server.elsewhere}: documents are sent there, and others may use it meanwhile",
            "promptorder compare ... starts layouts with a nonce there and unloads nothing",
        )
