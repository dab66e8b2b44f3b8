"""Prompts and small projects to lint, for the tests of the command."""

from __future__ import annotations

from pathlib import Path

RULES = "\n".join(
    f"- Rule {number}: answer in full sentences, and name the ferry that is meant." for number in range(20)
)
CLOCK = "Current time: 2026-03-14T09:26:53Z"
BAD = f"{CLOCK}\nYou are the help desk of a ferry line.\n{RULES}\n"
GOOD = f"You are the help desk of a ferry line.\n{RULES}\n"


def write(folder: Path, **files: str) -> None:
    """Write files; two underscores in a name stand for a slash, one for a dot."""
    for name, text in files.items():
        put(folder, name.replace("__", "/").replace("_", "."), text)


def put(folder: Path, name: str, text: str | bytes) -> Path:
    """Write one file, in folders that are made for it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
