"""PDF, as the text that pypdf finds on its pages."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING

from promptorder.errors import InputError, PromptorderError
from promptorder.inputs._decode import without_surrogates
from promptorder.inputs._document import Source
from promptorder.inputs._files import STANDARD_INPUT, shown
from promptorder.inputs._pages import as_ranges, format_pages, within
from promptorder.model.source import SourceText

if TYPE_CHECKING:
    from pypdf import PdfReader

SUFFIXES = (".pdf",)

_MARK = b"%PDF-"
_MARK_WITHIN_BYTES = 1024  # readers have always put up with some bytes before it
_BETWEEN_PAGES = "\n\n"


def sniff(data: bytes) -> bool:
    """Whether ``data`` starts as a PDF does."""
    return data.startswith(_MARK)


def read(data: bytes, source: Source) -> SourceText:
    """Extract the pages that ``source`` names and no others, a blank line between them.

    Raises InputError for a file that is broken, encrypted or without text, and for a page outside it.
    """
    name = shown(source.path)
    with _quiet(), _broken(f"{name} cannot be read as a PDF"):
        reader = _open(data, source.password, name)
        page_count = len(reader.pages)
    if not page_count:
        raise InputError(f"{name} is a PDF without pages")
    ranges = None if source.pages is None else within(source.pages, page_count, source.path)
    texts: dict[int, str] = {}
    numbers = [number for first, last in ranges or [(1, page_count)] for number in range(first, last + 1)]
    for number in numbers:
        if number not in texts:
            with _quiet(), _broken(f"page {number} of {name} cannot be read"):
                texts[number] = _clean(reader.pages[number - 1].extract_text())
    return SourceText(
        path=source.path,
        form="pdf",
        sha256=sha256(data).hexdigest(),
        text=_BETWEEN_PAGES.join(texts[number] for number in numbers if texts[number]),
        pages=ranges,
        page_count=page_count,
        notes=_on_empty_pages(texts, source),
    )


def _open(data: bytes, password: str | None, name: str) -> PdfReader:
    from pypdf import PdfReader

    if not data:
        raise InputError(f"{name} is empty")
    if _MARK not in data[:_MARK_WITHIN_BYTES]:
        raise InputError(f"{name} is not a PDF: it does not start with {_MARK.decode()}")
    # Opens an empty user password by itself, as printed-only documents have it
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not _decrypted(reader, password):
        wrong = "the password does not open it" if password else "it needs a password"
        raise InputError(f"{name} is encrypted, and {wrong}", hint="give its password: --password PASSWORD")
    return reader


def _decrypted(reader: PdfReader, password: str | None) -> bool:
    from pypdf import PasswordType

    for attempt in (password, ""):
        try:
            if attempt is not None and reader.decrypt(attempt) != PasswordType.NOT_DECRYPTED:
                return True
        except UnicodeError:  # older encryption has no way to write such a password
            continue
    return False


def _clean(text: str) -> str:
    return without_surrogates(text.replace("\x00", "")).strip()


def _on_empty_pages(texts: dict[int, str], source: Source) -> tuple[str, ...]:
    """Note which pages have no text; raises InputError where that is every page."""
    empty = sorted(number for number, text in texts.items() if not text)
    if not empty:
        return ()
    which = "page " if len(empty) == 1 else "pages "
    which += format_pages(as_ranges(empty)).replace(",", ", ")
    if len(empty) < len(texts):
        return (f"{which} without text: an image or blank",)
    named = shown(source.path) if source.pages is None else f"{which} of {shown(source.path)}"
    file = "in.pdf" if source.path == STANDARD_INPUT else shlex.quote(source.path)
    raise InputError(
        f"{named}: no text, the pages are images (or blank) and need text recognition (OCR) first",
        hint=f"ocrmypdf {file} out.pdf",
    )


@contextmanager
def _broken(message: str) -> Iterator[None]:
    """Whatever a broken file provokes in pypdf, KeyError and RecursionError too, becomes an InputError."""
    try:
        yield
    except PromptorderError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"{message}: {why}", hint="if other programs show it, print it to a new PDF there and use that"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without pypdf's warnings, which are about repairs that it made."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
