"""What control calls show: how much of what each shares with earlier calls was reused. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from promptorder.model.doctor import Call, CallKind, Counts
from promptorder.model.sample import Control, Reply, Sample

Shown = Literal["reused", "partly", "not-reused", "cannot-tell"]
Ability = Literal["works", "hangs-on-tail", "partly", "only-repeats", "nothing", "cannot-tell"]
"""What a server and model can reuse: any shared start; one only behind a prompt with a short end; a part; nothing but
an identical prompt; nothing at all."""

_MOST, _LEAST = 0.5, 0.1
# Times spread by 8-20 % between equal calls on a busy machine.
_QUICK, _SLOW = 0.6, 0.8
_TELLING_NS = 150_000_000
"""Below this a call's fixed costs may be as long as its reading."""


def call_of(control: Control, reply: Reply | None, failure: str | None = None) -> Call:
    """A control call with what its reply tells."""
    place = (control.kind, control.characters, control.shared_characters)
    if reply is None:
        return Call(*place, failure=failure)
    return Call(
        *place,
        prompt_tokens=reply.prompt_tokens,
        cached_tokens=reply.cached_tokens,
        read_tokens=reply.read_tokens,
        prefill_ns=reply.prefill_ns,
        load_ns=reply.load_ns,
        waited_ns=reply.waited_ns,
    )


def calls_of(samples: Iterable[Sample]) -> list[Call]:
    """The control calls among a run's samples."""
    return [call_of(s.control, s.reply, s.failure) for s in samples if s.control is not None]


def ability(calls: Sequence[Call]) -> Ability:
    """What the control calls show of a server and model."""
    short, other, repeat = (shown(calls, kind) for kind in ("short", "other-tail", "repeat"))
    if other == "reused":
        return "hangs-on-tail" if short in ("not-reused", "partly") else "works"
    if "partly" in (short, other) or short == "reused":
        return "partly"
    if short == other == "not-reused":
        return "only-repeats" if repeat == "reused" else "nothing"
    return "cannot-tell"


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
    return f"read in {_seconds(call.prefill_ns)}, the first call in {_seconds(first.prefill_ns)}"


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.2f} s" if ns >= 99_500_000 else f"{ns / 1e9:.3f} s"
