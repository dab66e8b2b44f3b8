"""The header of a GGUF model file, read without loading the model."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

MAGIC = b"GGUF"

Value = str | int | float | bool

_STRING, _ARRAY = 8, 9
_FIXED = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), [f"<{code}" for code in "BbHhIif?Qqd"], strict=True))
"""The struct format of each value type of a fixed size, by its number in the file."""


def read_header(path: Path) -> dict[str, Value]:
    """The metadata of a GGUF file of version 2 or 3, without its arrays (the vocabulary is one).

    Raises ValueError, a sentence why, for a file that is none or is damaged, and OSError.
    """
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise ValueError(f"{path} is not a GGUF file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _read(data)
            except (struct.error, KeyError, UnicodeDecodeError) as error:
                raise ValueError(f"the header of {path} is damaged or of an unknown kind") from error


def _read(data: mmap.mmap) -> dict[str, Value]:
    version, _tensors, pairs = struct.unpack_from("<IQQ", data, 4)
    if version not in (2, 3):
        raise KeyError(version)
    header: dict[str, Value] = {}
    at = 24
    for _ in range(pairs):
        key, at = _string(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        at += 4
        if kind == _ARRAY:
            at = _after_array(data, at)
        elif kind == _STRING:
            header[key], at = _string(data, at)
        else:
            (header[key],) = struct.unpack_from(_FIXED[kind], data, at)
            at += struct.calcsize(_FIXED[kind])
    return header


def _string(data: mmap.mmap, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, at)
    end = at + 8 + length
    if end > len(data):
        raise struct.error("a string ends behind the file")
    return data[at + 8 : end].decode(), end


def _after_array(data: mmap.mmap, at: int) -> int:
    kind, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if kind in _FIXED:
        return at + int(count) * struct.calcsize(_FIXED[kind])
    if kind not in (_STRING, _ARRAY):
        raise KeyError(kind)
    for _ in range(count):
        at = _after_array(data, at) if kind == _ARRAY else at + 8 + struct.unpack_from("<Q", data, at)[0]
    return at
