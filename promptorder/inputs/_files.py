"""The bytes of an input, from a file or from standard input."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from promptorder.errors import InputError

STANDARD_INPUT = "-"


def read_bytes(path: str, stdin: BinaryIO | None = None) -> bytes:
    """Read all bytes of the file ``path``; raises InputError where that cannot be done.

    ``-`` is ``stdin``, or the standard input of the process where that is None.
    """
    try:
        if path == STANDARD_INPUT:
            return (stdin or sys.stdin.buffer).read()
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"no such file: {path}", hint=neighbours(Path(path))) from None
    except IsADirectoryError:
        raise InputError(f"{path or '.'} is a folder, not a file", hint="name one file in it") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{shown(path)} cannot be read: {reason}", hint="check its permissions") from None
    except ValueError:  # a NUL in the name
        raise InputError(f"no such file: {path!r}", hint="check the name for stray characters") from None


def shown(path: str) -> str:
    """Name ``path`` as a message does."""
    return "standard input" if path == STANDARD_INPUT else path


def neighbours(path: Path, otherwise: str = "check the path, or give - to read standard input") -> str:
    """Write a hint: files beside ``path`` with names near its own, or what else to check."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    except OSError:
        return f"there is no folder {path.parent} either"
    # File names differ by case as often as by a letter
    by_lower = {name.lower(): name for name in names}
    near = get_close_matches(path.name.lower(), by_lower, n=3, cutoff=0.7)
    meant = " or ".join(str(path.with_name(by_lower[name])) for name in near)
    return f"did you mean {meant}?" if near else otherwise
