"""Replay a trace against cache policies side by side, and add up what each reused and why not more. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

from promptorder.model.trace import Cache, Cause, Served, TraceRequest

CAUSES = tuple(Cause)
_NUMBER = {cause: number for number, cause in enumerate(CAUSES)}


class Tally:
    """What one policy did with all requests so far: three numbers a request, so that any rate can be told."""

    def __init__(self) -> None:
        self.prompt_tokens = array("q")
        self.cached_tokens = array("q")
        self.causes = array("B")
        self.lost_tokens: dict[Cause, int] = dict.fromkeys(CAUSES, 0)
        self.new_tokens = 0
        self.written_tokens = 0
        self.written_long_tokens = 0

    def add(self, served: Served) -> None:
        """Count one more request."""
        prompt, cached, seen, cause, written, written_long = served
        self.prompt_tokens.append(prompt)
        self.cached_tokens.append(cached)
        self.causes.append(_NUMBER[cause])
        self.new_tokens += prompt - seen
        self.lost_tokens[cause] += seen - cached
        self.written_tokens += written
        self.written_long_tokens += written_long

    def __len__(self) -> int:
        return len(self.prompt_tokens)

    @property
    def input_tokens(self) -> int:
        """All tokens of all prompts."""
        return sum(self.prompt_tokens)

    @property
    def reused_tokens(self) -> int:
        """All tokens that were reused."""
        return sum(self.cached_tokens)

    def cause(self, index: int) -> Cause:
        """Why request ``index`` was not reused further."""
        return CAUSES[self.causes[index]]

    def hit_rate_tokens(self, first: int = 0) -> float | None:
        """Reused tokens over all tokens, from request ``first`` on; None without any token."""
        total = sum(self.prompt_tokens[first:])
        return sum(self.cached_tokens[first:]) / total if total else None

    def hit_rate_requests_mean(self, first: int = 0) -> float | None:
        """The mean over requests of the share of each that was reused; None without any request."""
        pairs = zip(self.cached_tokens[first:], self.prompt_tokens[first:], strict=True)
        shares = [cached / prompt for cached, prompt in pairs if prompt]
        return sum(shares) / len(shares) if shares else None


def replay(
    requests: Iterable[TraceRequest],
    caches: Sequence[Cache],
    *,
    each: Callable[[TraceRequest, int, Served], None] | None = None,
) -> list[Tally]:
    """Give every request to every cache, in the trace's order; one tally a cache.

    ``each`` is told every answer: the request, the number of the cache, and what it did.
    """
    tallies = [Tally() for _ in caches]
    serving = [
        (number, cache.serve, tally.add)
        for number, (cache, tally) in enumerate(zip(caches, tallies, strict=True))
    ]
    for request in requests:
        for number, serve, add in serving:
            served = serve(request)
            add(served)
            if each is not None:
                each(request, number, served)
    return tallies
