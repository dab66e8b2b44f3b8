"""Formats of a comparison, one file each.

A module defines ``SUMMARY``, ``SUFFIXES`` of files that hold this format, and two functions: ``render(run, *,
width, color) -> str`` for the result of ``compare``, and ``render_runs(runs, *, width, color) -> str`` for the
report on one or several. ``width`` is in columns, and both are ignored by formats for machines. A format
that needs a package which may be missing defines ``check()``, which raises UsageError where it is.
"""

from __future__ import annotations

from promptorder.errors import UsageError
from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.reports", "format")


def format_of(path: str) -> str:
    """The format that a file's name asks for; raises UsageError where it names none."""
    suffixes = {suffix: name for name, module in REGISTRY.load_all().items() for suffix in module.SUFFIXES}
    for suffix, name in suffixes.items():
        if path.lower().endswith(suffix):
            return name
    raise UsageError(
        f"the name {path} does not say which format it is",
        hint=f"end it in one of: {', '.join(sorted(suffixes))}",
    )


def check_format(name: str) -> None:
    """Find out, before anything is measured, that a format can be made; raises UsageError."""
    check = getattr(REGISTRY.load(name), "check", None)
    if check is not None:
        check()
