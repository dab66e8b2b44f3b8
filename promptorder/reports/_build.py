"""The neutral report of a comparison: figures, then what they mean, what to do next, and the caveats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptorder.errors import PromptorderError
from promptorder.layouts import built_in_layout
from promptorder.model.comparison import AnswerCheck, Comparison, LayoutResult, Verdict
from promptorder.model.report import Bar, Bars, Block, Bullets, Column, Heading, Paragraph, Report, Table
from promptorder.model.run import Run, Runs
from promptorder.model.sample import Phase
from promptorder.reports._figures import LayoutFigures, Position, change, figures, hours_per_day
from promptorder.reports._prices import money_per_day, price_of
from promptorder.reports._runs import differences, labels
from promptorder.reports._words import amount, band, count, percent, ratio, seconds, times

_SPOILT = {
    "nothing-reused": "Find out first why nothing is reused on this set-up: promptorder doctor",
    "only-repeats-reused": "Take another model: on this one no order of the prompt is reused.",
}
"""Caveats with which no advice on layouts holds, and what to do instead."""
_BEFORE, _BEHIND = 20, 24
"""Characters of an answer that are shown where it parts from another one."""
_REMEDIES = ("clock-last", "clock-rounded")
_COLUMNS = (
    Column("Layout"),
    Column("First", "right"),
    Column("Follow-up", "right"),
    Column("Total", "right"),
    Column("Faster", "right"),
    Column("Reused", "right"),
    Column("Band", "right"),
    Column("How known"),
)
_OF_SEVERAL = ("Layout", "First", "Follow-up", "Faster", "Reused")
EXPLANATION = (
    "Seconds of prefill (reading the prompt, before the first token of the answer) for the first question "
    "and, as a median, for the follow-ups; Total is a follow-up with its answer. Faster: a follow-up's "
    "prefill beside the first one."
)


def build_report(runs: Runs) -> Report:
    """All formats for people show these blocks in this order."""
    if len(runs.runs) == 1:
        return Report(tuple(_one(runs)))
    return Report(tuple(_several(runs)))


def _one(runs: Runs) -> Iterator[Block]:
    [run] = runs.runs
    comparison = run.comparison
    yield Paragraph(subject(comparison))
    yield Paragraph(EXPLANATION)
    yield table(comparison)
    yield Bars(
        "Share of each follow-up prompt that was not read again",
        tuple(
            Bar(layout.name, percent(layout.reused_fraction.value), layout.reused_fraction.value)
            for layout in comparison.layouts
        ),
    )
    yield Heading("What it means")
    yield Bullets(meanings(run))
    yield from _bullets("What it saves", savings(run, runs))
    yield from _bullets("Answers asked again cold", checked_answers(comparison))
    yield from _bullets("What to do next", next_steps(comparison))
    yield from _bullets("To keep in mind", caveats(comparison))


def _several(runs: Runs) -> Iterator[Block]:
    names = labels(runs.runs)
    yield Paragraph(headline(runs))
    yield Bullets(tuple(f"{n}: {subject(run.comparison)}" for n, run in zip(names, runs.runs, strict=True)))
    yield Paragraph(f"{EXPLANATION} {beside(runs)}")
    yield runs_table(runs)
    yield from _bullets("What is not the same", tuple(differences(runs.runs)))
    for name, run in zip(names, runs.runs, strict=True):
        yield Heading(f"{name}: what it means")
        yield Bullets(meanings(run))
        yield from _bullets(f"{name}: what it saves", savings(run, runs))
    steps = dict.fromkeys(step for run in runs.runs for step in next_steps(run.comparison))
    yield from _bullets("What to do next", tuple(steps))
    for name, run in zip(names, runs.runs, strict=True):
        yield from _bullets(f"{name}: answers asked again cold", checked_answers(run.comparison))
        yield from _bullets(f"{name}: to keep in mind", caveats(run.comparison))


def _bullets(title: str, items: Sequence[str]) -> Iterator[Block]:
    if items:
        yield Heading(title)
        yield Bullets(tuple(items))


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
        return f"{start}; with {_and([each.name for each in wasted])} it was read again every time, up to {slow} s."
    if wasted:
        worst = max(wasted, key=lambda each: each.follow_up_prefill_ns or 0)
        slow = seconds(worst.follow_up_prefill_ns)
        names = _and([each.name for each in wasted])
        return f"With {names} the document was read again for every question: {slow} s each time."
    if by[Verdict.CANNOT_TELL]:
        return "It cannot be told from this run whether the document was reused."
    return "No follow-up was measured cleanly, so this run says nothing about reuse."


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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


def table(comparison: Comparison) -> Table:
    """The figures of one comparison."""
    return Table(_COLUMNS, tuple(cells(layout) for layout in comparison.layouts))


def runs_table(runs: Runs) -> Table:
    """The figures of several, a row for each run and layout, with the change beside the first run."""
    # Fewer columns than for one run: they must fit a terminal.
    kept = [_COLUMNS.index(column) for column in _COLUMNS if column.title in _OF_SEVERAL]
    rows = tuple(
        (name, *(cells(layout)[i] for i in kept), changed(runs, run, layout))
        for name, run in zip(labels(runs.runs), runs.runs, strict=True)
        for layout in run.comparison.layouts
    )
    return Table((Column("Run"), *(_COLUMNS[i] for i in kept), Column("Change")), rows)


def changed(runs: Runs, run: Run, layout: LayoutResult) -> str:
    """A layout of a run beside the same one of the first run, in words."""
    base = next((each for each in runs.runs[0].comparison.layouts if each.name == layout.name), None)
    if run is runs.runs[0] or base is None:
        return "-"
    kind, a, b = change(base, layout), base.follow_up_prefill_ns, layout.follow_up_prefill_ns
    if kind == "faster":
        return f"{times(a, b)} as fast"
    return f"{times(b, a)} as slow" if kind == "slower" else kind


def beside(runs: Runs) -> str:
    """What the column Change means."""
    return (
        f"Change: a follow-up's prefill beside the same layout in {labels(runs.runs)[0]}; not significant where "
        "the ranges of their samples overlap."
    )


def cells(layout: LayoutResult) -> tuple[str, ...]:
    """A layout's row of the table of one run."""
    return (
        layout.name,
        seconds(layout.first_prefill_ns),
        seconds(layout.follow_up_prefill_ns),
        seconds(layout.follow_up_total_ns),
        times(layout.first_prefill_ns, layout.follow_up_prefill_ns),
        percent(layout.reused_fraction.value) if layout.verdict is not Verdict.VOID else "void",
        band(layout.reused_fraction),
        layout.reused_fraction.method,
    )


