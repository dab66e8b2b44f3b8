"""Files that are written: whole or not at all, so that what was there stays until the new one is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from promptorder.errors import OutputError


def check_writable(path: Path) -> None:
    """Find out that a file can be written, without changing it; raises OutputError."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder", hint="name a file in it")
    if path.exists() and not path.is_file():
        return  # a pipe or a device
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        os.close(handle)
        Path(temporary).unlink()
    except OSError as error:
        raise cannot_write(path, error) from error


def write_atomically(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises OutputError."""
    with written_whole(path) as file:
        file.write(text)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[IO[str]]:
    """A file to write bit by bit, there under its name when all is written; after an error it is as it was before.

    Raises OutputError.
    """
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes the file for its owner alone; a report is for whoever may read the folder.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
        temporary = None
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


@contextlib.contextmanager
def output(path: Path) -> Iterator[IO[str]]:
    """A file that is written whole or not at all, or what is there already and is no file, such as a pipe."""
    if not path.exists() or path.is_file():
        with written_whole(path) as file:
            yield file
        return
    try:
        with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            yield file
    except OSError as error:
        raise cannot_write(path, error) from error


def write_output(path: Path, text: str) -> None:
    """Write a text to ``output(path)``."""
    with output(path) as file:
        file.write(text)


def append(path: Path, text: str) -> None:
    """Write at the end of a file; raises OutputError."""
    try:
        with path.open("a", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise cannot_write(path, error) from error


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Let one process at a time read and write again what is in a folder; where there are no locks, do without."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows, or writing will say what is wrong
        yield
        return
    try:
        # Some file systems know no locks: then the last writer wins.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def cannot_write(path: Path, error: OSError) -> OutputError:
    """The error for a file that cannot be written, with what to do about it."""
    hint = "choose another place with --out"
    if not path.parent.is_dir():
        hint = f"there is no folder {path.parent}: make it, or {hint}"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = f"free some space, or {hint}"
    return OutputError(f"cannot write {path}: {error.strerror or error}", hint=hint)
