"""What to do next, by what was measured."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.errors import PromptorderError
from promptorder.layouts import built_in_layout
from promptorder.model.comparison import Comparison, Verdict

_SPOILT = {
    "nothing-reused": "Find out first why nothing is reused on this set-up: promptorder doctor",
    "only-repeats-reused": "Take another model: on this one no order of the prompt is reused.",
}
"""Caveats with which no advice on layouts holds, and what to do instead."""
_REMEDIES = ("clock-last", "clock-rounded")


def next_steps(comparison: Comparison) -> tuple[str, ...]:
    """What to do about it."""
    return tuple(_next_steps(comparison))


def _next_steps(comparison: Comparison) -> Iterator[str]:
    spoilt = [caveat.code for caveat in comparison.caveats if caveat.code in _SPOILT]
    if spoilt:
        yield _SPOILT[spoilt[0]]
        return
    measured = {layout.name: layout for layout in comparison.layouts}
    reused = [layout for layout in comparison.layouts if layout.verdict is Verdict.REUSED]
    wasted = [layout for layout in comparison.layouts if layout.verdict is Verdict.NOT_REUSED]
    if reused and wasted:
        best = min(reused, key=lambda layout: layout.follow_up_prefill_ns or 0)
        yield (
            f"Build your prompts like {best.name} ({_summary(best.name)}): what stays the same first, "
            "what changes last."
        )
    for layout in wasted:
        advice = _advice(layout.name)
        if advice:
            yield f"If yours looks like {layout.name}: {advice}"
    untried = [name for name in _REMEDIES if name not in measured]
    if untried and any(layout.name == "clock-first" for layout in wasted):
        yield "To see what the remedies save: add " + " ".join(f"--layout {name}" for name in untried)
    if not wasted and not reused:
        yield "Ask at least two questions about a document of 2,000 tokens or more, on a quiet machine."
    if reused and comparison.engine.name == "ollama":
        yield "Keep the model loaded between questions (keep_alive): unloading drops all that was read."


def _summary(name: str) -> str:
    try:
        return built_in_layout(name).summary
    except PromptorderError:
        return "your own layout"


def _advice(name: str) -> str:
    try:
        return built_in_layout(name).advice
    except PromptorderError:
        return "move everything that changes between requests behind the document."
