"""The header of a GGUF model file, read without loading the model."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Container
from pathlib import Path
from typing import Any

from promptorder.tokenizers import Vocabulary

MAGIC = b"GGUF"

Value = str | int | float | bool
_ARRAYS = frozenset(f"tokenizer.ggml.{name}" for name in ("tokens", "token_type", "scores", "merges"))

_STRING, _ARRAY = 8, 9
_FIXED = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), [f"<{code}" for code in "BbHhIif?Qqd"], strict=True))
"""The struct format of each value type of a fixed size, by its number in the file."""


def read_header(path: Path) -> dict[str, Value]:
    """The metadata of a GGUF file of version 2 or 3, without its arrays (the vocabulary is one).

    Raises ValueError, a sentence why, for a file that is none or is damaged, and OSError.
    """
    return _header(path, ())


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of a model file; 262,144 tokens take about 0.1 s. Raises as ``read_header`` does."""
    header = _header(path, _ARRAYS)
    if not header.get("tokenizer.ggml.tokens"):
        raise ValueError(f"{path} holds no vocabulary")
    return vocabulary_of(header)


def vocabulary_of(metadata: dict[str, Any]) -> Vocabulary:
    """The vocabulary in the metadata of a model, with its arrays."""

    def told(name: str, default: Any = None) -> Any:
        value = metadata.get(f"tokenizer.ggml.{name}")
        return default if value is None else value

    return Vocabulary(
        model=str(told("model", "")),
        pre=str(told("pre", "")),
        tokens=told("tokens", ()),
        types=told("token_type", ()),
        scores=told("scores", ()),
        merges=told("merges", ()),
        bos=told("bos_token_id"),
        eos=told("eos_token_id"),
        unknown=told("unknown_token_id"),
        add_bos=told("add_bos_token"),
        add_eos=told("add_eos_token"),
        add_space_prefix=told("add_space_prefix"),
    )


def _header(path: Path, arrays: Container[str]) -> dict[str, Any]:
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise ValueError(f"{path} is not a GGUF file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _read(data, arrays)
            except (struct.error, KeyError, UnicodeDecodeError) as error:
                raise ValueError(f"the header of {path} is damaged or of an unknown kind") from error


def _read(data: mmap.mmap, arrays: Container[str]) -> dict[str, Any]:
    version, _tensors, pairs = struct.unpack_from("<IQQ", data, 4)
    if version not in (2, 3):
        raise KeyError(version)
    header: dict[str, Any] = {}
    at = 24
    for _ in range(pairs):
        key, at = _string(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        at += 4
        if kind == _ARRAY and key in arrays:
            header[key], at = _array(data, at)
        elif kind == _ARRAY:
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


def _array(data: mmap.mmap, at: int) -> tuple[list[Any], int]:
    """The values of an array of numbers or texts; a text that is no UTF-8 keeps its bytes as half surrogates."""
    kind, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if kind in _FIXED:
        code = f"<{count}{_FIXED[kind][1]}"
        return list(struct.unpack_from(code, data, at)), at + struct.calcsize(code)
    if kind != _STRING:
        raise KeyError(kind)
    texts = []
    length_at = struct.Struct("<Q").unpack_from
    for _ in range(count):
        end = at + 8 + length_at(data, at)[0]
        texts.append(data[at + 8 : end].decode("utf-8", "surrogateescape"))
        at = end
    return texts, at


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
