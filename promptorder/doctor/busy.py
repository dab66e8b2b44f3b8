"""Whether something else uses the server or the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptorder.measure.controls import tokens
from promptorder.model.doctor import Call, CallKind, Facts, Line, Status

TITLE = "quiet"
ORDER = 80
_WAIT_NS = 1_000_000_000
_RELOAD_NS = 1_500_000_000
_RATIO, _LEAST_NS = 3.0, 150_000_000
_EQUAL: tuple[CallKind, CallKind] = ("other-tail", "back")


def judge(facts: Facts) -> Iterator[Line]:
    """Waiting, loading in the middle, equal calls that take unequal times, and the load of this machine."""
    if facts.model is None or facts.before is None or facts.refusal is not None:
        return
    told = False
    for line in _lines(facts):
        told = True
        yield line
    if not told and facts.calls is not None:
        yield Line(Status.OK, "no call had to wait, and this machine is quiet")


def _lines(facts: Facts) -> Iterator[Line]:
    calls = facts.calls or ()
    if any((call.load_ns or 0) >= _RELOAD_NS for call in calls[1:]):
        yield Line(
            Status.PROBLEM,
            "the model was loaded again between two control calls, and its cache was lost",
            "`ollama ps` shows who else uses the memory; ollama stop what is not needed",
        )
    waits = [call.waited_ns for call in calls if call.waited_ns is not None]
    if waits and max(waits) >= _WAIT_NS:
        yield Line(
            Status.NOTE,
            f"a call waited {max(waits) / 1e9:.1f} s before it was read: others use the server",
            "measure when it is quiet, or raise --repeats",
        )
    spread = _spread(calls)
    if spread is not None:
        yield Line(
            Status.NOTE,
            f"equal calls took {spread[0] / 1e9:.2f} and {spread[1] / 1e9:.2f} s: the machine is busy",
            "measure when it is quiet, or raise --repeats",
        )
    here = facts.before is not None and facts.before.elsewhere is None
    load, processors = facts.load_average, facts.processors
    if here and load is not None and processors and load >= processors:
        yield Line(
            Status.NOTE,
            f"this machine has been busy for the last minute (load {load:.1f} on {processors} processors)",
            "measure when it is quiet, or raise --repeats",
        )


def _spread(calls: Sequence[Call]) -> tuple[int, int] | None:
    """The times of two calls that read about as much, where they differ more than noise does."""
    read = [
        (whole - reused, call.prefill_ns)
        for call in calls
        if call.kind in _EQUAL and call.prefill_ns and (found := tokens(calls, call.kind))
        for reused, whole in [found]
    ]
    if len(read) < 2 or max(n for n, _ in read) > 1.2 * min(n for n, _ in read) + 8:
        return None
    quick, slow = sorted(time for _, time in read)
    return (quick, slow) if slow >= _RATIO * quick and slow - quick >= _LEAST_NS else None
