"""What the control calls show: how much of what each shares with earlier calls was reused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from promptorder.model.doctor import Call, CallKind, Counts

Shown = Literal["reused", "partly", "not-reused", "cannot-tell"]

_MOST, _LEAST = 0.5, 0.1
# Times spread by 8-20 % between equal calls on a busy machine.
_QUICK, _SLOW = 0.6, 0.8
_TELLING_NS = 150_000_000
"""Below this a call's fixed costs may be as long as its reading."""


def counts_of(calls: Sequence[Call]) -> Counts | None:
    """What the engine counted in these calls; None without a whole reply."""
    whole = [call for call in calls if call.failure is None]
    if not whole:
        return None
    if any(call.cached_tokens is not None for call in whole):
        return "cached"
    return "read" if any(call.read_tokens is not None for call in whole) else "nothing"


def find(calls: Sequence[Call], kind: CallKind) -> Call | None:
    """The call of that kind whose reply came whole."""
    return next((call for call in calls if call.kind == kind and call.failure is None), None)


def shown(calls: Sequence[Call], kind: CallKind) -> Shown | None:
    """What became of the part that this call shares with earlier ones; None where it was not made."""
    first, call = find(calls, "long"), find(calls, kind)
    if first is None or call is None:
        return None
    reused = tokens(calls, kind)
    if reused is None:
        return _by_time(first, call)
    count, whole = reused
    share = count / max(1.0, whole * call.shared_characters / call.characters)
    return "reused" if share >= _MOST else "not-reused" if share <= _LEAST else "partly"


def tokens(calls: Sequence[Call], kind: CallKind) -> tuple[int, int] | None:
    """(reused, whole prompt) of a call, where the engine counts; the whole from its length where it counts only reading."""
    first, call = find(calls, "long"), find(calls, kind)
    if first is None or call is None:
        return None
    if call.cached_tokens is not None and call.prompt_tokens:
        return call.cached_tokens, call.prompt_tokens
    if call.read_tokens is not None and first.read_tokens:
        whole = max(call.read_tokens, round(first.read_tokens * call.characters / first.characters))
        return whole - call.read_tokens, whole
    return None


def _by_time(first: Call, call: Call) -> Shown:
    """Cold, this call would take between its length's share of the first one and the square of that (all attention)."""
    if not first.prefill_ns or call.prefill_ns is None:
        return "cannot-tell"
    least_cold_ns = first.prefill_ns * (call.characters / first.characters) ** 2
    if call.prefill_ns <= _QUICK * least_cold_ns:
        return "reused"
    if call.prefill_ns >= _SLOW * least_cold_ns and least_cold_ns >= _TELLING_NS:
        return "not-reused"
    return "cannot-tell"


def figures(calls: Sequence[Call], kind: CallKind) -> str:
    """``812 of 830 tokens reused``, or the time where nothing is counted."""
    reused = tokens(calls, kind)
    call, first = find(calls, kind), find(calls, "long")
    if reused is not None:
        about = "" if call is not None and call.cached_tokens is not None else "about "
        return f"{about}{reused[0]:,} of {reused[1]:,} tokens reused"
    if call is None or first is None or call.prefill_ns is None or first.prefill_ns is None:
        return "no figures"
    return f"read in {call.prefill_ns / 1e9:.2f} s, the first call in {first.prefill_ns / 1e9:.2f} s"
