"""What a replayed trace is shown as, one format a file.

A module defines ``SUMMARY``, ``SUFFIXES`` of files that hold this format, and ``render(result, *, width, color) -> str``; ``width``
is in columns. A format that needs a package which may be missing defines ``check()``, which raises UsageError where it is.
"""

from __future__ import annotations

from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.reports._trace", "format")


def format_of(path: str) -> str | None:
    """The format that a file's name asks for, None where it names none."""
    modules = REGISTRY.load_all()
    return next((name for name, module in modules.items() if path.lower().endswith(module.SUFFIXES)), None)
