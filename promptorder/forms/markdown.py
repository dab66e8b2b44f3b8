"""Markdown: as text, but front matter is not sent, and documentation about placeholders is not one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.forms._placeholders import split
from promptorder.model.lint import Prompt, Source

SUFFIXES = (".md", ".markdown")
NAMES = ()
PLAIN = False
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def prompts(source: Source) -> Iterator[Prompt]:
    """One prompt: all below the front matter."""
    start = body_start(source.text)
    yield Prompt(tuple(split(source.text[start:], start)))


def body_start(text: str) -> int:
    """Where the text below YAML front matter begins; 0 without any."""
    match = _FRONT_MATTER.match(text)
    return match.end() if match else 0
