"""Markdown, sent to the model as it is written: its marks are words to a model, front matter too."""

from __future__ import annotations

from promptorder.inputs._document import Source
from promptorder.inputs.text import read_as
from promptorder.model.source import SourceText

SUFFIXES = (".md", ".markdown")


def sniff(data: bytes) -> bool:
    """Never: no Markdown is plainly more than text, and text reads the same."""
    return False


def read(data: bytes, source: Source) -> SourceText:
    """Decode ``data``; raises InputError for a binary file and for one that holds no text."""
    return read_as("markdown", data, source)
