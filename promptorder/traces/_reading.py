"""One file as it is read: its lines as JSON objects, and the account of what could not be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from promptorder.errors import InputError
from promptorder.model.trace_input import FIRST_SKIPPED, FileReport, ReadReport, SkippedLine
from promptorder.traces import TraceOptions
from promptorder.traces._ids import IdSpace
from promptorder.traces._json import any_json, patient

if TYPE_CHECKING:
    from promptorder.traces._text import TextTokens

_LARGEST_DOCUMENT_BYTES = 512 << 20
_BROKEN = object()
Line = tuple[int, Any]
"""A line's number, from 1, and its bytes, or the JSON value that stands in its place."""


class Together:
    """What all files of a trace have in common."""

    def __init__(self, options: TraceOptions) -> None:
        self.options = options
        self.report = ReadReport()
        self.ids = IdSpace()
        self.several = False
        self.clock_s = 0.0
        self._tokens: TextTokens | None = None

    @property
    def tokens(self) -> TextTokens:
        """What texts become tokens by. Raises InputError where nobody said."""
        if self._tokens is None:
            from promptorder.traces._text import TextTokens

            if self.options.tokenizer is None:
                raise InputError("the trace holds texts, and no tokenizer is named", hint="name a tokenizer")
            self._tokens = TextTokens(self.options.tokenizer())
            self.report.tokenizer = self._tokens.name
            self.report.tokenizer_exact = self._tokens.exact
        return self._tokens


class Reading:
    """One file: ``sample`` are the first objects in it, ``number`` counts the files from 0."""

    def __init__(self, together: Together, file: FileReport, sample: Sequence[dict[str, Any]] = ()) -> None:
        self.together = together
        self.options = together.options
        self.report = together.report
        self.ids = together.ids
        self.file = file
        self.path = file.path
        self.sample = sample

    def skip(self, line: int, reason: str) -> None:
        """Count a line that cannot be used. Raises InputError where reading is strict."""
        if self.options.strict:
            raise InputError(
                f"{self.path}, line {line}: {reason}", hint="leave --strict out to skip such lines"
            )
        self.file.skipped_lines += 1
        if len(self.file.first_skipped) < FIRST_SKIPPED:
            self.file.first_skipped.append(SkippedLine(line, reason))

    def values(self, lines: Iterable[Line]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The JSON object of each line; what is none is skipped."""
        from orjson import loads

        for line, raw in lines:
            try:
                value = loads(raw)
            except ValueError:
                value = self._with_patience(line, raw) if isinstance(raw, bytes) else raw
            if type(value) is dict:
                yield line, value
            elif value is not _BROKEN:
                self.skip(line, "no JSON object")

    def objects(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The objects of a JSON text that goes over several lines, each with its number in the list."""
        text, size = [], 0
        for _, raw in lines:
            text.append(raw)
            size += len(raw)
            if size > _LARGEST_DOCUMENT_BYTES:
                self.skip(
                    1,
                    f"one JSON text of more than {_LARGEST_DOCUMENT_BYTES >> 20} MiB; write an object a line",
                )
                return
        try:
            value = any_json(b"\n".join(text))
        except ValueError as error:
            self.skip(1, f"not JSON: {error}")
            return
        if isinstance(value, list):
            yield from enumerate(value, 1)
        else:
            yield 1, value

    def _with_patience(self, line: int, raw: bytes) -> object:
        """The value of a line that strict JSON does not allow, or ``_BROKEN`` where it cannot be had, which is counted."""
        try:
            return patient(raw)
        except ValueError as error:
            self.skip(line, f"not JSON: {error}")
            return _BROKEN
