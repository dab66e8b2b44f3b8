"""The part of a server's log that was written since a moment, whatever became of the file meanwhile."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from promptorder.errors import InputError
from promptorder.inputs._files import neighbours

_FINGERPRINT_BYTES = 512
_CHUNK_BYTES = 1 << 16
_LONGEST_LINE = 1 << 16
"""The rest of a longer line is passed over: a debug log holds whole documents in one."""

_WHERE = "name the file that the server writes its log to; docs/server-log.md says where that is"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a log: which file, how long it was, and the last bytes before."""

    path: Path
    device: int
    inode: int
    size: int
    before: bytes
    encoding: str


class Part(NamedTuple):
    """Lines of a log; ``complete`` is False where some that were written may be gone."""

    lines: Iterator[str]
    complete: bool


def mark(path: Path) -> Mark:
    """Remember where the log ends now. Raises InputError where it is missing or cannot be read."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise InputError(f"{path} is a folder, not a server's log", hint="name the file in it")
        if not stat.S_ISREG(kind):  # opening a pipe would wait for ever
            raise InputError(f"{path} is not a file", hint="let the server's log go to a file, and name that")
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            head = file.read(2)
            file.seek(max(0, state.st_size - _FINGERPRINT_BYTES))
            before = file.read(min(_FINGERPRINT_BYTES, state.st_size))
    except FileNotFoundError:
        raise InputError(f"no such server log: {path}", hint=neighbours(path, _WHERE)) from None
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError:  # a NUL in the name
        raise InputError(
            f"no such server log: {str(path)!r}", hint="check the name for stray characters"
        ) from None
    return Mark(path, state.st_dev, state.st_ino, state.st_size, before, _encoding(head))


def since(place: Mark) -> Part:
    """What was written behind a mark: in the file, or, where it was rotated, in the old and then the new one.

    A file that was cut is read from its start, one that is gone gives nothing. Raises InputError where the file is there
    and cannot be read.
    """
    try:
        state = place.path.stat()
    except OSError:
        old = _moved(place)
        return Part(_lines([(old, place.size)] if old else [], place.encoding), complete=False)
    if (state.st_dev, state.st_ino) == (place.device, place.inode):
        if _is_as_it_was(place.path, place):
            return Part(_lines([(place.path, place.size)], place.encoding), complete=True)
        return Part(_lines([(place.path, 0)], place.encoding), complete=False)
    old = _moved(place)
    files = [(old, place.size)] if old else []
    return Part(_lines([*files, (place.path, 0)], place.encoding), complete=old is not None)


def _unreadable(path: Path, error: OSError) -> InputError:
    reason = (error.strerror or str(error)).lower()
    return InputError(f"the server log {path} cannot be read: {reason}", hint="check its permissions")


def _moved(place: Mark) -> Path | None:
    """The marked file under its new name, in the same folder."""
    try:
        for entry in os.scandir(place.path.parent):
            state = entry.stat(follow_symlinks=False)  # of the entry itself it lacks the inode on Windows
            if not entry.is_file(follow_symlinks=False) or not state.st_size:
                continue
            if not state.st_ino:
                state = Path(entry.path).stat()
            if (state.st_dev or place.device, state.st_ino) == (place.device, place.inode):
                moved = Path(entry.path)
                return moved if _is_as_it_was(moved, place) else None
    except OSError:
        pass
    return None


def _is_as_it_was(path: Path, place: Mark) -> bool:
    """Whether all that stood before the mark still stands there: a file may be cut and grow again."""
    try:
        with path.open("rb") as file:
            file.seek(place.size - len(place.before))
            return file.read(len(place.before)) == place.before
    except OSError:
        return False


def _encoding(head: bytes) -> str:
    # PowerShell writes what is redirected with > in UTF-16
    return {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}.get(head, "utf-8")


def _lines(files: list[tuple[Path, int]], encoding: str) -> Iterator[str]:
    for path, start in files:
        try:
            file = path.open("rb")
        except FileNotFoundError:
            continue
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(
                f"the server log {path} cannot be read: {reason}", hint="check its permissions"
            ) from None
        with file:
            file.seek(start)
            yield from _decoded(file, encoding)


def _decoded(file: BinaryIO, encoding: str) -> Iterator[str]:
    decode = codecs.getincrementaldecoder(encoding)("replace").decode
    rest = ""
    while chunk := file.read(_CHUNK_BYTES):
        *lines, rest = (rest + decode(chunk)).split("\n")
        yield from lines
        rest = rest[:_LONGEST_LINE]
    if rest := rest + decode(b"", True):
        yield rest
