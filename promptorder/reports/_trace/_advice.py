"""What to do next, in plain words for people who are no experts of caches."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from promptorder.model.serverlog import CacheChange, SlotChoice
from promptorder.model.trace import Cause
from promptorder.model.trace_result import BOUND, PolicyResult, TraceResult, Trial, written
from promptorder.reports._trace._settings import meaning
from promptorder.reports._trace._words import about, loses_notably, money, names_of, share
from promptorder.reports._words import count
from promptorder.tracing.what_if import best

_WORTH_A_WORD = 0.02
"""Choices of slots of a smaller share of the requests need no remedy."""
_MUCH_NEW = 0.5

_WHY = {
    Cause.EVICTION: "it had been thrown out or overwritten",
    Cause.LIFETIME: "it had been kept for too short a time",
    Cause.BELOW_MINIMUM: "the shared start was shorter than the least that is cached",
    Cause.OTHER_SLOT: "it was kept elsewhere than where the request was answered",
    Cause.HOST_CACHE: "it was left in the host's memory",
    Cause.NOT_MARKED: "no breakpoint stood where the shared start ends",
    Cause.TOO_LONG: "the prompt does not fit, and was refused",
    Cause.CUT: "the prompt does not fit, and lost its middle",
    Cause.SWITCHED_OFF: "the request asked for it (cache_prompt is false)",
    Cause.FIRST_DIFFERENCE: "only whole blocks are reused",
    Cause.REPEATED: "the end of a repeated prompt is evaluated each time",
    Cause.FIRST_REQUEST: "the cache could not match it",
}
_SERVER = {
    CacheChange.LOADED: "a model was loaded, which empties its caches: a longer keep-alive (OLLAMA_KEEP_ALIVE=1h), and the same "
    "context size in all requests, keep it.",
    CacheChange.NO_CACHE_DATA: "the state to go on from was gone: with a sliding window or a recurrent model, ask the longest "
    "question first, or give llama-server --swa-full.",
    CacheChange.TRUNCATED: "a prompt was cut to fit: give it a longer context.",
    CacheChange.HOST_CACHE_SKIPPED: "a prompt was too large for the host's memory: raise llama-server's --cache-ram.",
}
"""What a server's log tells that somebody can do something about."""
_ELSE = {
    Cause.EVICTION: "a larger cache",
    Cause.LIFETIME: "requests that share a start, sent closer together",
    Cause.BELOW_MINIMUM: "more of what stays the same in front; short prompts are not cached by this service",
    Cause.OTHER_SLOT: "the requests of one conversation sent to where it was answered before",
    Cause.NOT_MARKED: "a breakpoint behind the part that stays the same",
    Cause.FIRST_DIFFERENCE: "smaller blocks, where the engine allows them",
    Cause.TOO_LONG: "a longer context, or shorter prompts",
    Cause.CUT: "a longer context, or shorter prompts",
    Cause.SWITCHED_OFF: "leaving cache_prompt out: it is true by default",
}
"""What no replay of settings can show, or was not replayed."""


def advice(result: TraceResult) -> list[str]:
    """A sentence or two for each policy, and what to look at in the prompts themselves: first, where they are there to be mended."""
    policies, prompts = list(_of_policies(result)), list(_of_prompts(result))
    return [*_of_observed(result), *(prompts + policies if result.has_text else policies + prompts)]


def _of_observed(result: TraceResult) -> Iterator[str]:
    observed = result.observed
    if observed is None:
        return
    why, events, requests = observed.why or {}, observed.events or {}, observed.rates.requests
    idle = why.get(SlotChoice.LRU, 0)
    if idle > 1 and idle >= _WORTH_A_WORD * requests:  # a fresh server has no other way
        yield (
            f"{idle:,} of {count(requests, 'request')} found no slot with a start like theirs: they began with something new, or "
            "others had taken their slot since. This log does not tell which. A log of the requests does, and what more slots "
            "would bring: `promptorder trace requests.jsonl`"
        )
    for change, text in _SERVER.items():
        if events.get(change, 0) > (change is CacheChange.LOADED):
            yield f"{count(events[change], 'time')} {text}"


def _of_policies(result: TraceResult) -> Iterator[str]:
    same: dict[str, list[str]] = {}
    for name, policy in zip(names_of(result), result.policies, strict=True):
        if policy.name != BOUND and (policy.reusable_tokens or _unfit(policy)):
            same.setdefault(_sentences(_of_policy(policy)), []).append(name)
    for text, labels in same.items():
        yield f"{'; '.join(labels)}: {text}"


