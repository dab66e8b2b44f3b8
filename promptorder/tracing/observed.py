"""What real servers said they reused: of the requests of a trace, or in a log of their own."""

from __future__ import annotations

from array import array
from collections import Counter
from heapq import heappush, heappushpop

from promptorder.model.serverlog import CacheChange, LogEntry, LoggedRequest, SlotChoice
from promptorder.model.trace import TraceRequest
from promptorder.model.trace_result import Money, Observed, ObservedRequest, Place
from promptorder.tracing.figures import rates, windows

_MOST_WORST = 5
_TELLING = (CacheChange.LOADED, CacheChange.NO_CACHE_DATA, CacheChange.TRUNCATED)
"""Changes that explain the next request better than how its slot was chosen."""


class ObservedTally:
    """Counts of the requests of which a server said what it reused; two numbers a request."""

    def __init__(self) -> None:
        self._prompt_tokens = array("q")
        self._cached_tokens = array("q")
        self._worst: list[tuple[int, int, ObservedRequest]] = []
        self._why: Counter[SlotChoice] = Counter()
        self._events: Counter[CacheChange] = Counter()
        self._before: CacheChange | None = None
        self.tokens_of: dict[str, list[int]] = {}
        """Of each model (new, cached, written, written for longer)."""
        self.unwritten: set[str] = set()
        """Models of which what was written is not always said."""
        self.untold = 0
        """Requests of which a log says too little: refused, broken off, or still running."""

    def __len__(self) -> int:
        return len(self._prompt_tokens)

    def add_request(self, request: TraceRequest) -> None:
        """Count a request of a trace, where the server said what it reused."""
        cached, prompt = request.observed_cached_tokens, request.prompt_tokens
        if prompt is None:
            prompt = request.sizes(None)[1]
        if cached is None or not 0 <= cached <= prompt:
            return
        self._add(Place(request.path, request.line), prompt, cached, None)
        written, long = request.observed_written_tokens, request.observed_written_long_tokens
        if written is None:
            self.unwritten.add(request.model)
        tokens = self.tokens_of.setdefault(request.model, [0, 0, 0, 0])
        for at, more in enumerate((prompt - cached, cached, written or 0, long)):
            tokens[at] += more

    def add_entry(self, path: str, entry: LogEntry) -> None:
        """Count what a server's log says."""
        if not isinstance(entry, LoggedRequest):
            self._events[entry.change] += 1
            if entry.change in _TELLING:
                self._before = entry.change
            return
        told, self._before = self._before, None
        prompt, cached = entry.prompt_tokens, entry.cached_tokens
        if prompt is None or cached is None or not 0 <= cached <= prompt:
            self.untold += 1
            return
        if entry.why is not None:
            self._why[entry.why] += 1
        self._add(Place(path, entry.line), prompt, cached, told or entry.why)

    def result(
        self, prefill_tokens_per_s: float | None, *, is_log: bool = False, money: Money | None = None
    ) -> Observed | None:
        """What it came to; None where no server said anything. ``money`` is what these prompts cost."""
        if not is_log and not len(self):
            return None
        own = rates(self._prompt_tokens, self._cached_tokens)
        return Observed(
            rates=own,
            worst=tuple(each for _, _, each in sorted(self._worst, key=lambda entry: (-entry[0], -entry[1]))),
            windows=windows(self._prompt_tokens, self._cached_tokens),
            why=dict(self._why.most_common()) if is_log else None,
            events=dict(self._events.most_common()) if is_log else None,
            money=money,
            saved_s=None if prefill_tokens_per_s is None else own.cached_tokens / prefill_tokens_per_s,
        )

    def _add(self, place: Place, prompt: int, cached: int, why: SlotChoice | CacheChange | None) -> None:
        self._prompt_tokens.append(prompt)
        self._cached_tokens.append(cached)
        read = prompt - cached
        if len(self._worst) < _MOST_WORST:
            heappush(self._worst, (read, -len(self), ObservedRequest(place, prompt, cached, why)))
        elif read > self._worst[0][0]:
            heappushpop(self._worst, (read, -len(self), ObservedRequest(place, prompt, cached, why)))
