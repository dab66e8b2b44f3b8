"""The files of a trace: which there are, what format each has, and all their requests in one order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from types import ModuleType
from typing import Any, BinaryIO

from promptorder.errors import InputError
from promptorder.inputs._trace_sources import Source, sources
from promptorder.model.serverlog import LogEntry, LoggedRequest
from promptorder.model.trace import TraceRequest
from promptorder.model.trace_input import Holds, ReadReport
from promptorder.traces import Sample, TraceOptions
from promptorder.traces._choice import choose, sample_of
from promptorder.traces._order import in_order, merged
from promptorder.traces._reading import Line, Reading, Together

_MOST_SIDE_BY_SIDE = 128
_EPOCH_S = 1e8
"""Times below count from a trace's start, times above from 1970."""


class TraceFiles:
    """The opened files of a trace; ``report`` is complete when what they hold was taken.

    ``holds`` says what they tell of prompts: ``log_entries()`` is for server-log, ``requests()`` for all others. ``form`` is
    what they are, for people.
    """

    def __init__(self, together: Together, files: Sequence[_File]) -> None:
        self._together, self._files = together, files
        self.report: ReadReport = together.report
        self.holds: Holds = files[0].holds
        self.form = " and ".join(dict.fromkeys(str(file.form.SUMMARY) for file in files))

    def requests(self) -> Iterator[TraceRequest]:
        """All requests, by time where every file has times, else file after file as they were named.

        Raises InputError where none can be used, and where ``strict`` is asked for and a line cannot.
        """
        index = 0
        for request in self._ordered():
            request.index = index
            index += 1
            yield request
        if not index:
            raise self._nothing()

    def log_entries(self) -> Iterator[tuple[str, LogEntry]]:
        """What servers' logs say, with the file in which each stands. Raises InputError where they tell of no prompt."""
        from promptorder.serverlog import read_log

        for file in self._files:
            for entry in read_log(file.form.unwrapped(_every(file.lines()))):
                file.report.requests += isinstance(entry, LoggedRequest)
                yield file.report.path, entry
        self.report.observed = self.report.requests
        if not self.report.requests:
            raise self._nothing()

    def _ordered(self) -> Iterator[TraceRequest]:
        files, report = self._files, self.report
        if len(files) == 1:
            return files[0].requests()
        in_turn = (request for file in files for request in file.requests())
        if any(file.form.OWN_CLOCK for file in files):
            return in_turn
        if len(files) > _MOST_SIDE_BY_SIDE:
            return in_order(in_turn, report, self._together.options.window_requests)
        streams = [file.requests() for file in files]
        begun = [(first, stream) for stream in streams if (first := next(stream, None)) is not None]
        whole = [chain((first,), stream) for first, stream in begun]
        clocks = [first.at_s for first, _ in begun if first.at_s is not None]
        one_clock = len({at_s < _EPOCH_S for at_s in clocks}) < 2
        if len(clocks) == len(begun) and one_clock:
            return merged(whole)
        why = "not every file has times" if one_clock else "the files' times do not start at the same moment"
        report.remark(f"{why}: they follow one another in the order in which they were named")
        return chain.from_iterable(whole)

    def _nothing(self) -> InputError:
        first = next((file for file in self.report.files if file.first_skipped), None)
        why = (
            f"{first.path}, line {first.first_skipped[0].line}: {first.first_skipped[0].reason}"
            if first
            else ""
        )
        return InputError(
            f"{_listed(self._files)} no request that can be used",
            hint=why or "give a log of requests, token ids or hash ids",
        )


def open_trace(
    paths: Sequence[str], options: TraceOptions | None = None, *, stdin: BinaryIO | None = None
) -> TraceFiles:
    """Find out what files and folders hold; ``-`` is ``stdin``, or the standard input of the process.

    Raises InputError for a file that is missing, of no known format, or of one that tells only lengths, where nothing holds
    anything, and for files that cannot be replayed together; UsageError for a format that does not exist.
    """
    together = Together(options or TraceOptions())
    found = list(sources(paths, stdin))
    together.several = len(found) > 1
    together.report.files = [source.report for source in found]
    files = [file for source in found if (file := _file(source, together)) is not None]
    if not files:
        why = next((source.report.cut for source in found if source.report.cut), "nothing to read")
        raise InputError(
            f"{', '.join(paths[:3])}: {why}", hint="give a log of requests, token ids or hash ids"
        )
    _refuse_mixtures(files)
    return TraceFiles(together, files)


class _File:
    """A file with its format."""

    def __init__(self, source: Source, form: ModuleType, sample: Sample, together: Together) -> None:
        self._source = source
        self._reading = Reading(together, source.report, sample.objects)
        self._is_document = sample.is_document
        self.form, self.report = form, source.report
        self.holds: Holds = form.HOLDS

    def lines(self) -> Iterator[Line]:
        """The lines, or the objects of a JSON text that goes over several."""
        found = self._source.lines(self._reading.skip, strict=self._reading.options.strict)
        return self._reading.objects(found) if self._is_document else found

    def requests(self) -> Iterator[TraceRequest]:
        """The requests, in the order of their times as far as the window reaches."""
        reading = self._reading
        found = self.form.read(reading.values(self.lines()), reading)
        return in_order(self._counted(found), reading.report, reading.options.window_requests)

    def _counted(self, requests: Iterator[TraceRequest]) -> Iterator[TraceRequest]:
        report, together, settle = self.report, self._reading.report, self._source.settle
        for request in requests:
            report.requests += 1
            together.observed += request.observed_cached_tokens is not None
            yield settle(request)


def _file(source: Source, together: Together) -> _File | None:
    """A source with its format; None for what is empty, or lies unknown in a folder beside others."""
    first = source.sample()
    if not first:
        return None
    sample = sample_of(first)
    try:
        form = choose(sample, source.report.path, together.options.form)
    except InputError:
        if source.named:
            raise
        together.report.remark("files of the folder that hold no requests are passed over")
        return None
    source.report.form = form.SUMMARY
    return _File(source, form, sample, together)


def _every(lines: Iterator[Line]) -> Iterator[bytes]:
    """The lines, with empty ones where they are, so that they are counted as in the file."""
    given = 0
    for number, raw in lines:
        yield from (b"" for _ in range(number - given - 1))
        yield raw
        given = number


def _refuse_mixtures(files: Sequence[_File]) -> None:
    kinds: dict[str, Any] = {}
    for file in files:
        kinds.setdefault("requests" if file.holds in ("tokens", "text") else file.holds, file)
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise InputError(
            f"{one.report.path} ({one.form.SUMMARY}) and {other.report.path} ({other.form.SUMMARY}) "
            "cannot be replayed together",
            hint="give files of one kind",
        )


def _listed(files: Sequence[_File]) -> str:
    paths = [file.report.path for file in files]
    if len(paths) == 1:
        return f"{paths[0]} holds"
    return f"{paths[0]} and {len(paths) - 1} more files hold"