def _unfit(policy: PolicyResult) -> int:
    """How many requests did not fit."""
    return sum(policy.loss(cause).requests for cause in (Cause.TOO_LONG, Cause.CUT))


def _sentences(parts: Iterator[str]) -> str:
    """One behind the other; the first goes on a line that has begun."""
    first, *others = parts
    return " ".join([first, *(each[0].upper() + each[1:] for each in others)])


def _of_policy(policy: PolicyResult) -> Iterator[str]:
    if refused := _unfit(policy):
        cut = "lost their middle" if policy.loss(Cause.CUT).requests else "were refused"
        yield (
            f"{refused:,} of {count(policy.rates.requests, 'prompt')} did not fit and {cut}: a longer context (context_tokens), or shorter "
            "prompts, come before all else."
        )
    if not policy.reusable_tokens:
        return
    if not loses_notably(policy):
        yield "nearly all that could be reused was reused; a larger cache would bring next to nothing."
        return
    worst = max(policy.losses, key=lambda loss: loss.lost_tokens)
    part = worst.lost_tokens / policy.reusable_tokens
    yield (
        f"{share(part)} of what could be reused was lost because {_WHY[worst.cause]} "
        f"({about(worst.lost_tokens)} tokens)."
    )
    found = best(policy.trials or (), policy.rates.hit_rate_tokens)
    if found is not None:
        yield _helps(policy, found)
        return
    if policy.trials:
        yield f"No setting that was tried helps ({_listed(policy.trials)})."
    if worst.cause in _ELSE and not (
        policy.trials and worst.cause is Cause.EVICTION
    ):  # larger ones were tried
        yield f"What may help: {_ELSE[worst.cause]}."


def _helps(policy: PolicyResult, trial: Trial) -> str:
    what = meaning(policy, trial.changed)
    changed = ", ".join(f"{name}={written(value)}" for name, value in trial.changed.items())
    return (
        f"With {changed}{f' ({what})' if what else ''} it would reuse {share(trial.hit_rate_tokens)} instead of "
        f"{share(policy.rates.hit_rate_tokens)}{_at_what_cost(policy, trial)}: --policy {shlex.quote(trial.label)}"
    )


def _at_what_cost(policy: PolicyResult, trial: Trial) -> str:
    own, other = policy.money, trial.money
    if own is None or other is None:
        return ""
    but = "and" if other.cost <= own.cost else "but"
    return f", {but} cost {money(other.cost, other.currency)} instead of {money(own.cost, own.currency)}"


def _listed(trials: Sequence[Trial]) -> str:
    """``parallel=2, 4 and 8; automatic=true``."""
    values: dict[str, list[str]] = {}
    for trial in trials:
        *others, (name, value) = trial.changed.items()
        key = ", ".join([*(f"{other}={written(known)}" for other, known in others), name])
        values.setdefault(key, []).append(written(value))
    return "; ".join(
        f"{key}={', '.join(tried[:-1])} and {tried[-1]}" if len(tried) > 1 else f"{key}={tried[0]}"
        for key, tried in values.items()
    )


def _of_prompts(result: TraceResult) -> Iterator[str]:
    # What was refused was never read, and is new when it comes again
    whole = [policy for policy in result.policies if not policy.loss(Cause.TOO_LONG).requests]
    if not whole:
        return
    policy = max(whole, key=lambda each: each.reusable_tokens)
    total = policy.rates.input_tokens
    if total and policy.new_tokens / total >= _MUCH_NEW:
        yield (
            f"{share(policy.new_tokens / total)} of all tokens were new: no cache can reuse what was never read. If "
            "the prompts look alike to you, something that changes stands early in them."
        )
        if result.has_text:
            yield f"`promptorder lint {shlex.quote(result.files[0])}` finds what changes before text that stays the same."
    early = result.early if result.has_text else ()
    for each in early[:1]:
        if each.earlier is not None:
            here = f"{each.place.path}:{each.place.line}"
            before = f"{each.earlier.path}:{each.earlier.line}"
            yield (
                f"Line {each.place.line:,} starts like earlier requests for {count(each.prompt_tokens - each.new_tokens, 'token')} of "
                f"{each.prompt_tokens:,} only; see where it parts: `promptorder diff {shlex.quote(before)} {shlex.quote(here)}`"
            )
