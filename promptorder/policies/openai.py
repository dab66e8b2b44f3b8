"""OpenAI, both generations of its rules; which holds is told by each request's model, or by ``rules``.

*automatic* (models before GPT-5.6): a prompt of 1,024 tokens and more is kept, and a later one reuses its start in steps of 128
tokens, on the machine that the hash of its first 256 tokens and ``prompt_cache_key`` leads to; beyond about 15 requests a minute
the same key overflows to another machine. Unused starts go after 5 to 10 minutes, all after an hour at the latest, or after 24 hours
where that was asked for. Writing is free.

*breakpoints* (GPT-5.6 and later): a start is kept exactly up to a breakpoint, one implicit at the end of the newest message and the
caller's own, four at most a request, and found again exactly there, at any of the latest 80 block ends; 30 minutes, begun anew by
reads. Writing is charged.

Source: the service's own documentation of prompt caching, 2026. Which machine answers is not to be known from outside: the
overflow is a model of what the documentation says.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.model.trace import Cache, Served, TraceRequest
from promptorder.policies._openai_automatic import Automatic
from promptorder.policies._openai_breakpoints import Breakpoints
from promptorder.policies._options import PolicyOptions
from promptorder.providers import OPENAI_MINIMUM_TOKENS, openai_has_breakpoints

SIZE = None


@dataclass(frozen=True, slots=True)
class Options(PolicyOptions):
    """The service's rules.

    ``rules``: automatic or breakpoints; None: as each request's model has it. ``minimum_tokens``: the least that is cached.
    ``lifetime_s``: without use; None: as the model has it (10 minutes, 30 minutes or a day). ``requests_per_minute``: from how many on a
    key overflows to another machine; None: never. ``mark_system``: each request is marked behind its tools and system text too
    (breakpoints).
    """

    rules: str | None = None
    minimum_tokens: int = OPENAI_MINIMUM_TOKENS
    lifetime_s: float | None = None
    requests_per_minute: int | None = 15
    mark_system: bool = False

    def __post_init__(self) -> None:
        if self.rules not in (None, "automatic", "breakpoints"):
            raise ValueError(f"rules cannot be {self.rules!r}: give automatic or breakpoints")
        if self.requests_per_minute == 0:
            raise ValueError("requests_per_minute must be 1 or more, or unlimited")


class _OpenAI:
    def __init__(self, options: Options) -> None:
        self._rules = options.rules
        self._automatic = Automatic(
            minimum_tokens=options.minimum_tokens,
            lifetime_s=options.lifetime_s,
            requests_per_minute=options.requests_per_minute,
            hash_block_tokens=options.hash_block_tokens,
        )
        self._breakpoints = Breakpoints(
            minimum_tokens=options.minimum_tokens,
            lifetime_s=options.lifetime_s,
            hash_block_tokens=options.hash_block_tokens,
            mark_system=options.mark_system,
        )

    def serve(self, request: TraceRequest) -> Served:
        marks = self._rules == "breakpoints" if self._rules else openai_has_breakpoints(request.model)
        return (self._breakpoints if marks else self._automatic).serve(request)


def open_cache(options: Options) -> Cache:
    """An empty cache of one organisation."""
    return _OpenAI(options)
