"""Logs for tests, and tokenizers whose counts can be told by looking."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptorder.inputs._trace_files import TraceFiles, open_trace
from promptorder.model.trace import TraceRequest
from promptorder.traces import TraceOptions


class Letters:
    """A token a character."""

    name = "letters"
    exact = False

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def packed(self, text: str) -> bytes:
        return text.encode("utf-32-le", "replace")


class WithBos(Letters):
    """The same with a token before the whole."""

    opening: tuple[int, ...] = (1,)
    closing: tuple[int, ...] = (2,)

    def packed(self, text: str) -> bytes:
        return array("I", [*self.opening, *map(ord, text), *self.closing]).tobytes()

    def encode(self, text: str) -> list[int]:
        return [*self.opening, *super().encode(text), *self.closing]

    def fragments(self, text: str) -> list[str]:
        return [text]

    def encode_fragment(self, fragment: str) -> Sequence[int]:
        return super().encode(fragment)


LETTERS = TraceOptions(tokenizer=Letters)


def jsonl(*values: object) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def written(folder: Path, data: bytes | str, name: str = "log.jsonl") -> str:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def opened(path: str | Sequence[str], options: TraceOptions = LETTERS) -> TraceFiles:
    return open_trace([path] if isinstance(path, str) else path, options)


def read(path: str | Sequence[str], options: TraceOptions = LETTERS) -> list[TraceRequest]:
    return list(opened(path, options).requests())


def text_of(request: TraceRequest, start: int = 0, end: int | None = None) -> str:
    """What stands in a request's tokens, by Letters."""
    return "".join(map(chr, request.ids[start:end]))


def blocks_of(request: TraceRequest) -> list[str]:
    """The text of each content block, the line of its role with it."""
    starts = (0, *request.block_ends)
    return [text_of(request, start, end) for start, end in zip(starts, request.block_ends, strict=False)]


def row(at_ms: float, ids: list[Any], tokens: int | None = None, **more: Any) -> dict[str, Any]:
    """A line of Mooncake's."""
    length = 512 * len(ids) - 1 if tokens is None else tokens
    return {"timestamp": at_ms, "input_length": length, "output_length": 7, "hash_ids": ids, **more}
