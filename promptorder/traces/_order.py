"""Requests in the order of their times: within a file by a bounded window, between files by merging. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge

from promptorder.model.trace import TraceRequest
from promptorder.model.trace_input import ReadReport

_NEVER = float("-inf")
_HELD_IDS = 8 << 20
"""How many ids the requests that wait for an earlier one may have together: 32 MiB."""


def in_order(requests: Iterable[TraceRequest], report: ReadReport, window: int) -> Iterator[TraceRequest]:
    """The requests by their times; one that comes ``window`` requests too late is counted, and stays where it is.

    A request without a time stays behind the one before it.
    """
    held: deque[tuple[float, TraceRequest]] = deque()
    held_ids = dated = undated = 0
    newest = given = _NEVER
    for request in requests:
        at_s = request.at_s
        if at_s is None:
            undated += 1
            at_s = newest
        else:
            dated += 1
        if at_s >= newest:
            newest = at_s
            held.append((at_s, request))
        elif at_s < given:
            report.late += 1
            yield request
            continue
        else:
            place = len(held)
            while place and held[place - 1][0] > at_s:
                place -= 1
            held.insert(place, (at_s, request))
            report.reordered += 1
        held_ids += len(request.ids)
        while len(held) > window or held_ids > _HELD_IDS or (held and held[0][0] == _NEVER):
            given, request = held.popleft()  # noqa: PLW2901
            held_ids -= len(request.ids)
            yield request
    for _, request in held:
        yield request
    if dated:
        report.undated += undated


def merged(streams: Sequence[Iterable[TraceRequest]]) -> Iterator[TraceRequest]:
    """Streams that are each in order as one; a request without a time goes with the one before it."""
    for _, _, request in merge(*map(_timed, range(len(streams)), streams), key=lambda each: each[:2]):
        yield request


def _timed(number: int, stream: Iterable[TraceRequest]) -> Iterator[tuple[float, int, TraceRequest]]:
    at_s = _NEVER
    for request in stream:
        if request.at_s is not None:
            at_s = max(at_s, request.at_s)
        yield at_s, number, request
