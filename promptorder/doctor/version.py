"""What is to be known of this version."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status
from promptorder.model.ollama_versions import Consequence, warnings

TITLE = "version"
ORDER = 15

_UPDATE = "update Ollama to 0.33.3 or later"


def judge(facts: Facts) -> Iterator[Line]:
    """One line for each trap, or one that there is none."""
    server = facts.before
    if server is None or not server.address:
        return
    if server.version_numbers is None:
        what = (
            "the server does not tell its version, as builds of one's own do"
            if server.version is None
            else f"{server.version} is no release that is known"
        )
        yield Line(
            Status.NOTE,
            f"{what}: what it counts is tried out",
            "build with the version set, or compare its figures with another server's",
        )
        return
    traps = warnings(server.version_numbers)
    for trap in traps:
        untrue = trap.consequence is Consequence.CANNOT_TELL
        yield Line(Status.PROBLEM if untrue else Status.NOTE, trap.warning, _UPDATE)
    if not traps:
        yield Line(Status.OK, f"nothing is known against {server.version}")
