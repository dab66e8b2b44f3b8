"""A page to hand on: one file that loads nothing, runs nothing, and shows what is in it as text."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from promptorder.console import shorten
from promptorder.model.comparison import Comparison, LayoutResult, SampleResult, Verdict
from promptorder.model.run import Run, Runs
from promptorder.model.sample import Phase, Reply
from promptorder.reports._build import (
    EXPLANATION,
    beside,
    caveats,
    cells,
    changed,
    checked_answers,
    headline,
    meanings,
    next_steps,
    parting,
    savings,
    subject,
)
from promptorder.reports._figures import LayoutFigures, counting, figures, hours_per_day, middle
from promptorder.reports._page import MOST_CHARACTERS, check, line, percent_of_width, render_page, short
from promptorder.reports._runs import differences, labels
from promptorder.reports._words import amount, count, percent, ratio, seconds, times

__all__ = ["SUFFIXES", "SUMMARY", "check", "render", "render_runs"]

SUMMARY = "a page to hand on"
SUFFIXES = (".html", ".htm")

MOST_ROWS = 240
"""More samples than these make a page slow, and nobody reads them there: the CSV has them all."""
MOST_QUESTIONS = 12
_VERDICTS = {
    Verdict.REUSED: "document reused",
    Verdict.NOT_REUSED: "document read again",
    Verdict.CANNOT_TELL: "cannot tell",
    Verdict.VOID: "void",
}
_METHODS = {
    "counted": "Counted: the engine tells with each reply how many of the prompt's tokens it took from its cache.",
    "logged": "Logged: the server's log tells for each call how many of the prompt's tokens it took from its cache.",
    "inferred": "Inferred: the engine does not count, so the share follows from the prefill time, between a cold call "
    "and an unchanged repeat, bounded by what the prompts share; the band says how sure it is.",
    "unknown": "Unknown: neither a count nor the time tells what was reused.",
}
_COLD = {
    "unload": "Each layout starts cold: the model is unloaded, which empties every cache, and loaded again.",
    "nonce": "Each layout starts cold: its prompts begin with a random line of their own, which no cache can hold.",
}


def render(run: Run, *, width: int, color: bool) -> str:
    """The page of one run; the reader's settings choose its width and colours."""
    return render_runs(Runs((run,)), width=width, color=color)


def render_runs(runs: Runs, *, width: int, color: bool) -> str:
    """The page of one or several runs."""
    return render_page("page.html.jinja", _page(runs))


def _page(runs: Runs) -> dict[str, Any]:
    several = len(runs.runs) > 1
    names = [shorten(name, 80) for name in labels(runs.runs)]
    every = [figures(run.comparison) for run in runs.runs]
    steps = dict.fromkeys(step for run in runs.runs for step in next_steps(run.comparison))
    methods = {layout.reused_fraction.method for run in runs.runs for layout in run.comparison.layouts}
    colds = {str(run.comparison.options.get("cold")) for run in runs.runs}
    floors = {mine.floor_method for group in every for mine in group}
    return {
        "title": f"Prompt layouts compared: {short(runs.runs[0].comparison.document.path, 60)}",
        "several": several,
        "headline": short(headline(runs)),
        "key_figures": list(_keys_of_several(runs, names) if several else _keys(runs, every[0])),
        "explanation": EXPLANATION,
        "beside": beside(runs) if several else "",
        "floor_words": _floor_words(floors),
        "rows": list(_rows(runs, names, every)),
        "differences": [short(text) for text in differences(runs.runs)] if several else [],
        "runs": [
            _run(run, name, group, runs) for run, name, group in zip(runs.runs, names, every, strict=True)
        ],
        "steps": [short(step) for step in steps],
        "method": [
            *(text for method, text in _METHODS.items() if method in methods),
            *(text for cold, text in _COLD.items() if cold in colds),
            "Questions are asked one at a time and in order, at temperature 0. Figures are medians.",
            "A verdict is about the document's tokens: reused where the low end of the band covers at least half of "
            "them, read again where the high end covers at most a tenth, else it cannot be told.",
        ],
    }


def _floor_words(methods: Collection[str | None]) -> str:
    words = []
    if "measured" in methods:
        words.append("measured, that of an unchanged repeat")
    if "estimated" in methods:
        words.append("estimated, what its new tokens do not explain at the cold call's speed")
    return f" ({'; '.join(words)})" if words else ""


