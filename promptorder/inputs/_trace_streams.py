"""The lines of a log of any size: compressed or not, from a file or standard input, in bounded memory."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from promptorder.errors import InputError
from promptorder.inputs._files import STANDARD_INPUT, neighbours

LONGEST_LINE_BYTES = 256 << 20
"""A longer line is skipped: its JSON would take several times as much memory."""
_CHUNK_BYTES = 1 << 20
_COMPRESSED_BYTES = 1 << 18
_OUT_BYTES = 1 << 16
"""What a damaged place costs of the text before it, where the format has no larger blocks of its own."""
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"
_BOM_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class BrokenStreamError(Exception):
    """A file breaks off, or cannot be read on; the message says how."""


def lines(
    chunks: Iterable[bytes], skip: Callable[[int, str], None]
) -> Generator[tuple[int, bytes], None, None]:
    """Each line that is not blank with its number, from 1, without its end.

    One that is too long is given to ``skip``. Where ``chunks`` raises BrokenStreamError, so does this, behind the last whole line.
    """
    number, size = 1, 0
    rest: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        size += len(first)
        if size <= LONGEST_LINE_BYTES:
            rest.append(first)
        else:
            rest.clear()
        if not others:
            continue
        if size > LONGEST_LINE_BYTES:
            skip(number, f"the line is longer than {LONGEST_LINE_BYTES >> 20} MiB")
        else:
            line = b"".join(rest) if len(rest) > 1 else first
            if line and not line.isspace():
                yield number, line
        last = others.pop()
        for line in others:
            number += 1
            if line and not line.isspace():
                yield number, line
        number += 1
        rest, size = [last], len(last)
    if size > LONGEST_LINE_BYTES:
        skip(number, f"the line is longer than {LONGEST_LINE_BYTES >> 20} MiB")
    line = b"".join(rest)
    if line and not line.isspace():
        yield number, line


def chunks(path: str, stdin: BinaryIO | None = None) -> Iterator[bytes]:
    """The bytes of a file, decompressed by what it begins with, as UTF-8 without a mark.

    Raises InputError where it cannot be opened, and BrokenStreamError where it breaks off.
    """
    file = (stdin or sys.stdin.buffer) if path == STANDARD_INPUT else _open(path)
    try:
        yield from _utf8(_inflated(_raw(file)))
    finally:
        if path != STANDARD_INPUT:
            file.close()


def _open(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise InputError(f"no such file: {path}", hint=neighbours(Path(path))) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}", hint="check its permissions") from None
    except ValueError:  # a NUL in the name
        raise InputError(f"no such file: {path!r}", hint="check the name for stray characters") from None


def _raw(file: BinaryIO) -> Iterator[bytes]:
    try:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
    except OSError as error:
        raise BrokenStreamError((error.strerror or str(error)).lower()) from None


def _inflated(raw: Iterator[bytes]) -> Iterator[bytes]:
    first = next(raw, b"")
    while 0 < len(first) < 6 and (more := next(raw, b"")):  # a pipe may give a byte at a time
        first += more
    kind = _kind(first)
    if kind is None:
        yield first
        yield from raw
        return
    name, make = kind
    inflater, begun = make(), False
    for data in _pieces(first, raw):
        waiting = data
        while True:
            if not begun:
                waiting = waiting.lstrip(b"\0")  # padding between members
                if not waiting:
                    break
            begun = True
            try:
                out = inflater.decompress(waiting, _OUT_BYTES)
            except Exception as error:  # each library has a type of its own
                raise BrokenStreamError(f"its {name} stream is damaged ({error})") from None
            if out:
                yield out
            waiting = b""
            if inflater.eof:
                waiting = inflater.unused_data
                inflater, begun = make(), False
                if len(waiting) >= 6 and _kind(waiting.lstrip(b"\0")[:6].ljust(6)) is None:
                    return  # what stands behind a stream is no part of it
            elif inflater.needs_input and not out:
                break
    if begun:
        raise BrokenStreamError(f"its {name} stream breaks off")


def _pieces(first: bytes, raw: Iterator[bytes]) -> Iterator[bytes]:
    """Smaller pieces, so that what comes out of one is bounded too."""
    for data in chain((first,), raw):
        yield from (data[at : at + _COMPRESSED_BYTES] for at in range(0, len(data), _COMPRESSED_BYTES))


class _Gzip:
    """zlib's decompressor with the manners of the others."""

    def __init__(self) -> None:
        import zlib

        self._inflater = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflater.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inflater.decompress(self._inflater.unconsumed_tail + data, max_length)


def _kind(head: bytes) -> tuple[str, Callable[[], Any]] | None:
    """How a file is compressed, by its first bytes."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip", _Gzip
    if head.startswith(b"BZh"):
        import bz2

        return "bzip2", bz2.BZ2Decompressor
    if head.startswith(b"\xfd7zXZ\0"):
        import lzma

        return "xz", lzma.LZMADecompressor
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == _ZSTD_SKIPPABLE and head[0] >> 4 == 5):
        return "zstd", _zstd()
    return None


def _zstd() -> Callable[[], Any]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor


def _utf8(found: Iterator[bytes]) -> Iterator[bytes]:
    first = next(found, b"")
    while 0 < len(first) < 3 and (more := next(found, b"")):
        first += more
    if first.startswith(_BOM_16):  # PowerShell writes what is redirected with > so
        decode = codecs.getincrementaldecoder("utf-16")("replace").decode
        yield decode(first).encode("utf-8", "replace")
        for chunk in found:
            yield decode(chunk).encode("utf-8", "replace")
        return
    yield first.removeprefix(codecs.BOM_UTF8)
    yield from found
