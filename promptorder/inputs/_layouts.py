"""Layouts and rules by name, or out of files of the user's own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from promptorder.errors import InputError, UsageError
from promptorder.layouts import Layout, built_in_layout, parse_layout


def find_layout(name: str) -> Layout:
    """A built-in layout by its name, or one of the user's own by the path of its file. Raises UsageError."""
    path = Path(name)
    if not (path.suffix or os.sep in name or path.is_file()):
        return built_in_layout(name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(
            f"cannot read the layout file {name}: {reason}",
            hint="name a file with [system] and [user] sections",
        ) from error
    return parse_layout(text, name=path.stem, path=name)


def check_names(layouts: Sequence[Layout]) -> None:
    """Raise UsageError where two layouts have one name: samples are kept by it."""
    names = [layout.name for layout in layouts]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(
            f"two layouts are named {', '.join(sorted(twice))}", hint="rename the file of one of them"
        )


def read_rules(value: str) -> str:
    """The rules: ``value`` is the text itself, or the name of a file that holds it. Raises InputError."""
    try:
        is_file = Path(value).is_file()
    except (OSError, ValueError):
        is_file = False  # longer than any file name can be
    if not is_file:
        return value
    try:
        return Path(value).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read the rules in {value}", hint="give a UTF-8 text file, or the text itself"
        ) from error
