"""What a comparison is about, and what was found, in a sentence each."""

from __future__ import annotations

from promptorder.model.comparison import Comparison, Verdict
from promptorder.model.run import Runs
from promptorder.reports._figures import change
from promptorder.reports._runs import labels
from promptorder.reports._words import count, listed, seconds, times


def headline(runs: Runs) -> str:
    """What was found, in a sentence."""
    if len(runs.runs) == 1:
        return _headline(runs.runs[0].comparison)
    names = labels(runs.runs)
    changes = [
        (name, layout.name, change(base, layout), base, layout)
        for name, run in zip(names[1:], runs.runs[1:], strict=True)
        for layout in run.comparison.layouts
        for base in runs.runs[0].comparison.layouts
        if base.name == layout.name
    ]
    told = [
        f"{layout} is {times(base.follow_up_prefill_ns, mine.follow_up_prefill_ns)} as fast in {name}"
        for name, layout, kind, base, mine in changes
        if kind in ("faster", "slower")
    ]
    if not told:
        return f"Beside {names[0]}, no layout's follow-ups are plainly faster or slower."
    rest = len(changes) - len(told)
    more = f"; for {count(rest, 'other')} no difference can be told" if rest else ""
    return f"Beside {names[0]}: {'; '.join(told)}{more}."


def _headline(comparison: Comparison) -> str:
    by = {v: [x for x in comparison.layouts if x.verdict is v] for v in Verdict}
    reused, wasted = by[Verdict.REUSED], by[Verdict.NOT_REUSED]
    if reused:
        best = min(reused, key=lambda each: each.follow_up_prefill_ns or 0)
        ready = seconds(best.follow_up_prefill_ns)
        start = f"With {best.name} the document was read once, and a follow-up was ready to answer after {ready} s"
        if not wasted:
            return f"{start} instead of {seconds(best.first_prefill_ns)} s."
        worst = max(wasted, key=lambda each: each.follow_up_prefill_ns or 0)
        slow = seconds(worst.follow_up_prefill_ns)
        return f"{start}; with {listed([each.name for each in wasted])} it was read again every time, up to {slow} s."
    if wasted:
        worst = max(wasted, key=lambda each: each.follow_up_prefill_ns or 0)
        slow = seconds(worst.follow_up_prefill_ns)
        names = listed([each.name for each in wasted])
        return f"With {names} the document was read again for every question: {slow} s each time."
    if by[Verdict.CANNOT_TELL]:
        return "It cannot be told from this run whether the document was reused."
    return "No follow-up was measured cleanly, so this run says nothing about reuse."


def subject(comparison: Comparison) -> str:
    """Which document, model and engine it is about."""
    engine, document = comparison.engine, comparison.document
    version = f" {engine.version}" if engine.version else ""
    tokens = [s.prompt_tokens for layout in comparison.layouts for s in layout.samples if s.prompt_tokens]
    size = f", prompts of about {max(tokens):,} tokens" if tokens else ""
    name = "standard input" if document.path == "-" else document.path
    pages = ""
    if document.pages:
        pages = ", pages " + ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in document.pages)
    return (
        f"{name}{pages} with {count(len(comparison.questions), 'question')}{size}, on {engine.model} "
        f"({engine.name}{version}, context {engine.context_tokens or 0:,})"
    )
