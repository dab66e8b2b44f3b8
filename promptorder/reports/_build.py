"""The neutral report of a comparison: figures, then what they mean, what to do next, and the caveats."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.errors import PromptorderError
from promptorder.layouts import built_in_layout
from promptorder.model.comparison import Comparison, LayoutResult, Verdict
from promptorder.model.report import Bar, Bars, Block, Bullets, Column, Heading, Paragraph, Report, Table
from promptorder.model.sample import Phase
from promptorder.reports._words import band, count, percent, seconds, times

_REMEDIES = ("clock-last", "clock-rounded")


def build_report(comparison: Comparison) -> Report:
    """All formats for people show these blocks in this order."""
    return Report(tuple(_blocks(comparison)))


def _blocks(comparison: Comparison) -> Iterator[Block]:
    yield Paragraph(_subject(comparison))
    yield Paragraph(
        "Seconds of prefill (reading the prompt, before the first token of the answer) for the first question "
        "and, as a median, for the follow-ups; Total is a follow-up with its answer. Faster: a follow-up's "
        "prefill beside the first one."
    )
    yield _table(comparison)
    yield Bars(
        "Share of each follow-up prompt that was not read again",
        tuple(
            Bar(layout.name, percent(layout.reused_fraction.value), layout.reused_fraction.value)
            for layout in comparison.layouts
        ),
    )
    yield Heading("What it means")
    yield Bullets(tuple(_meaning(layout) for layout in comparison.layouts))
    steps = tuple(_next_steps(comparison))
    if steps:
        yield Heading("What to do next")
        yield Bullets(steps)
    if comparison.caveats:
        yield Heading("To keep in mind")
        yield Bullets(
            tuple(
                f"{caveat.layout}: {caveat.message}" if caveat.layout else _sentence(caveat.message)
                for caveat in comparison.caveats
            )
        )


def _subject(comparison: Comparison) -> str:
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


def _table(comparison: Comparison) -> Table:
    columns = (
        Column("Layout"),
        Column("First", "right"),
        Column("Follow-up", "right"),
        Column("Total", "right"),
        Column("Faster", "right"),
        Column("Reused", "right"),
        Column("Band", "right"),
        Column("How known"),
    )
    rows = tuple(
        (
            layout.name,
            seconds(layout.first_prefill_ns),
            seconds(layout.follow_up_prefill_ns),
            seconds(layout.follow_up_total_ns),
            times(layout.first_prefill_ns, layout.follow_up_prefill_ns),
            percent(layout.reused_fraction.value) if layout.verdict is not Verdict.VOID else "void",
            band(layout.reused_fraction),
            layout.reused_fraction.method,
        )
        for layout in comparison.layouts
    )
    return Table(columns, rows)


def _meaning(layout: LayoutResult) -> str:
    reused = percent(layout.reused_fraction.value)
    first, later = seconds(layout.first_prefill_ns), seconds(layout.follow_up_prefill_ns)
    about = "about " if layout.reused_fraction.method == "inferred" else ""
    match layout.verdict:
        case Verdict.REUSED:
            return (
                f"{layout.name}: the document was read once. Each follow-up reused {about}{reused} of its prompt "
                f"and was ready to answer after {later} s instead of {first} s."
            )
        case Verdict.NOT_REUSED:
            tokens = _prompt_tokens(layout)
            whole = f"all of its {tokens:,} tokens" if tokens else "the whole prompt"
            return (
                f"{layout.name}: the document was read again for every question. Each follow-up reused {about}"
                f"{reused}, so it read nearly {whole} again: {later} s."
            )
        case Verdict.VOID:
            return f"{layout.name}: no follow-up was measured cleanly, so there is nothing to say."
        case _:
            followups = any(s.sample.phase is Phase.FOLLOW_UP for s in layout.samples)
            if not followups:
                return f"{layout.name}: one question alone shows no reuse; the prefill took {first} s."
            return (
                f"{layout.name}: it cannot be told whether the document was reused; a follow-up's prefill took "
                f"{later} s, the first one {first} s."
            )


def _next_steps(comparison: Comparison) -> Iterator[str]:
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


def _prompt_tokens(layout: LayoutResult) -> int | None:
    known = [s.prompt_tokens for s in layout.samples if s.prompt_tokens]
    return max(known) if known else None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
