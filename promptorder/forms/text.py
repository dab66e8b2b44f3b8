"""Plain text: the file is the whole prompt, with whatever placeholders stand in it."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.forms._placeholders import split
from promptorder.model.lint import Prompt, Source

SUFFIXES = (".txt", ".text", ".prompt")
NAMES = ()
PLAIN = False


def prompts(source: Source) -> Iterator[Prompt]:
    """One prompt."""
    yield Prompt(tuple(split(source.text)))
