"""What a result of lint is printed as, one format a file.

A module defines ``SUMMARY`` (one sentence), ``render(result, style) -> str``, and where the format fills a page of a CI job,
``job_summary(result) -> str``.
"""

from typing import NamedTuple

from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.lint.formats", "format")


class Style(NamedTuple):
    """How a format for people is to look: columns to fill, ANSI colours, and whether to count by rule."""

    width: int = 80
    color: bool = False
    statistics: bool = False
