"""What is to be known of this version."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status

TITLE = "version"
ORDER = 15

_UPDATE = "update Ollama to 0.33.3 or later"


def judge(facts: Facts) -> Iterator[Line]:
    """One line for each trap, or one that there is none."""
    server = facts.before
    if server is None or not server.address:
        return
    version = server.version_numbers
    if version is None:
        yield Line(
            Status.NOTE,
            "the server does not tell its version, as builds of one's own do: what it counts is tried out",
            "build with the version set, or compare its figures with another server's",
        )
        return
    told = False
    if facts.duration_caveat:
        told = True
        status = Status.PROBLEM if "cannot be trusted" in facts.duration_caveat else Status.NOTE
        yield Line(status, facts.duration_caveat, _UPDATE)
    if version < (0, 2, 0) or version == (0, 30, 0):
        told = True
        yield Line(
            Status.NOTE,
            f"prompt_eval_count of {server.version} is what was read, not the whole prompt: "
            "dashboards that divide by it are wrong",
            _UPDATE,
        )
    if (0, 30, 0) <= version < (0, 30, 8):
        told = True
        yield Line(
            Status.NOTE,
            f"{server.version} does not cache calls that send shift: false",
            "leave shift out of your calls, or update Ollama",
        )
    if not told:
        yield Line(Status.OK, f"nothing is known against {server.version}")
