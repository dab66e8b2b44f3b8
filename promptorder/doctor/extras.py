"""The optional parts of the installation."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status

TITLE = "extras"
ORDER = 95


def judge(facts: Facts) -> Iterator[Line]:
    """Which are installed."""
    for extra in facts.extras:
        if extra.missing:
            yield Line(
                Status.NOTE,
                f"{extra.name} is not installed ({', '.join(extra.missing)} missing)",
                f"pip install 'promptorder[{extra.name}]'",
            )
        else:
            yield Line(Status.OK, f"{extra.name} is installed")