def _keys(runs: Runs, every: Sequence[LayoutFigures]) -> Iterator[dict[str, str]]:
    reused = [mine for mine in every if mine.layout.verdict is Verdict.REUSED]
    if not reused:
        for mine in every[:4]:
            ready = seconds(mine.layout.follow_up_prefill_ns)
            yield _key(
                f"{ready} s" if ready != "-" else "-", f"prefill of a follow-up with {mine.layout.name}"
            )
        return
    best = min(reused, key=lambda mine: mine.layout.follow_up_prefill_ns or 0)
    name, share = best.layout.name, best.layout.reused_fraction
    yield _key(
        times(best.layout.first_prefill_ns, best.layout.follow_up_prefill_ns),
        f"faster follow-ups with {name}",
    )
    yield _key(percent(share.value), f"of a follow-up’s prompt was not read again ({share.method})")
    if best.saved_ns is not None:
        yield _key(
            f"{seconds(best.saved_ns)} s",
            f"less waiting for each follow-up than {best.reference or 'reading it all again'}",
        )
    hours = hours_per_day(best.saved_ns, runs.per_day)
    if hours is not None:
        yield _key(f"{amount(hours)} h", f"saved a day, at {count(runs.per_day or 0, 'follow-up')}")
    elif best.new_tokens is not None and best.prompt_tokens is not None:
        yield _key(f"{best.new_tokens:,}", f"new tokens of {best.prompt_tokens:,} read for a follow-up")


def _keys_of_several(runs: Runs, names: Sequence[str]) -> Iterator[dict[str, str]]:
    for run, name in list(zip(runs.runs, names, strict=True))[:8]:
        known = [each for each in run.comparison.layouts if each.follow_up_prefill_ns is not None]
        if known:
            best = min(known, key=lambda each: each.follow_up_prefill_ns or 0)
            yield _key(
                f"{seconds(best.follow_up_prefill_ns)} s",
                f"{name}: the fastest follow-up’s prefill, with {best.name}",
            )


def _key(value: str, text: str) -> dict[str, str]:
    return {"value": value, "text": short(text, 160)}


def _rows(
    runs: Runs, names: Sequence[str], every: Sequence[Sequence[LayoutFigures]]
) -> Iterator[dict[str, str]]:
    several = len(runs.runs) > 1
    for name, run, group in zip(names, runs.runs, every, strict=True):
        for mine in group:
            shown = cells(mine.layout)
            spread = mine.layout.follow_up_prefill_spread_ns
            low, high = (seconds(spread[0]), seconds(spread[1])) if spread else ("", "")
            yield {
                "run": name,
                "layout": short(shown[0], 120),
                "verdict": mine.layout.verdict.value,
                "verdict_text": _VERDICTS[mine.layout.verdict],
                "first": shown[1],
                "follow_up": shown[2],
                "spread": f"{low} to {high}" if low != high else "",
                "total": shown[3],
                "faster": shown[4],
                "possible": ratio(mine.possible) if mine.possible else "",
                "new": "-" if mine.new_tokens is None else f"{mine.new_tokens:,}",
                "prompt": "" if mine.prompt_tokens is None else f"{mine.prompt_tokens:,}",
                "floor": seconds(mine.floor_ns),
                "floor_method": mine.floor_method or "",
                "reused": shown[5],
                "band": f"{shown[6]} %" if "-" in shown[6].strip("-") else "",
                "method": shown[7],
                "change": changed(runs, run, mine.layout) if several else "",
            }


