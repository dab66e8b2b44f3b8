"""What a replayed trace came to: rates, losses by cause, and the requests behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from promptorder.model.serverlog import CacheChange, SlotChoice
from promptorder.model.trace import Cause

TokenMethod = Literal["counted", "estimated"]
"""Counted by a tokenizer or by the trace itself, or estimated from the text."""

BOUND = "unlimited"
"""The policy that keeps all it ever read: no cache of the starts of prompts reuses more."""


class Rates(NamedTuple):
    """How much was reused, by each of the definitions in use; a rate is None where there is nothing to divide by.

    ``hit_rate_tokens`` is reused tokens over all tokens, ``hit_rate_requests_mean`` the mean of the share of each
    request, ``last_half_hit_rate_tokens`` the first one over the later half of the requests, when the cache is no
    longer empty, and ``requests_with_hit`` the number of requests of which anything was reused.
    """

    requests: int
    input_tokens: int
    cached_tokens: int
    hit_rate_tokens: float | None
    hit_rate_requests_mean: float | None
    last_half_hit_rate_tokens: float | None
    requests_with_hit: int


class Loss(NamedTuple):
    """One cause: how many requests ended by it, and how many of their tokens had been read before but were not reused."""

    cause: Cause
    requests: int
    lost_tokens: int


class Place(NamedTuple):
    """A request in its file, lines from 1."""

    path: str
    line: int


class Worst(NamedTuple):
    """A request that stands out. ``lost_tokens`` were read before but not reused, ``new_tokens`` never read before.

    ``earlier`` is the request before it in the same session (or, without one, the same model), where that is known.
    """

    request_index: int
    place: Place
    prompt_tokens: int
    cached_tokens: int
    lost_tokens: int
    new_tokens: int
    cause: Cause
    earlier: Place | None = None


class CurvePoint(NamedTuple):
    """A policy at another size: ``size`` as its option takes it, ``size_tokens`` what that holds."""

    size: int
    size_tokens: int
    cached_tokens: int
    hit_rate_tokens: float | None


class Money(NamedTuple):
    """What the prompts cost with this reuse, and what they would without any; answers are not priced."""

    currency: str
    cost: float
    cost_without_reuse: float

    @property
    def saved(self) -> float:
        """Negative where writing cost more than reuse brought."""
        return self.cost_without_reuse - self.cost


class Trial(NamedTuple):
    """A policy replayed with other options against what it lost by ``cause``: ``changed`` are those, ``label`` is as on the command line."""

    label: str
    changed: Mapping[str, object]
    cause: Cause
    cached_tokens: int
    hit_rate_tokens: float | None
    money: Money | None = None


class Window(NamedTuple):
    """Some requests in a row: the share of their tokens that was reused, None without any."""

    first_index: int
    requests: int
    hit_rate_tokens: float | None


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """What one policy did with the whole trace.

    ``options`` are those that differ from their defaults, ``all_options`` all of them. ``losses`` has every
    cause that occurred, most lost tokens first; with ``rates.cached_tokens`` and ``new_tokens`` they sum up to
    ``rates.input_tokens``. ``size_option`` is the option that is the policy's size, None where it has none.
    ``saved_s`` is the time that prefill of the reused tokens would have taken, None without a speed;
    ``money`` is None without a price. ``trials`` are other settings that were replayed because of what it lost, the cheapest of each kind
    first; None: none were replayed, because nothing notable was lost or it would have taken too long (a note says so then).
    """

    name: str
    options: Mapping[str, object]
    all_options: Mapping[str, object]
    rates: Rates
    new_tokens: int
    written_tokens: int
    losses: tuple[Loss, ...]
    worst: tuple[Worst, ...] = ()
    size_option: str | None = None
    curve: tuple[CurvePoint, ...] = ()
    windows: tuple[Window, ...] = ()
    saved_s: float | None = None
    money: Money | None = None
    trials: tuple[Trial, ...] | None = None

    @property
    def label(self) -> str:
        """The policy as it is written on the command line."""
        return label_of(self.name, self.options)

    @property
    def lost_tokens(self) -> int:
        """Tokens that had been read before but were not reused."""
        return sum(loss.lost_tokens for loss in self.losses)

    @property
    def reusable_tokens(self) -> int:
        """Tokens that had been read before: the most that any cache of this kind could reuse."""
        return self.rates.cached_tokens + self.lost_tokens

    def loss(self, cause: Cause) -> Loss:
        """What was lost by ``cause``, nothing where it did not occur."""
        return next((loss for loss in self.losses if loss.cause is cause), Loss(cause, 0, 0))


class ObservedRequest(NamedTuple):
    """A request of which the real server read much: ``why`` is what its log says, None where it says nothing."""

    place: Place
    prompt_tokens: int
    cached_tokens: int
    why: SlotChoice | CacheChange | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """What the real server said it reused, over the requests of which it said so (``rates.requests``).

    From a server's own log, ``why`` counts how it chose the slot, and ``events`` what else happened to its caches, such
    as a model that was loaded; both None where the trace is no such log. ``money`` is None without a price, where only some
    requests were told of, and where writing has a price and what was written is not said.
    """

    rates: Rates
    worst: tuple[ObservedRequest, ...] = ()
    windows: tuple[Window, ...] = ()
    why: Mapping[SlotChoice, int] | None = None
    events: Mapping[CacheChange, int] | None = None
    saved_s: float | None = None
    money: Money | None = None


@dataclass(frozen=True, slots=True)
class TraceResult:
    """Everything about one run of ``promptorder trace``.

    ``form`` is what the files are, ``counting`` how prompts became tokens (``tokenizer`` says by what; None: the trace
    itself holds tokens or their number). ``has_text`` tells that the prompts' text stands in the files;
    ``early`` the requests that part early from all that came before, by the first policy without a limit.
    ``complete`` is False where the run was stopped before the last request.
    """

    files: tuple[str, ...]
    form: str
    requests: int
    skipped_lines: int
    policies: tuple[PolicyResult, ...]
    observed: Observed | None = None
    early: tuple[Worst, ...] = ()
    has_text: bool = False
    counting: TokenMethod = "counted"
    tokenizer: str | None = None
    prefill_tokens_per_s: float | None = None
    notes: tuple[str, ...] = ()
    complete: bool = True

    def policy(self, name: str) -> PolicyResult:
        """The first policy of that name or label; raises KeyError."""
        for each in self.policies:
            if name in (each.name, each.label):
                return each
        raise KeyError(name)


def label_of(name: str, options: Mapping[str, object]) -> str:
    """A policy as it is written on the command line."""
    return ",".join((name, *(f"{key}={written(value)}" for key, value in options.items())))


def written(value: object) -> str:
    """An option's value as it is written on the command line."""
    if value is None:
        return "unlimited"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