def meanings(run: Run) -> tuple[str, ...]:
    """A sentence or two on each layout."""
    return tuple(f"{_meaning(each.layout)}{_lost(each)}" for each in figures(run.comparison))


def _lost(mine: LayoutFigures) -> str:
    """How far a reusing layout is from what its tokens allow; where the prompts of another one part."""
    if mine.layout.verdict is Verdict.NOT_REUSED and mine.position is not None:
        return f" {parting(mine.position)}"
    if mine.layout.verdict is not Verdict.REUSED or not mine.possible or not mine.new_tokens:
        return ""
    about = "about " if mine.layout.reused_fraction.method == "inferred" else ""
    text = (
        f" It read {about}{count(mine.new_tokens, 'new token')} of {mine.prompt_tokens:,}: by tokens alone it could be "
        f"{about}{ratio(mine.possible)} as fast, and was {ratio(mine.speed_up)}."
    )
    if not mine.floor_ns:
        return text
    later, floor = seconds(mine.layout.follow_up_prefill_ns), seconds(mine.floor_ns)
    guess = "about " if mine.floor_method == "estimated" else ""
    return (
        f"{text} Still lost: of its {later} s, {guess}{floor} s is the floor of a call, whatever is reused."
    )


def savings(run: Run, runs: Runs) -> tuple[str, ...]:
    """What each layout saves a follow-up, in a day, and in money; and when an extra cold start pays."""
    every = figures(run.comparison)
    return tuple(text for each in every for text in _saving(each, every, run, runs))


def _saving(mine: LayoutFigures, every: Sequence[LayoutFigures], run: Run, runs: Runs) -> Iterator[str]:
    if mine.saved_ns is None or mine.layout.verdict is Verdict.NOT_REUSED:
        return
    beside_what = mine.reference or "reading it all again"
    text = (
        f"{mine.layout.name}: {seconds(mine.saved_ns)} s less waiting for each follow-up than {beside_what}"
    )
    hours = hours_per_day(mine.saved_ns, runs.per_day)
    if hours is not None:
        text += f", {amount(hours)} hours a day at {count(runs.per_day or 0, 'follow-up')}"
        price = price_of(run.comparison.engine.model, runs.prices)
        reference = next((each for each in every if each.layout.name == mine.reference), None)
        money = money_per_day(mine, reference, runs.per_day, price) if price else None
        if price and money is not None:
            text += f", {money:,.2f} {price.currency} a day"
    if mine.pays_after is not None:
        text += (
            f". One more cold start ({seconds(mine.layout.first_prefill_ns)} s: to load the model again, or to warm it "
            f"up in advance) has paid after {count(mine.pays_after, 'follow-up')}"
        )
    yield f"{text}."