def _run(run: Run, name: str, every: Sequence[LayoutFigures], runs: Runs) -> dict[str, Any]:
    comparison = run.comparison
    samples = [result for layout in comparison.layouts for result in layout.samples]
    rows = list(_shown_samples(comparison.layouts))
    return {
        "name": name,
        "subject": short(subject(comparison)),
        "questions": list(_questions(comparison)),
        "questions_all": f"{len(comparison.questions):,}",
        "questions_left": len(comparison.questions) > MOST_QUESTIONS,
        "shares": [_share(layout) for layout in comparison.layouts],
        "times": list(_times(run)),
        "prompts": [line for mine in every if (line := _prompt(mine)) is not None],
        "meanings": [short(text) for text in meanings(run)],
        "savings": [short(text) for text in savings(run, runs)],
        "answers": [short(text) for text in checked_answers(comparison)],
        "caveats": [short(text) for text in caveats(comparison)],
        "samples": [_sample_row(result) for result in rows],
        "samples_title": f"{count(len(samples), 'sample')} of {count(len(comparison.layouts), 'layout')}",
        "samples_note": _left_out(run, len(rows), len(samples)),
        "options": list(_options(comparison)),
        "command": _command(run),
        "command_note": ""
        if _is_ours(run.command)
        else "The run’s file does not hold its command line; this is the nearest to it.",
        "facts": list(_facts(run)),
    }


def _left_out(run: Run, shown: int, there: int) -> str:
    if shown == there:
        return ""
    file = shlex.quote(run.path) if run.path else "RUN.json"
    return (
        f"Shown are {shown:,} of {there:,}, the first of each layout. All of them, as a table for a spreadsheet: "
        f"promptorder report {short(file)} --format csv --out samples.csv"
    )


def _questions(comparison: Comparison) -> Iterator[dict[str, Any]]:
    shown = comparison.questions[:MOST_QUESTIONS]
    prefills: dict[tuple[str, int], list[int]] = {}
    for layout in comparison.layouts:
        for result in layout.samples:
            reply = result.sample.reply
            if result.sample.question <= len(shown) and reply is not None and reply.prefill_ns is not None:
                prefills.setdefault((layout.name, result.sample.question), []).append(reply.prefill_ns)
    medians = {key: middle(values) for key, values in prefills.items()}
    longest = max((value or 0 for value in medians.values()), default=0)
    for number, text in enumerate(shown, start=1):
        lines = [
            line(
                layout.name,
                f"{seconds(value)} s" if value is not None else "-",
                [("prefill", value)],
                longest,
            )
            for layout in comparison.layouts
            for value in (medians.get((layout.name, number)),)
        ]
        yield {"number": number, "text": short(text, 240), "lines": lines}


def _share(layout: LayoutResult) -> dict[str, Any]:
    share = layout.reused_fraction
    drawn = line(layout.name, percent(share.value), [("reused", share.value)], 1)
    ends = [end for end in (share.low, share.high) if end is not None]
    return {**drawn, "band": [percent_of_width(end) for end in ends] if len(ends) == 2 else None}


def _times(run: Run) -> Iterator[dict[str, Any]]:
    loads: dict[str, list[int | None]] = {}
    for sample in run.samples:
        if sample.phase is Phase.LOAD and sample.reply is not None:
            loads.setdefault(sample.layout, []).append(sample.reply.load_ns)
    lines = []
    for layout in run.comparison.layouts:
        for phase, sub in ((Phase.FIRST, "cold start"), (Phase.FOLLOW_UP, "follow-up")):
            results = counting(run.comparison, layout, phase)
            if results:
                lines.append((layout.name, sub, _split(results, loads.get(layout.name, []), phase)))
    longest = max((sum(value or 0 for _, value in split) for _, _, split in lines), default=0)
    for name, sub, split in lines:
        told = ", ".join(f"{kind} {seconds(value)}" for kind, value in split if value is not None)
        total = sum(value or 0 for _, value in split)
        yield {**line(name, f"{seconds(total)} s", split, longest), "sub": sub, "detail": told}


def _split(
    results: Sequence[SampleResult], loads: Sequence[int | None], phase: Phase
) -> list[tuple[str, int | None]]:
    replies = [result.sample.reply for result in results if result.sample.reply is not None]
    load = middle(reply.load_ns for reply in replies)
    before = middle(loads) if phase is Phase.FIRST else None
    return [
        ("load", None if load is None and before is None else (load or 0) + (before or 0)),
        ("prefill", middle(reply.prefill_ns for reply in replies)),
        ("decode", middle(reply.decode_ns for reply in replies)),
        ("other", middle(result.other_ns for result in results)),
    ]


