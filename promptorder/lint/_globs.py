"""Patterns of paths as people write them in .gitignore and pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Sequence


class Globs:
    """Patterns that are tried together.

    One without a slash matches a name anywhere, one with a slash is read from the root; ``**`` crosses folders. A pattern
    that matches a folder matches all that is in it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        joined = "|".join(f"({_translate(pattern)})" for pattern in self.patterns)
        self._matcher = re.compile(joined) if joined else None

    def match(self, path: str) -> str:
        """The first pattern that matches a path with forward slashes, or an empty text."""
        found = self._matcher.fullmatch(path) if self._matcher else None
        return self.patterns[found.lastindex - 1] if found and found.lastindex else ""


def _translate(pattern: str) -> str:
    core = pattern.removeprefix("./").rstrip("/")
    parts = [] if "/" in core else ["(?:.*/)?"]
    core = core.removeprefix("/")
    at = 0
    while at < len(core):
        if core.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
        elif core.startswith("**", at):
            parts.append(".*")
            at += 2
        elif core[at] == "[" and (end := core.find("]", at + 2)) > 0:
            inside = core[at + 1 : end].replace("\\", r"\\").replace("[", r"\[")
            parts.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
            at = end + 1
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(core[at]) or re.escape(core[at]))
            at += 1
    return "".join(parts) + "(?:/.*)?"
