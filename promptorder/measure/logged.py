"""Which entry of the server's log belongs to which call. Pure.

Both are in the order of time, so the longest common order of calls and entries is sought, where an entry can be a
call's only if it has as many tokens and, where both are known, took as long. A call gets an entry only where every
longest order gives it the same reuse: what could be another client's is not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from promptorder.model.comparison import Caveat, Estimate
from promptorder.model.sample import Phase, Reply, Sample
from promptorder.model.serverlog import CacheChange, LogEntry, LoggedChange, LoggedRequest

_PREFILL_ROUNDING_NS = 20_000
"""A log writes hundredths of a millisecond."""
_PREFILL_SHARE = 1e-4
_CLOCK_SLACK = timedelta(seconds=0.1)
_MOST_PAIRS = 4_000_000

Logged = Mapping[Sample, LoggedRequest]


@dataclass(frozen=True, slots=True)
class LogMatch:
    """The log's entries of a run's calls.

    ``strangers`` is how many requests between the run's calls none of them made, ``unmatched`` are calls without a sure entry,
    ``changes`` what the log tells of the caches. ``requests`` is how many requests the log held in all.
    """

    logged: Logged = field(default_factory=dict)
    strangers: int = 0
    unmatched: tuple[Sample, ...] = ()
    requests: int = 0
    changes: tuple[CacheChange, ...] = ()
    complete: bool = True


def match(samples: Sequence[Sample], entries: Iterable[LogEntry], *, complete: bool = True) -> LogMatch:
    """Give each call of ``samples``, which are in the order of time, its entry in the log."""
    requests: list[LoggedRequest] = []
    changes: list[CacheChange] = []
    for entry in entries:
        if isinstance(entry, LoggedChange):
            changes.append(entry.change)
        elif entry.cached_tokens is not None and entry.prompt_tokens is not None:
            requests.append(entry)  # one without was refused, or broken off before it was read
    calls = [sample for sample in samples if sample.phase is not Phase.LOAD and sample.reply is not None]
    found = _align(calls, requests, by_time=True)
    if not found.own:  # an engine may mean something else by its duration: then all differ
        found = _align(calls, requests, by_time=False)
    broken = sum(sample.failure is not None for sample in samples)
    return LogMatch(
        logged=found.logged,
        # A call that failed may have been read before it did.
        strangers=max(0, found.between - found.own - broken),
        unmatched=tuple(call for call in calls if call not in found.logged),
        requests=len(requests),
        changes=tuple(changes),
        complete=complete,
    )


def reuse_in(logged: Logged, sample: Sample) -> tuple[int, Estimate] | None:
    """The whole prompt's tokens, and those of them that were reused; None where the server counts itself or its log is silent."""
    entry, reply = logged.get(sample), sample.reply
    if entry is None or reply is None or reply.cached_tokens is not None:
        return None
    if entry.prompt_tokens is None or entry.cached_tokens is None:
        return None
    reused = entry.cached_tokens
    return entry.prompt_tokens, Estimate(reused, reused, reused, "logged")


def with_counts(samples: Iterable[Sample], logged: Logged) -> list[Sample]:
    """The samples as if the engine had counted what its log says."""

    def counted(sample: Sample) -> Sample:
        entry, reply = logged.get(sample), sample.reply
        if entry is None or reply is None or reply.cached_tokens is not None:
            return sample
        told = replace(reply, prompt_tokens=entry.prompt_tokens, cached_tokens=entry.cached_tokens)
        return replace(sample, reply=told)

    return [counted(sample) for sample in samples]


def log_caveats(found: LogMatch) -> list[Caveat]:
    """What a reader must know of a log that was handed in, the gravest first."""
    caveats = []
    if not found.logged:
        caveats.append(Caveat("log-not-matched", _nothing_matched(found)))
    elif found.unmatched:
        places = tuple((s.repeat, s.question) for s in found.unmatched)
        lost = "" if found.complete else ": it was cut or replaced meanwhile"
        caveats.append(
            Caveat(
                "log-incomplete",
                f"the server's log does not say for sure what {len(found.unmatched)} of "
                f"{len(found.unmatched) + len(found.logged)} calls reused{lost}. "
                "For these the figures are what they would be without it.",
                samples=places,
            )
        )
    if found.logged and found.strangers:
        many = found.strangers
        caveats.append(
            Caveat(
                "second-client",
                f"the server's log holds {many} {'request' if many == 1 else 'requests'} of another client during "
                "the run: it may have pushed prompts out of the cache and slowed calls down. Repeat it alone.",
            )
        )
    if anew := found.changes.count(CacheChange.NO_CACHE_DATA):
        caveats.append(
            Caveat(
                "no-cache-data",
                f"the server's log says {anew} {'time' if anew == 1 else 'times'} that it had no state to go on from and "
                "read a prompt from its start: models with a sliding window and recurrent ones cannot resume anywhere",
            )
        )
    differing = [s for s, entry in found.logged.items() if _contradicts(s.reply, entry)]
    if differing:
        first = differing[0]
        assert first.reply is not None
        caveats.append(
            Caveat(
                "log-disagrees",
                f"{len(differing)} of {len(found.logged)} calls: the server counts {first.reply.cached_tokens:,} cached tokens, "
                f"its log says {found.logged[first].cached_tokens:,}. The server's count is shown.",
                samples=tuple((s.repeat, s.question) for s in differing),
            )
        )
    return caveats


