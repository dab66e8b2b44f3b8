"""Causes in plain words, and figures of a trace as people read them."""

from __future__ import annotations

from promptorder.model.serverlog import CacheChange, SlotChoice
from promptorder.model.trace import Cause
from promptorder.model.trace_result import Place, PolicyResult, TraceResult

CAUSES = {
    Cause.FIRST_REQUEST: "first of its kind",
    Cause.FIRST_DIFFERENCE: "rest of a block",
    Cause.REPEATED: "evaluated each time",
    Cause.EVICTION: "evicted",
    Cause.LIFETIME: "expired",
    Cause.BELOW_MINIMUM: "below the minimum",
    Cause.OTHER_SLOT: "kept elsewhere",
    Cause.NOT_MARKED: "not marked",
    Cause.HOST_CACHE: "left in memory",
    Cause.TOO_LONG: "too long, refused",
    Cause.CUT: "too long, cut",
    Cause.SWITCHED_OFF: "switched off",
}
"""What became of tokens that had been read before, and yet were not reused."""

DEFINITIONS = (
    "Reused: reused tokens of all prompt tokens. Mean: the mean of each request's own share. Last half: as Reused, over "
    "the later half of the requests. Any: requests of which anything was reused."
)
NEW = "new text"
_OF_REUSABLE, _OF_ALL = 0.02, 0.01
OBSERVED = "observed"
"""The row of what a server itself said."""


_CHOICES = {
    SlotChoice.LCP_SIMILARITY: "the slot with the longest common start",
    SlotChoice.LRU: "no slot was like enough: the one idle longest",
    SlotChoice.HOST_CACHE: "a prompt kept in the host's memory",
    SlotChoice.BY_ID: "the slot that the client named",
    SlotChoice.FORK: "the start copied out of another slot",
}
_CHANGES = {
    CacheChange.LOADED: "the model had just been loaded",
    CacheChange.UNLOADED: "a model was unloaded",
    CacheChange.TRUNCATED: "the prompt was cut to fit the context",
    CacheChange.CONTEXT_SHIFT: "the middle of a slot was thrown away to make room",
    CacheChange.NO_CACHE_DATA: "the state to go on from was gone",
    CacheChange.CHECKPOINT_RESTORED: "a saved state was put back",
    CacheChange.CHECKPOINT_ERASED: "a saved state was dropped",
    CacheChange.HOST_CACHE_EVICTED: "the oldest prompt in the host's memory was dropped",
    CacheChange.HOST_CACHE_SKIPPED: "a prompt was too large for the host's memory",
    CacheChange.CHUNK_REUSED: "tokens behind the first difference were moved instead of read again",
    CacheChange.SLOT_CLEARED: "a slot was cleared",
    CacheChange.SLOT_EVICTED: "a slot was taken over by another prompt",
}


def server_word(why: SlotChoice | CacheChange | None) -> str:
    """What a server's log says, ``-`` where it says nothing."""
    if why is None:
        return "-"
    return _CHOICES[why] if isinstance(why, SlotChoice) else _CHANGES[why]


def whole(number: int) -> str:
    """``12,031``."""
    return f"{number:,}"


def about(number: int) -> str:
    """``54,011``, ``144.8 million``, ``1.2 billion``: for sentences."""
    for unit, name in ((1_000_000_000, "billion"), (1_000_000, "million")):
        if number >= unit:
            return f"{number / unit:,.1f} {name}"
    return f"{number:,}"


def names_of(result: TraceResult) -> list[str]:
    """What each policy is called: its name where no other has it, else with its options."""
    every = [policy.name for policy in result.policies]
    return [
        policy.name if every.count(policy.name) == 1 else policy.label.replace(",", ", ")
        for policy in result.policies
    ]


def share(value: float | None) -> str:
    """``37.4 %``: one digit behind the point throughout, so that columns can be read downwards; ``?`` where it is unknown."""
    if value is None:
        return "?"
    shown = 100 * value
    if 0 < shown < 0.05:
        return "<0.1 %"
    return ">99.9 %" if 99.95 <= shown < 100 else f"{shown:.1f} %"


def tokens_known(result: TraceResult) -> str:
    """How the prompts became tokens, for a sentence."""
    if result.tokenizer is None:
        return "as the trace counts them" if result.policies else "as the server counts them"
    return f"{result.counting} with {result.tokenizer}" if result.counting == "counted" else "estimated"


def place(where: Place, result: TraceResult) -> str:
    """A line of the only file, or a line and its file."""
    return f"line {where.line:,}" if result.files == (where.path,) else f"{where.path}:{where.line}"


def share_of_reusable(policy: PolicyResult) -> float | None:
    """The share of what could have been reused that was lost; None where there was nothing to reuse."""
    return policy.lost_tokens / policy.reusable_tokens if policy.reusable_tokens else None


def loses_notably(policy: PolicyResult) -> bool:
    """Whether more was lost than every cache loses: of what could be reused, and of all tokens."""
    lost = share_of_reusable(policy) or 0.0
    return lost >= _OF_REUSABLE and policy.lost_tokens >= _OF_ALL * policy.rates.input_tokens


def money(value: float, currency: str) -> str:
    """``12.40 USD``; small sums keep the digits that tell them from nothing."""
    if abs(value) >= 100:
        return f"{value:,.0f} {currency}"
    return f"{value:,.2f} {currency}" if abs(value) >= 1 or not value else f"{value:.4f} {currency}"
