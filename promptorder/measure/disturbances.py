"""What disturbed a run: a machine that changed its speed, calls that had to wait, figures that cannot be. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from promptorder.measure.faults import loading_limit_ns, place
from promptorder.model.comparison import Caveat, LayoutResult, SampleResult
from promptorder.model.sample import Phase, Reply, Sample

DRIFT = 1.4
"""Cold calls of about the same length spread by 20 % and more on a busy machine; beyond this they are told."""
_TELLING_NS = 150_000_000
"""Below this a call's fixed costs may be as long as its reading."""
_WAIT_NS, _WAIT_RATIO = 500_000_000, 5.0
"""A wait is told from here on, where it is also so many times the usual: long prompts take their time to be rendered."""
_QUICK, _SLOW = 0.3, 0.9
_MOST, _LEAST = 0.9, 0.1


def disturbances(samples: Sequence[Sample], layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    """Caveats about the samples that were disturbed."""
    yield from _drift(layouts)
    yield from _waits(samples, layouts)
    yield from _durations(layouts)
    yield from _cut_answers(layouts)


def contradicts_time(result: SampleResult, cold: Reply | None) -> bool:
    """Whether the count says one thing and the time plainly another; ``cold`` is the block's first reply.

    Cold, a prompt would take between its length's share of the first one's time and the square of that (attention).
    """
    reply, n, reused = result.sample.reply, result.prompt_tokens, result.reused_tokens
    if (
        result.sample.phase is not Phase.FOLLOW_UP
        or reply is None
        or cold is None
        or reused.method != "counted"
    ):
        return False
    cold_tokens = cold.prompt_tokens or cold.read_tokens
    if not n or not cold_tokens or not cold.prefill_ns or reply.prefill_ns is None or reused.value is None:
        return False
    ratio = n / cold_tokens
    least_ns = cold.prefill_ns * min(ratio, ratio**2)
    most_ns = cold.prefill_ns * max(ratio, ratio**2)
    if least_ns < _TELLING_NS:
        return False
    if reused.value <= _LEAST * n:
        return reply.prefill_ns < _QUICK * least_ns
    return reused.value >= _MOST * n and reply.prefill_ns > _SLOW * most_ns


def contradiction(name: str, wrong: Sequence[SampleResult]) -> Caveat:
    """The caveat about samples whose count contradicts their time."""
    return Caveat(
        "count-contradicts-time",
        "what the server counts as reused and what reading took contradict each other, so neither is believed: a "
        "proxy or another program may imitate Ollama, or its version counts in another way",
        name,
        tuple(place(r.sample) for r in wrong),
    )


def _drift(layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    """Cold calls read all of their prompts, so their speeds show the machine's."""
    speeds = {
        layout.name: [(speed, r.sample) for r in layout.samples if (speed := _cold_speed(r))]
        for layout in layouts
    }
    every = [speed for told in speeds.values() for speed, _ in told]
    if len(every) < 2 or max(every) < DRIFT * min(every):
        return
    middle = median(every)
    for layout in layouts:
        far = [s for speed, s in speeds[layout.name] if max(speed / middle, middle / speed) >= DRIFT**0.5]
        if far:
            yield Caveat(
                "machine-drift",
                f"this machine changed its speed during the run: cold calls read {min(every):,.0f} to {max(every):,.0f} "
                "tokens a second. Times of different layouts compare badly; shares that are counted hold. "
                "Repeat it when nothing else runs (--repeats 3).",
                layout.name,
                tuple(place(s) for s in far),
            )


def _cold_speed(result: SampleResult) -> float | None:
    """Tokens a second of a cold call that took long enough to tell."""
    reply = result.sample.reply
    if result.sample.phase is not Phase.FIRST or reply is None:
        return None
    tokens, ns = reply.prompt_tokens or reply.read_tokens, reply.prefill_ns
    return tokens / ns * 1e9 if tokens and ns and ns >= _TELLING_NS else None


def _waits(samples: Sequence[Sample], layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    """Calls that had to wait for their turn: at the server, in what stands before it, or to be scheduled."""
    results = [r for layout in layouts for r in layout.samples]
    waits = [wait for r in results if (wait := _waited_ns(r)) is not None]
    usual = median(waits) if waits else 0
    for layout in layouts:
        limits = {
            s.repeat: loading_limit_ns(s.reply.load_ns)
            for s in samples
            if s.layout == layout.name and s.phase is Phase.LOAD and s.reply is not None
        }
        waited = [
            r.sample
            for r in layout.samples
            if (_waited_ns(r) or 0) > max(_WAIT_NS, _WAIT_RATIO * usual)
            or _was_held_up(r, limits.get(r.sample.repeat))
        ]
        if waited:
            yield Caveat(
                "busy-server",
                "calls had to wait before they were read or sent back: somebody else uses the server. Their Total says "
                "little; prefill and reuse are not touched by it.",
                layout.name,
                tuple(place(s) for s in waited),
            )


def _waited_ns(result: SampleResult) -> int | None:
    """What is left of a call's time, the server's or ours, beside loading and work."""
    reply = result.sample.reply
    if reply is None:
        return None
    outside = (
        None if reply.elapsed_ns is None or reply.total_ns is None else reply.elapsed_ns - reply.total_ns
    )
    known = [each for each in (reply.waited_ns, outside) if each is not None]
    return max(known) if known else None


def _was_held_up(result: SampleResult, limit_ns: float | None) -> bool:
    """A long "loading" of a model whose cache was kept: the wait for the scheduler."""
    reply, reused = result.sample.reply, result.reused_tokens
    if (
        result.sample.phase is not Phase.FOLLOW_UP
        or reply is None
        or reply.load_ns is None
        or limit_ns is None
    ):
        return False
    counted = reused.method in ("counted", "logged") and reused.value is not None
    kept = counted and (reused.value or 0) >= 0.5 * (result.prompt_tokens or 0)
    return kept and reply.load_ns > limit_ns


def _durations(layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    """Times that the client's own clock contradicts: servers that imitate another one's figures."""
    for layout in layouts:
        replies = [(r.sample, r.sample.reply) for r in layout.samples if r.sample.reply is not None]
        wrong = [sample for sample, reply in replies if _is_impossible(reply)]
        if wrong:
            yield Caveat(
                "durations-not-believable",
                "the server's times do not fit our clock: longer than the whole call, or a hundredth of it. A proxy or "
                "another program may imitate Ollama, or give another unit; seconds and what is inferred from them say nothing.",
                layout.name,
                tuple(place(s) for s in wrong),
            )


def _is_impossible(reply: Reply) -> bool:
    elapsed, total, prefill = reply.elapsed_ns, reply.total_ns, reply.prefill_ns
    if elapsed is None:
        return False
    if prefill is not None and prefill > 1.1 * elapsed + 50_000_000:
        return True
    return total is not None and elapsed > 100_000_000 and total < elapsed / 100


def _cut_answers(layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    for layout in layouts:
        cut = [
            r.sample
            for r in layout.samples
            if r.sample.reply is not None and r.sample.reply.done_reason == "length"
        ]
        if cut:
            yield Caveat(
                "answer-cut",
                "answers ended where --num-predict ends them, so Total compares only their beginnings. Raise it to compare "
                "whole answers.",
                layout.name,
                tuple(place(s) for s in cut),
            )
