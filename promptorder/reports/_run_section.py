"""One run on the page: its times, prompts, questions, samples, and what it was measured on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from promptorder.model.comparison import Comparison, LayoutResult, SampleResult
from promptorder.model.run import Run, Runs
from promptorder.model.sample import Phase, Reply
from promptorder.reports._answers import checked_answers
from promptorder.reports._caveats import caveats
from promptorder.reports._figures import LayoutFigures, counting, middle
from promptorder.reports._headline import subject
from promptorder.reports._meanings import meanings, parting
from promptorder.reports._page import MOST_CHARACTERS, line, percent_of_width, short
from promptorder.reports._savings import savings
from promptorder.reports._words import count, percent, seconds

MOST_ROWS = 240
"""More samples than these make a page slow, and nobody reads them there: the CSV has them all."""
MOST_QUESTIONS = 12


def run_section(run: Run, name: str, every: Sequence[LayoutFigures], runs: Runs) -> dict[str, Any]:
    """What the page shows of the run called ``name``; ``every`` are the figures of its layouts."""
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
