"""A document of any form, read into plain text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from types import ModuleType
from typing import BinaryIO

from promptorder.errors import UsageError
from promptorder.inputs._files import read_bytes, shown
from promptorder.inputs._pages import Ranges, parse_pages
from promptorder.model.source import SourceText
from promptorder.plugins import Registry

INPUTS = Registry("promptorder.inputs", "input form")


@dataclass(frozen=True, slots=True)
class Source:
    """What a reader is told beside the bytes.

    ``path`` is as typed. ``pages`` are first-last pairs counted from 1, a last page may be
    ``LAST_PAGE``; None is all of them. ``password`` opens an encrypted document.
    """

    path: str
    pages: Ranges | None = None
    password: str | None = None


def read_document(
    path: str, *, pages: str | None = None, password: str | None = None, stdin: BinaryIO | None = None
) -> SourceText:
    """Read the document ``path``, or standard input where it is ``-``.

    The suffix tells the form, else the content does. ``pages`` is a range such as ``20-31,40``,
    ``password`` opens an encrypted PDF. Raises InputError where the document cannot be read or holds no
    text, UsageError for a malformed ``pages`` or one for a form that has no pages.
    """
    wanted = None if pages is None else parse_pages(pages)
    data = read_bytes(path, stdin)
    name, reader = _form(path, data)
    read: SourceText = reader.read(data, Source(path, wanted, password))
    if wanted is not None and read.page_count is None:
        raise UsageError(
            f"--pages is for documents that have pages, and {shown(path)} is read as {name}",
            hint="leave --pages away",
        )
    return read


def readers() -> dict[str, ModuleType]:
    """Import the forms that a document can have; others in the package are for the linter."""
    return {name: module for name, module in INPUTS.load_all().items() if hasattr(module, "read")}


def _form(path: str, data: bytes) -> tuple[str, ModuleType]:
    forms = readers()
    suffix = PurePath(path).suffix.lower()
    for name, module in forms.items():
        if suffix in module.SUFFIXES:
            return name, module
    for name, module in forms.items():
        if name != "text" and module.sniff(data):
            return name, module
    return "text", forms["text"]
