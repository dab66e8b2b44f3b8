"""Which other settings of a policy are worth a replay, by what it lost; and which of those that were replayed help. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from promptorder.model.trace import Cause
from promptorder.model.trace_result import BOUND, Loss, Trial
from promptorder.policies._options import Policy
from promptorder.providers import ANTHROPIC_LIFETIME_S, ANTHROPIC_LONG_LIFETIME_S, openai_has_breakpoints

NOTABLE = 0.02
"""Causes that lose less of all tokens than this are left alone."""
_WORTH_A_CHANGE = 0.01
"""A setting that brings less of all tokens than this does not help."""
_AS_GOOD = 0.9
"""A cheaper setting that brings this share of the most is preferred."""
_MOST_CAUSES = 2
_HALF_AN_HOUR_S, _HOUR_S, _DAY_S = 1800.0, 3600.0, 86400.0
_HOST_MIB = 8192

Changes = Mapping[str, object]


class Attempt(NamedTuple):
    """Policy ``number`` with ``changed`` options, against what it lost by ``cause``."""

    number: int
    cause: Cause
    policy: Policy
    changed: Changes


def attempts(
    policies: Sequence[Policy], losses: Sequence[Sequence[Loss]], input_tokens: int, models: Collection[str]
) -> list[Attempt]:
    """For each policy and each of the causes that cost it most, the settings that may help, the cheapest first.

    ``losses`` has those of each policy, most lost tokens first; ``models`` are all that the trace names.
    """
    found = []
    for number, (policy, lost) in enumerate(zip(policies, losses, strict=True)):
        if policy.name == BOUND:
            continue
        notable = [loss.cause for loss in lost if loss.lost_tokens >= max(1, NOTABLE * input_tokens)]
        tried: list[Changes] = []
        for cause in notable[:_MOST_CAUSES]:
            for changed in _changes(policy, cause, models):
                if changed not in tried:
                    tried.append(changed)
                    found.append(Attempt(number, cause, policy.with_options(**changed), changed))
    return found


def best(trials: Sequence[Trial], hit_rate_tokens: float | None) -> Trial | None:
    """The cheapest of those that help about as much as any; None where none helps."""
    if hit_rate_tokens is None:
        return None
    gains = [(each.hit_rate_tokens or 0.0) - hit_rate_tokens for each in trials]
    most = max(gains, default=0.0)
    if most < _WORTH_A_CHANGE:
        return None
    return next(each for each, gain in zip(trials, gains, strict=True) if gain >= _AS_GOOD * most)


def _changes(policy: Policy, cause: Cause, models: Collection[str]) -> Iterator[Changes]:
    for try_option in _BY_CAUSE.get(cause, ()):
        yield from try_option(policy, models)


def _host_memory(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    mib = getattr(policy.options, "cache_ram_mib", None)
    if mib is not None:
        yield {"cache_ram_mib": 4 * mib or _HOST_MIB}


def _similarity(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    """A prompt that shares only its start with a slot then leaves the rest of it alone. Ollama has no way to set it."""
    own = getattr(policy.options, "slot_prompt_similarity", None)
    if policy.name == "llama-server" and own is not None:
        yield from ({"slot_prompt_similarity": more} for more in (0.5, 0.95) if more > own)


def _slots(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    for name in ("slots", "parallel"):
        own = getattr(policy.options, name, None)
        if own is not None:
            yield from ({name: times * own} for times in (2, 4, 8))


def _multiuser(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    """Slots of Ollama's runner are kept apart only so: else the longest start, be it a template's, overwrites its slot."""
    if getattr(policy.options, "multiuser_cache", None) is False:
        for times in (2, 4, 8):
            yield {"multiuser_cache": True, "parallel": times * policy.options.parallel}


def _size(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    name = policy.size_option
    own = None if name in (None, "slots", "parallel") else getattr(policy.options, str(name))
    if own is not None:
        yield from ({str(name): times * own} for times in (2, 4))


def _context(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    own = getattr(policy.options, "context_tokens", None)
    if own is not None:
        yield from ({"context_tokens": times * own} for times in (2, 4))


def _keep_alive(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    own = getattr(policy.options, "keep_alive_s", None)
    if own is not None:
        yield from ({"keep_alive_s": longer_s} for longer_s in (_HALF_AN_HOUR_S, _HOUR_S) if longer_s > own)
        yield {"keep_alive_s": None}


def _lifetime(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    """The longer lifetime that the service itself offers."""
    own = getattr(policy.options, "lifetime_s", None)
    if policy.name == "anthropic" and (own or ANTHROPIC_LIFETIME_S) < ANTHROPIC_LONG_LIFETIME_S:
        yield {"lifetime_s": ANTHROPIC_LONG_LIFETIME_S}
    if policy.name == "openai" and (own or 0) < _DAY_S and not any(map(openai_has_breakpoints, models)):
        yield {"lifetime_s": _DAY_S}


def _marks(policy: Policy, models: Collection[str]) -> Iterator[Changes]:
    names = [name for name in ("automatic", "mark_system") if getattr(policy.options, name, None) is False]
    yield from ({name: True} for name in names)
    if len(names) > 1:
        yield dict.fromkeys(names, True)


_Try = Callable[[Policy, Collection[str]], Iterator[Any]]
_BY_CAUSE: dict[Cause, tuple[_Try, ...]] = {
    Cause.EVICTION: (_similarity, _host_memory, _slots, _multiuser, _size),
    Cause.OTHER_SLOT: (_similarity, _slots, _multiuser),
    Cause.HOST_CACHE: (_similarity, _slots),
    Cause.LIFETIME: (_keep_alive, _lifetime),
    Cause.NOT_MARKED: (_marks,),
    Cause.TOO_LONG: (_context,),
    Cause.CUT: (_context,),
}
