"""What to do next, in plain words for people who are no experts of caches."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from promptorder.model.serverlog import CacheChange, SlotChoice
from promptorder.model.trace import Cause
from promptorder.model.trace_result import BOUND, PolicyResult, TraceResult
from promptorder.reports._trace._words import about, names_of, share, share_of_reusable
from promptorder.reports._words import count

_WORTH_A_WORD = 0.02
_OF_ALL = 0.01
"""Losses below these shares, of what could be reused and of all tokens, need no remedy."""
_MUCH_NEW = 0.5

_WHY = {
    Cause.EVICTION: "it had been thrown out to make room",
    Cause.LIFETIME: "it had been kept for too short a time",
    Cause.BELOW_MINIMUM: "the shared start was shorter than the least that is cached",
    Cause.OTHER_SLOT: "it was kept elsewhere than in the slot that answered",
    Cause.NOT_MARKED: "no breakpoint stood where the shared start ends",
    Cause.TOO_LONG: "the prompt does not fit, and was refused",
    Cause.FIRST_DIFFERENCE: "only whole blocks are reused",
    Cause.REPEATED: "the end of a repeated prompt is evaluated each time",
    Cause.FIRST_REQUEST: "the cache could not match it",
}
_OWN = {
    "lifetime_s": "a longer lifetime where the service offers one (lifetime_s)",
    "keep_alive_s": "a longer keep-alive, such as OLLAMA_KEEP_ALIVE=1h (keep_alive_s)",
    "slots": "more slots (slots)",
    "parallel": "more slots, such as OLLAMA_NUM_PARALLEL=4 (parallel)",
    "cache_ram_mib": "more memory for prompts that leave a slot (cache_ram_mib)",
    "context_tokens": "a longer context (context_tokens)",
}
"""What a policy's options are to a person, where they are a remedy."""
_BY = {
    Cause.EVICTION: ("slots", "parallel", "cache_ram_mib"),
    Cause.LIFETIME: ("keep_alive_s", "lifetime_s"),
    Cause.OTHER_SLOT: ("slots", "parallel"),
    Cause.TOO_LONG: ("context_tokens",),
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
    Cause.LIFETIME: "send requests that share a start closer together",
    Cause.BELOW_MINIMUM: "put more of what stays the same in front, or do not count on this cache for short prompts",
    Cause.OTHER_SLOT: "send the requests of one conversation to the slot that answered it before",
    Cause.NOT_MARKED: "put a breakpoint behind the part that stays the same",
    Cause.FIRST_DIFFERENCE: "smaller blocks waste less, where the engine allows them",
    Cause.TOO_LONG: "shorten the prompts",
}


def advice(result: TraceResult) -> list[str]:
    """A sentence or two for each policy, and what to look at in the prompts themselves."""
    return [*_of_observed(result), *_of_policies(result), *_of_prompts(result)]


def _of_observed(result: TraceResult) -> Iterator[str]:
    observed = result.observed
    if observed is None:
        return
    why, events, requests = observed.why or {}, observed.events or {}, observed.rates.requests
    idle = why.get(SlotChoice.LRU, 0)
    if idle > 1 and idle >= _WORTH_A_WORD * requests:  # a fresh server has no other way
        yield (
            f"{idle:,} of {count(requests, 'request')} found no slot with a start like theirs. Where conversations take turns, more "
            "slots keep them apart (OLLAMA_NUM_PARALLEL, llama-server -np); where every prompt begins differently, put what "
            "stays the same first."
        )
    for change, text in _SERVER.items():
        if events.get(change, 0) > (change is CacheChange.LOADED):
            yield f"{count(events[change], 'time')} {text}"


def _of_policies(result: TraceResult) -> Iterator[str]:
    same: dict[str, list[str]] = {}
    for name, policy in zip(names_of(result), result.policies, strict=True):
        if policy.name != BOUND and policy.reusable_tokens:
            same.setdefault(" ".join(_of_policy(policy)), []).append(name)
    for text, labels in same.items():
        yield f"{'; '.join(labels)}: {text}"


def _of_policy(policy: PolicyResult) -> Iterator[str]:
    lost = share_of_reusable(policy) or 0.0
    if lost < _WORTH_A_WORD or policy.lost_tokens < _OF_ALL * policy.rates.input_tokens:
        yield "nearly all that could be reused was reused; a larger cache would bring next to nothing."
        return
    worst = max(policy.losses, key=lambda loss: loss.lost_tokens)
    part = worst.lost_tokens / policy.reusable_tokens
    yield (
        f"{share(part)} of what could be reused was lost because {_WHY[worst.cause]} "
        f"({about(worst.lost_tokens)} tokens)."
    )
    remedies = _remedies(policy, worst.cause)
    if remedies:
        text = "; or ".join(remedies)
        yield f"What may help: {text}."


def _remedies(policy: PolicyResult, cause: Cause) -> list[str]:
    own = [_OWN[name] for name in _BY.get(cause, ()) if name in policy.all_options]
    if cause is Cause.EVICTION and not own and policy.size_option is not None:
        own = [f"a larger cache ({policy.size_option})"]
    return [*own, *([_ELSE[cause]] if cause in _ELSE else [])]


def _of_prompts(result: TraceResult) -> Iterator[str]:
    if not result.policies:
        return
    policy = max(result.policies, key=lambda each: each.reusable_tokens)
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
