"""Where a trace's lines come from: a file, standard input, or a folder of bodies that Ollama kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from promptorder.errors import InputError
from promptorder.inputs._files import STANDARD_INPUT, shown
from promptorder.inputs._trace_streams import BrokenStreamError, chunks, lines
from promptorder.model.trace import TraceRequest
from promptorder.model.trace_input import FileReport

_SAMPLE_LINES, _SAMPLE_BYTES = 5000, 2 << 20
"""A server says much of its model before it says anything of a prompt."""
_SAMPLE_BODIES = 50
_OLLAMA_BODY = re.compile(r"(\d{8}T\d{6}\.\d{6})\d{3}Z-\d+_\w+_body\.json")
_ENDINGS = (".json", ".jsonl", ".ndjson", ".log", ".csv", ".gz", ".zst", ".bz2", ".xz")
Skip = Callable[[int, str], None]


def can_be_read_again(paths: Sequence[str]) -> bool:
    """Whether none of them is a pipe or the like, which gives what it holds only once."""
    files = (Path(path) for path in paths)
    return STANDARD_INPUT not in paths and all(
        file.is_file() or file.is_dir() or not file.exists() for file in files
    )


class Source:
    """A file, or standard input. ``named`` tells a file that was asked for from one that a folder holds."""

    def __init__(self, path: str, stdin: BinaryIO | None, *, named: bool) -> None:
        self.path, self.named = path, named
        self.report = FileReport(shown(path))
        self._stdin = stdin
        # What cannot be opened twice is kept open, with the lines that were looked at
        self._once = path == STANDARD_INPUT or not Path(path).is_file()
        self._looked: list[tuple[int, bytes]] = []
        self._open: Generator[tuple[int, bytes], None, None] | None = None

    def sample(self) -> list[bytes]:
        """The first lines. Raises InputError where the file cannot be opened."""
        opened = lines(chunks(self.path, self._stdin), lambda line, reason: None)
        looked, size = [], 0
        try:
            for line in opened:
                looked.append(line)
                size += len(line[1])
                if len(looked) >= _SAMPLE_LINES or size >= _SAMPLE_BYTES:
                    break
        except BrokenStreamError as error:
            self.report.cut = str(error)
        if self._once:
            self._open, self._looked = opened, looked
        else:
            opened.close()
        return [raw for _, raw in looked]

    def lines(self, skip: Skip, *, strict: bool = False) -> Iterator[tuple[int, bytes]]:
        """All lines with their numbers; where the file breaks off, the whole ones before that.

        Raises InputError there where reading is ``strict``.
        """
        number = 0
        opened: Iterable[tuple[int, bytes]] = self._open or lines(chunks(self.path, self._stdin), skip)
        looked, self._looked = self._looked, []
        try:
            for number, raw in looked:
                yield number, raw
            for number, raw in opened:
                yield number, raw
            broken = self.report.cut
        except BrokenStreamError as error:
            broken = str(error)
        if broken:
            self.report.cut = f"{broken} after line {number:,}"
            if strict:
                raise InputError(
                    f"{self.report.path}: {self.report.cut}",
                    hint="leave --strict out to use what stands before",
                )

    def settle(self, request: TraceRequest) -> TraceRequest:
        """Put right where a request stands."""
        return request


class OllamaFolder(Source):
    """The folder in which Ollama keeps the bodies of requests (``OLLAMA_DEBUG_LOG_REQUESTS``), a file each.

    Their names say when each was answered, in what order, and by which route.
    """

    def __init__(self, folder: str, names: Sequence[str]) -> None:
        super().__init__(folder, None, named=True)
        self._names = names

    def sample(self) -> list[bytes]:
        """The first bodies."""
        return [raw for _, raw in self._bodies(self._names[:_SAMPLE_BODIES])]

    def lines(self, skip: Skip, *, strict: bool = False) -> Iterator[tuple[int, bytes]]:
        """A line a body, with the time in an envelope."""
        return self._bodies(self._names)

    def settle(self, request: TraceRequest) -> TraceRequest:
        """Name the body's own file."""
        request.path, request.line = str(Path(self.path, self._names[request.line - 1])), 1
        return request

    def _bodies(self, names: Sequence[str]) -> Iterator[tuple[int, bytes]]:
        for number, name in enumerate(names, 1):
            at = datetime.strptime(name[:22], "%Y%m%dT%H%M%S.%f")
            body = b"".join(chunks(str(Path(self.path, name))))
            yield number, b'{"ts":"%sZ","api":"ollama","request":%s}' % (at.isoformat().encode(), body)


def sources(paths: Sequence[str], stdin: BinaryIO | None) -> Iterator[Source]:
    """A source for each file, each file of a folder, and each folder of Ollama's bodies."""
    for path in paths:
        if path == STANDARD_INPUT or not Path(path).is_dir():
            yield Source(path, stdin, named=True)
        else:
            yield from _of_folder(path)


def _of_folder(folder: str) -> Iterator[Source]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{folder} cannot be read: {reason}", hint="check its permissions") from None
    bodies = [name for name in names if _OLLAMA_BODY.fullmatch(name)]
    if bodies:
        yield OllamaFolder(folder, bodies)
        return
    found = [name for name in names if not name.startswith(".") and name.lower().endswith(_ENDINGS)]
    if not found:
        raise InputError(
            f"the folder {folder} holds no log", hint=f"it has no file that ends in {', '.join(_ENDINGS[:4])}"
        )
    for name in found:
        yield Source(str(Path(folder, name)), None, named=False)
