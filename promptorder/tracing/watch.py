"""The requests of a replay that stand out, kept while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappush, heappushpop

from promptorder.model.trace import Cause, Served, TraceRequest
from promptorder.model.trace_result import Place, Worst
from promptorder.tracing.observed import ObservedTally

MOST_WORST = 5
_MOST_SESSIONS = 100_000
_UNAVOIDABLE = frozenset((Cause.FIRST_DIFFERENCE, Cause.REPEATED))
"""The remainder of a block, and what is evaluated each time: every request loses a little by them."""
_LEAST_SHARE = 0.01
"""A request that lost less than this of its prompt does not stand out."""
_EARLY_SHARE = 0.5
"""A request of which less than this was ever read before parts early from all others."""

Write = Callable[[int, int, Served], None]
"""Is told what each cache, by its number, did with each request, by its index."""


class Watch:
    """Hears what the first ``policies`` caches answer, and keeps what stands out; its memory does not grow with the trace.

    ``bound`` is the number of the cache by which early partings are told. ``write`` is given each answer.
    With ``by_model`` tokens are added up for each model, as (new, cached, written, written long).
    """

    def __init__(
        self, policies: int, bound: int, *, write: Write | None = None, by_model: bool = False
    ) -> None:
        self._policies = policies
        self._bound = bound
        self._write = write
        self._worst: list[list[tuple[int, int, Worst]]] = [[] for _ in range(policies)]
        self._early: list[tuple[int, int, Worst]] = []
        self._before: dict[str, tuple[str, int]] = {}
        self._by_model = by_model
        self.tokens_of: list[dict[str, list[int]]] = [{} for _ in range(policies)]
        self.models: dict[str, None] = {}
        """All models of the trace, in the order in which they came."""
        self.observed = ObservedTally()

    def each(self, request: TraceRequest, number: int, served: Served) -> None:
        """For ``replay``: what cache ``number`` did with a request."""
        if number >= self._policies:
            return
        prompt, cached, seen, cause, written, written_long = served
        if seen - cached > _LEAST_SHARE * prompt and cause not in _UNAVOIDABLE:
            worst = self._worst[number]
            if len(worst) < MOST_WORST or seen - cached > worst[0][0]:
                _keep(worst, seen - cached, self._about(request, served))
        if number == self._bound and cause is Cause.FIRST_DIFFERENCE and seen < _EARLY_SHARE * prompt:
            early = self._early
            if len(early) < MOST_WORST or prompt - seen > early[0][0]:
                _keep(early, prompt - seen, self._about(request, served))
        if self._by_model:
            tokens = self.tokens_of[number].setdefault(request.model, [0, 0, 0, 0])
            for at, more in enumerate((prompt - cached, cached, written, written_long)):
                tokens[at] += more
        if self._write is not None:
            self._write(number, request.index, served)

    def passing(self, requests: Iterable[TraceRequest]) -> Iterator[TraceRequest]:
        """The same requests; remembers of each session the last one that has gone by, and what servers said."""
        before = self._before
        for request in requests:
            self.models[request.model] = None
            yield request
            session = _session(request)
            before.pop(session, None)
            before[session] = (request.path, request.line)
            if len(before) > _MOST_SESSIONS:
                del before[next(iter(before))]
            if request.observed_cached_tokens is not None:
                self.observed.add_request(request)

    def worst(self, number: int) -> tuple[Worst, ...]:
        """The requests that lost most with cache ``number``."""
        return _sorted(self._worst[number])

    @property
    def early(self) -> tuple[Worst, ...]:
        """The requests with the most new tokens among those that part early from all before."""
        return _sorted(self._early)

    def _about(self, request: TraceRequest, served: Served) -> Worst:
        earlier = self._before.get(_session(request))
        return Worst(
            request_index=request.index,
            place=Place(request.path, request.line),
            prompt_tokens=served.prompt_tokens,
            cached_tokens=served.cached_tokens,
            lost_tokens=served.seen_tokens - served.cached_tokens,
            new_tokens=served.prompt_tokens - served.seen_tokens,
            cause=served.cause,
            earlier=None if earlier is None else Place(*earlier),
        )


def _session(request: TraceRequest) -> str:
    return request.namespace if request.session is None else f"{request.namespace}\n{request.session}"


def _keep(heap: list[tuple[int, int, Worst]], tokens: int, worst: Worst) -> None:
    entry = (tokens, -worst.request_index, worst)  # of equals the earlier one stays
    if len(heap) < MOST_WORST:
        heappush(heap, entry)
    else:
        heappushpop(heap, entry)


def _sorted(heap: list[tuple[int, int, Worst]]) -> tuple[Worst, ...]:
    return tuple(worst for _, _, worst in sorted(heap, key=lambda entry: (-entry[0], -entry[1])))
