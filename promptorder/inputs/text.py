"""Plain text, and whatever no other reader claims."""

from __future__ import annotations

from hashlib import sha256

from promptorder.errors import InputError
from promptorder.inputs._decode import decode
from promptorder.inputs._document import Source
from promptorder.inputs._files import shown
from promptorder.model.source import SourceText

SUFFIXES = (".txt", ".text")


def sniff(data: bytes) -> bool:
    """Whether ``data`` is text of some encoding."""
    try:
        decode(data, "")
    except InputError:
        return False
    return True


def read(data: bytes, source: Source) -> SourceText:
    """Decode ``data``; raises InputError for a binary file and for one that holds no text."""
    return read_as("text", data, source)


def read_as(form: str, data: bytes, source: Source) -> SourceText:
    """As ``read``, for another form that is sent to the model as it is written."""
    text, notes = decode(data, source.path)
    if not text.strip():
        raise InputError(f"{shown(source.path)} holds no text")
    return SourceText(source.path, form, sha256(data).hexdigest(), text, notes=notes)