def parting(position: Position) -> str:
    """Where the prompts of a layout part, in words."""
    about = "" if position.exact else "about "
    shared, before, document = position.shared, position.before, position.document
    told = f"after {about}{shared:,} of {position.prompt:,} tokens"
    if before is None or not document:
        return f"The prompts part {told}."
    # Counting the shared text and the text before the document may differ by a token where they join.
    if shared < before - 1:
        return f"The prompts part {told}, before the document begins: nothing of it can be reused."
    if shared <= before + 1:
        return f"The prompts part {told}, where the document begins: nothing of it can be reused."
    if shared < before + document - 1:
        return f"The prompts part {told}, {percent((shared - before) / document)} into the document."
    return f"The prompts part {told}, behind the document: all of it can be reused."


def caveats(comparison: Comparison) -> tuple[str, ...]:
    """What a reader must know."""
    layouts: dict[str, list[str]] = {}
    for caveat in comparison.caveats:
        layouts.setdefault(caveat.message, []).extend([caveat.layout] if caveat.layout else [])
    every = len(comparison.layouts)
    return tuple(
        f"{_and(names)}: {message}" if names and not len(names) == every > 1 else _sentence(message)
        for message, names in ((message, list(dict.fromkeys(each))) for message, each in layouts.items())
    )


def checked_answers(comparison: Comparison) -> tuple[str, ...]:
    """Whether reuse changed an answer, a sentence for each that was asked again cold."""
    return tuple(_checked(check) for check in comparison.answers_checked)


def _checked(check: AnswerCheck) -> str:
    start = f"{check.layout}, question {check.question}"
    if check.failure is not None:
        return f"{start}: the second answer did not come whole ({check.failure}), so nothing was compared."
    reused = f" with {check.reused_tokens:,} tokens reused" if check.reused_tokens is not None else ""
    if check.difference is None:
        return f"{start}: the answer{reused} is the same as the cold one, to the character."
    at = check.difference
    token = f" (token {at.token + 1})" if at.token is not None else ""
    return (
        f"{start}: the answer{reused} is another than the cold one from character {at.character + 1}{token} on: "
        f'"{_around(check.answer, at.character)}", cold "{_around(check.cold_answer, at.character)}".'
    )


def _around(answer: str, character: int) -> str:
    """The words where two answers part, on one line."""
    start, end = max(0, character - _BEFORE), character + _BEHIND
    cut = " ".join(answer[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(answer) else ''}"


def next_steps(comparison: Comparison) -> tuple[str, ...]:
    """What to do about it."""
    return tuple(_next_steps(comparison))


def _meaning(layout: LayoutResult) -> str:
    reused = percent(layout.reused_fraction.value)
    first, later = seconds(layout.first_prefill_ns), seconds(layout.follow_up_prefill_ns)
    about = "about " if layout.reused_fraction.method == "inferred" else ""
    spread = _spread(layout)
    match layout.verdict:
        case Verdict.REUSED:
            return (
                f"{layout.name}: the document was read once. Each follow-up reused {about}{reused} of its prompt "
                f"and was ready to answer after {later} s{spread} instead of {first} s."
            )
        case Verdict.NOT_REUSED:
            tokens = _prompt_tokens(layout)
            whole = f"all of its {tokens:,} tokens" if tokens else "the whole prompt"
            return (
                f"{layout.name}: the document was read again for every question. Each follow-up reused {about}"
                f"{reused}, so it read nearly {whole} again: {later} s{spread}."
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


def _spread(layout: LayoutResult) -> str:
    """The least and most of a follow-up's times, where repeats tell more than the questions' lengths."""
    ends, repeats = layout.follow_up_prefill_spread_ns, {s.sample.repeat for s in layout.samples}
    if ends is None or len(repeats) < 2:
        return ""
    return f" ({seconds(ends[0])} to {seconds(ends[1])})"


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


def _prompt_tokens(layout: LayoutResult) -> int | None:
    known = [s.prompt_tokens for s in layout.samples if s.prompt_tokens]
    return max(known) if known else None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
