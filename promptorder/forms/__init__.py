"""The forms that prompts are kept in, one file each: from a file's text to prompts. Pure.

A module defines ``SUFFIXES`` (``.j2``, ...), ``NAMES`` (patterns of whole file names, such as ``Modelfile*``), ``PLAIN`` (true
where such a file is plainly a prompt; false where it may hold one), and ``prompts(source) -> Iterator[Prompt]``, which
yields the prompts in the order in which they stand and raises FormError where the file breaks its form.
"""

from __future__ import annotations

from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.forms", "form")


class FormError(Exception):
    """The text breaks its form at ``line`` (from 1, or None where no line can be named)."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
