"""What a person hands in: a document and the questions about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document as plain text.

    ``path`` is what the user typed (``-`` for standard input). ``sha256`` is of the file's bytes.
    ``pages`` are the first-last pairs that were taken, counted from 1, or None where there are no pages
    or all were taken; ``page_count`` is how many the file has. ``notes`` are words for the reader, such
    as a page without text.
    """

    path: str
    form: str
    sha256: str
    text: str
    pages: tuple[tuple[int, int], ...] | None = None
    page_count: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What results and run files tell of a document: all but its text."""

    path: str
    form: str | None
    sha256: str
    characters: int
    pages: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def of(cls, document: SourceText) -> DocumentInfo:
        """The facts of a document."""
        return cls(document.path, document.form, document.sha256, len(document.text), document.pages)


@dataclass(frozen=True, slots=True)
class Question:
    """One question; ``expected`` is an answer to look for in the reply, where the file gives one."""

    text: str
    expected: str | None = None
