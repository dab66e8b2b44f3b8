"""Bytes to text: which encoding, and what is no text at all."""

from __future__ import annotations

import re

from promptorder.errors import InputError
from promptorder.inputs._files import shown
from promptorder.inputs._marks import MARKS

_FALLBACK = "cp1252"
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

_TO_PDF = "convert it to PDF or text first, for example: soffice --headless --convert-to pdf FILE"
_UNPACK = "unpack it and name the file that is meant"
_TEXT_WANTED = "a text file is wanted here"
_SIGNATURES = (
    (b"%PDF-", "a PDF", "if it is the document, give it a name that ends in .pdf"),
    (b"{\\rtf", "an RTF document", _TO_PDF),
    (b"\xd0\xcf\x11\xe0", "an old Office document", _TO_PDF),
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"BZh91AY", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (b"7z\xbc\xaf", "a 7-Zip archive", _UNPACK),
    (b"\x89PNG", "a PNG image", "an image needs text recognition (OCR) first"),
    (b"\xff\xd8\xff", "a JPEG image", "an image needs text recognition (OCR) first"),
    (b"GIF8", "a GIF image", "an image needs text recognition (OCR) first"),
    (b"GGUF", "a GGUF model", _TEXT_WANTED),
    (b"SQLite format 3\x00", "an SQLite database", _TEXT_WANTED),
)
_MARKUP = (b"%PDF-", b"{\\rtf")  # these can pass for text
_IN_ZIP = (
    (b"word/", "a Word document (docx, a zip archive)", _TO_PDF),
    (b"xl/", "an Excel workbook (xlsx, a zip archive)", _TO_PDF),
    (b"ppt/", "a PowerPoint presentation (pptx, a zip archive)", _TO_PDF),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file (a zip archive)", _TO_PDF),
    (b"application/epub+zip", "an EPUB book (a zip archive)", _TO_PDF),
)


def decode(data: bytes, path: str, *, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    r"""Turn ``data`` into text with ``\n`` at the ends of its lines, and notes on how it was read.

    A byte order mark decides; then UTF-8, then the encoding that the content has ``declared``, then
    cp1252 with a note. ``path`` is for messages. Raises InputError where ``data`` is no text and says
    what it looks like.
    """
    text, encoding = _decoded(data, path, declared)
    if "\x00" in text or (encoding == _FALLBACK and is_binary(text, data)):
        raise _not_text(data, path)
    notes = () if encoding != _FALLBACK else (f"read as {_FALLBACK}, for it is not UTF-8",)
    return without_surrogates(text).replace("\r\n", "\n").replace("\r", "\n"), notes


def without_surrogates(text: str) -> str:
    """Drop lone surrogates, which no encoding can send; a whole pair becomes its character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _decoded(data: bytes, path: str, declared: str | None) -> tuple[str, str]:
    for mark, encoding in MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{shown(path)} is marked as {encoding.upper()} but is not: "
                    f"byte {error.start + len(mark)} is wrong",
                    hint="save it as UTF-8",
                ) from None
    if data.startswith(_MARKUP):
        raise _not_text(data, path)
    for encoding in ("utf-8", declared or _FALLBACK):
        try:
            return data.decode(encoding), encoding
        except (LookupError, ValueError):  # not in this encoding, or there is none of this name
            continue
    return data.decode(_FALLBACK, "replace"), _FALLBACK


def is_binary(text: str, data: bytes) -> bool:
    """Whether what only the fallback could read is no text, because anything can be read so."""
    return _CONTROL.search(text) is not None or data.startswith(tuple(mark for mark, _, _ in _SIGNATURES))


def _not_text(data: bytes, path: str) -> InputError:
    looks, hint = looks_like(data)
    return InputError(f"{shown(path)} is not text: it looks like {looks}", hint=hint)


def looks_like(data: bytes) -> tuple[str, str]:
    """Say what ``data`` looks like, and what to do with it."""
    if data.startswith(b"PK\x03\x04"):
        for name, looks, hint in _IN_ZIP:
            if name in data:
                return looks, hint
        return "a zip archive", _UNPACK
    for signature, looks, hint in _SIGNATURES:
        if data.startswith(signature):
            return looks, hint
    for nul_at, encoding in ((1, "UTF-16LE"), (0, "UTF-16BE")):
        # Western text in UTF-16 has a NUL at every other place
        if data[nul_at::2].count(0) > len(data) // 4 and 0 not in data[1 - nul_at :: 2]:
            return (
                f"{encoding} text without a byte order mark",
                f"save it as UTF-8, for example: iconv -f {encoding} -t UTF-8 FILE",
            )
    return "a binary file", _TEXT_WANTED