def _nothing_matched(found: LogMatch) -> str:
    if found.requests:
        return (
            f"none of the {found.requests} requests in the server's log fits a call of this run: "
            "is it the log of the server that was measured?"
        )
    if not found.complete:
        return "the server's log was cut or replaced during the run, and what is left of it holds no request"
    return (
        "the server's log tells of no request: Ollama before 0.30 writes them with OLLAMA_DEBUG=1 only; else see that "
        "this is the file it writes to (docs/server-log.md)"
    )


def _contradicts(reply: Reply | None, entry: LoggedRequest) -> bool:
    return (
        reply is not None and reply.cached_tokens is not None and reply.cached_tokens != entry.cached_tokens
    )


class _Aligned(NamedTuple):
    """The entry of each call that has a sure one; how many entries are the run's, of so many between its first and last."""

    logged: dict[Sample, LoggedRequest]
    own: int = 0
    between: int = 0


def _align(calls: Sequence[Sample], requests: Sequence[LoggedRequest], *, by_time: bool) -> _Aligned:
    fitting = [
        (number, entry)
        for number, entry in enumerate(requests)
        if any(_fits(call, entry, by_time=by_time) for call in calls)
    ]
    n, m = len(calls), len(fitting)
    if not n or not m or n * m > _MOST_PAIRS:
        return _Aligned({})
    fits = [[_fits(call, entry, by_time=by_time) for _, entry in fitting] for call in calls]
    ahead = _longest(fits)
    behind = [row[::-1] for row in _longest([row[::-1] for row in fits[::-1]])][::-1]
    best = ahead[n][m]
    logged: dict[Sample, LoggedRequest] = {}
    numbers: list[int] = []
    for i, call in enumerate(calls):
        places = [j for j in range(m) if fits[i][j] and ahead[i][j] + 1 + behind[i + 1][j + 1] == best]
        numbers += (fitting[j][0] for j in places)
        # A call that a longest order can do without need not be in the log.
        if any(ahead[i][j] + behind[i + 1][j] == best for j in range(m + 1)):
            continue
        likely = _in_time(call, [fitting[j][1] for j in places])
        if len({entry.cached_tokens for entry in likely}) == 1:
            logged[call] = likely[0]
    return _Aligned(logged, best, max(numbers) - min(numbers) + 1 if numbers else 0)


def _longest(fits: Sequence[Sequence[bool]]) -> list[list[int]]:
    """Length of the longest common order of the first i calls and j entries, for every i and j."""
    table = [[0] * (len(fits[0]) + 1)]
    for row in fits:
        above, line = table[-1], [0]
        for j, fit in enumerate(row):
            line.append(max(above[j] + 1 if fit else 0, above[j + 1], line[j]))
        table.append(line)
    return table


def _fits(call: Sample, entry: LoggedRequest, *, by_time: bool) -> bool:
    reply = call.reply
    if reply is None or entry.prompt_tokens is None or entry.cached_tokens is None:
        return False
    if reply.prompt_tokens is not None:
        if reply.prompt_tokens != entry.prompt_tokens:
            return False
    elif reply.read_tokens is None or reply.read_tokens != entry.prompt_tokens - entry.cached_tokens:
        return False
    if not by_time or reply.prefill_ns is None or entry.prefill_ns is None:
        return True
    return (
        abs(reply.prefill_ns - entry.prefill_ns) <= _PREFILL_ROUNDING_NS + _PREFILL_SHARE * entry.prefill_ns
    )


def _in_time(call: Sample, entries: list[LoggedRequest]) -> list[LoggedRequest]:
    """Of several entries those that began while the call was on its way, where both clocks tell and one does."""
    if len(entries) > 1 and call.reply is not None:
        took = max(call.reply.elapsed_ns or 0, call.reply.total_ns or 0)
        began = _moment(call.started_at)
        if began is not None and took:
            end = began + timedelta(microseconds=took / 1000)
            within = [
                entry
                for entry in entries
                if entry.at is not None
                and entry.at.tzinfo is not None
                and began - _CLOCK_SLACK <= entry.at <= end + _CLOCK_SLACK
            ]
            if within:
                return within
    return entries


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
