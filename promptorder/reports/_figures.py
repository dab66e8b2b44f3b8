"""What follows from a comparison's figures: what could be faster, what is still lost, and what is saved. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from promptorder.model.comparison import Comparison, LayoutResult, SampleResult, Verdict
from promptorder.model.sample import Phase, Reply

_DO_NOT_COUNT = {"failed-reply", "model-reloaded", "prompt-cut"}
_NS_AN_HOUR = 3.6e12

Change = Literal["faster", "slower", "not significant", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Position:
    """Where the prompts of a layout part, and what stands where; tokens, None where it is unknown."""

    shared: int
    before: int | None
    document: int | None
    after: int | None
    prompt: int
    exact: bool


@dataclass(frozen=True, slots=True)
class LayoutFigures:
    """What a layout's follow-ups come to: medians over those that count.

    ``possible`` is prompt / new tokens: how many times as fast a follow-up could be if time went with tokens
    alone. ``floor_ns`` is the part of a follow-up's prefill that stays whatever is reused: that of a warm
    repeat where one was made ("measured"), else what the new tokens do not explain at the cold call's speed
    ("estimated"). ``saved_ns`` is a follow-up's prefill beside that of ``reference``; None where no difference
    can be told. ``pays_after`` is how many follow-ups it takes until one more cold start has paid.
    """

    layout: LayoutResult
    prompt_tokens: int | None
    new_tokens: int | None
    possible: float | None
    speed_up: float | None
    floor_ns: int | None
    floor_method: Literal["measured", "estimated"] | None
    reference: str | None
    saved_ns: int | None
    pays_after: int | None
    position: Position | None


def figures(comparison: Comparison) -> list[LayoutFigures]:
    """The figures of each layout, in their order."""
    slowest = _slowest(comparison)
    return [_figures(comparison, layout, slowest) for layout in comparison.layouts]


def counting(comparison: Comparison, layout: LayoutResult, phase: Phase) -> list[SampleResult]:
    """The samples of one phase that count: whole, of a model that stayed loaded, of prompts that were not cut."""
    void = {
        place
        for caveat in comparison.caveats
        if caveat.layout == layout.name and caveat.code in _DO_NOT_COUNT
        for place in caveat.samples
    }
    return [
        result
        for result in layout.samples
        if result.sample.phase is phase
        and result.sample.reply is not None
        and (result.sample.repeat, result.sample.question) not in void
    ]


def middle(values: Iterable[int | float | None]) -> int | None:
    """The median of what is known, as a whole number."""
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def overlap(a: tuple[int, int] | None, b: tuple[int, int] | None) -> bool:
    """Whether two ranges have a value in common; an unknown one may hold any."""
    return a is None or b is None or (a[0] <= b[1] and b[0] <= a[1])


def change(base: LayoutResult, other: LayoutResult) -> Change:
    """How ``other``'s follow-ups stand beside ``base``'s: told by the ranges of their prefill times."""
    a, b = base.follow_up_prefill_spread_ns, other.follow_up_prefill_spread_ns
    if a is None or b is None or Verdict.VOID in (base.verdict, other.verdict):
        return "cannot tell"
    if min(_follow_ups(base), _follow_ups(other)) < 2:
        return "cannot tell"  # one value has no range
    if overlap(a, b):
        return "not significant"
    return "faster" if b[1] < a[0] else "slower"


def hours_per_day(saved_ns: int | None, per_day: int | None) -> float | None:
    """What ``per_day`` follow-ups save in a day, in hours."""
    return None if saved_ns is None or per_day is None else saved_ns * per_day / _NS_AN_HOUR


def _follow_ups(layout: LayoutResult) -> int:
    return sum(s.sample.phase is Phase.FOLLOW_UP and s.sample.reply is not None for s in layout.samples)


def _slowest(comparison: Comparison) -> LayoutResult | None:
    known = [each for each in comparison.layouts if each.follow_up_prefill_ns is not None]
    return max(known, key=lambda each: each.follow_up_prefill_ns or 0) if len(known) > 1 else None


def _figures(comparison: Comparison, layout: LayoutResult, slowest: LayoutResult | None) -> LayoutFigures:
    results = counting(comparison, layout, Phase.FOLLOW_UP)
    prompt = middle(result.prompt_tokens for result in results)
    new = middle(_new_tokens(result) for result in results)
    floor, method = _floor(comparison, layout, new)
    reference, saved = _saved(layout, slowest)
    first, later = layout.first_prefill_ns, layout.follow_up_prefill_ns
    return LayoutFigures(
        layout=layout,
        prompt_tokens=prompt,
        new_tokens=new,
        possible=prompt / new if prompt and new else None,
        speed_up=first / later if first and later else None,
        floor_ns=floor,
        floor_method=method,
        reference=reference,
        saved_ns=saved,
        pays_after=math.ceil(first / saved) if first and saved else None,
        position=_position(layout.samples),
    )


def _new_tokens(result: SampleResult) -> int | None:
    if result.prompt_tokens is None or result.reused_tokens.value is None:
        return None
    return max(1, round(result.prompt_tokens - result.reused_tokens.value))


def _floor(
    comparison: Comparison, layout: LayoutResult, new: int | None
) -> tuple[int | None, Literal["measured", "estimated"] | None]:
    warm = [s.reply for s in comparison.control_samples if s.layout == layout.name and s.reply]
    measured = middle(reply.prefill_ns for reply in warm)
    if measured is not None:
        return measured, "measured"
    cold = [r.sample.reply for r in counting(comparison, layout, Phase.FIRST)]
    speeds = [_ns_a_token(reply) for reply in cold if reply is not None]
    known = [speed for speed in speeds if speed is not None]
    later = layout.follow_up_prefill_ns
    prompt = middle(reply.prompt_tokens for reply in cold if reply is not None)
    # Where most is read again, the machine's changing speed hides what a call costs by itself.
    if not known or new is None or later is None or prompt is None or new > prompt / 2:
        return None, None
    floor = round(later - new * median(known))
    return (floor, "estimated") if floor > 0 else (None, None)


def _ns_a_token(reply: Reply) -> float | None:
    if not reply.prefill_ns or not reply.prompt_tokens:
        return None
    return reply.prefill_ns / reply.prompt_tokens


def _saved(layout: LayoutResult, slowest: LayoutResult | None) -> tuple[str | None, int | None]:
    """Beside the slowest layout; where there is one alone, beside its own first question."""
    later = layout.follow_up_prefill_ns
    if later is None or layout.verdict is Verdict.VOID:
        return None, None
    if slowest is None:
        first = layout.first_prefill_ns
        return None, first - later if first and first > later else None
    if slowest.name == layout.name or change(layout, slowest) != "slower" or not slowest.follow_up_prefill_ns:
        return slowest.name, None
    return slowest.name, slowest.follow_up_prefill_ns - later


def _position(samples: Sequence[SampleResult]) -> Position | None:
    due = [r.expected for r in samples if r.sample.phase is Phase.FOLLOW_UP and r.expected]
    prompt, shared = middle(e.prompt_tokens for e in due), middle(e.shared_tokens for e in due)
    if prompt is None or shared is None:
        return None
    before = middle(e.before_document_tokens for e in due)
    document = middle(e.document_tokens for e in due)
    after = None if before is None or document is None else max(0, prompt - before - document)
    return Position(shared, before, document, after, prompt, all(e.exact for e in due))