def _prompt(mine: LayoutFigures) -> dict[str, Any] | None:
    position = mine.position
    if position is None or not position.prompt:
        return None
    shared = min(position.shared, position.prompt)
    split: list[tuple[str, int | None]] = [("reused", shared), ("read", position.prompt - shared)]
    drawn = line(mine.layout.name, f"{percent(shared / position.prompt)}", split, position.prompt)
    cuts: list[str] = []
    words = []
    if position.before is not None and position.document is not None and position.after is not None:
        words = [
            f"{position.before:,} tokens before the document, {position.document:,} in it, {position.after:,} behind it."
        ]
        ends = (position.before, position.before + position.document)
        cuts = [percent_of_width(end / position.prompt) for end in ends if 0 < end < position.prompt]
    return {**drawn, "cuts": cuts, "detail": " ".join([*words, parting(position)])}


def _shown_samples(layouts: Sequence[LayoutResult]) -> Iterator[SampleResult]:
    """As many of each layout as the page can bear."""
    room = MOST_ROWS
    for number, layout in enumerate(layouts):
        share = max(1, room // (len(layouts) - number))
        if room > 0:
            yield from layout.samples[:share]
            room -= min(share, len(layout.samples))


def _sample_row(result: SampleResult) -> dict[str, Any]:
    sample, reply = result.sample, result.sample.reply or Reply("")
    reused = result.reused_tokens
    told = "-" if reused.value is None else f"{round(reused.value):,}"
    if reused.low is not None and reused.high is not None and round(reused.low) != round(reused.high):
        told += f" ({round(reused.low):,}-{round(reused.high):,})"
    parts = (reply.load_ns, reply.prefill_ns, reply.decode_ns, result.other_ns, result.total_ns)
    return {
        "layout": short(sample.layout, 120),
        "cells": [
            f"{sample.repeat:,}",
            f"{sample.question:,}",
            _number(result.prompt_tokens),
            told,
            _number(result.expected.shared_tokens if result.expected else None),
            *(seconds(part) for part in parts),
            _number(reply.output_tokens),
        ],
        "answer": short(f"failed: {sample.failure}" if sample.failure is not None else _answer(reply)),
    }


def _answer(reply: Reply) -> str:
    if reply.answer.strip() or not reply.thinking:
        return reply.answer
    return f"(no answer; thinking: {reply.thinking[:MOST_CHARACTERS]})"


def _options(comparison: Comparison) -> Iterator[tuple[str, str]]:
    names = {
        "repeats": "Repeats of each layout",
        "num_ctx": "Context, tokens",
        "num_predict": "Longest answer, tokens",
        "seed": "Seed",
        "temperature": "Temperature",
        "clock_gap_s": "Wait before a ticking clock, s",
    }
    for key, name in names.items():
        if comparison.options.get(key) is not None:
            yield name, short(str(comparison.options[key]), 80)


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    comparison, machine = run.comparison, run.machine
    engine, document = comparison.engine, comparison.document
    facts = {
        "Measured": comparison.started_at,
        "Engine": f"{engine.name} {engine.version or '(version unknown)'}",
        "Model": engine.model,
        "Model digest": engine.model_digest,
        **{f"Model {key.replace('_', ' ')}": value for key, value in list(engine.facts.items())[:20]},
        "Document": document.path,
        "Document sha256": document.sha256,
        "Document characters": f"{document.characters:,}",
        "System": " ".join(
            str(machine[key]) for key in ("system", "release", "architecture") if machine.get(key)
        ),
        "Processors": machine.get("processors"),
        "Python": machine.get("python"),
        "promptorder": run.tool_version,
        "Run": run.id,
    }
    for name, value in facts.items():
        if value not in (None, ""):
            yield short(name, 60), short(str(value), 200)


def _is_ours(command: Sequence[str]) -> bool:
    """Whether a run's command may be shown to be copied: a file from elsewhere may hold any."""
    return tuple(command[:2]) == ("promptorder", "compare")


def _command(run: Run) -> str:
    if _is_ours(run.command):
        return short(shlex.join(run.command), 2000)
    comparison = run.comparison
    words = ["promptorder", "compare", comparison.document.path, "--questions", "questions.txt"]
    words += ["--engine", comparison.engine.name, "--model", comparison.engine.model]
    for layout in comparison.layouts:
        words += ["--layout", layout.name]
    return short(shlex.join(words), 2000)


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
