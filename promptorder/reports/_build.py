"""The neutral report of a comparison: figures, then what they mean, what to do next, and the caveats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptorder.model.report import Bar, Bars, Block, Bullets, Heading, Paragraph, Report
from promptorder.model.run import Runs
from promptorder.reports._advice import next_steps
from promptorder.reports._answers import checked_answers
from promptorder.reports._caveats import caveats
from promptorder.reports._headline import headline, subject
from promptorder.reports._layout_table import EXPLANATION, beside, runs_table, table
from promptorder.reports._meanings import meanings
from promptorder.reports._runs import differences, labels
from promptorder.reports._savings import savings
from promptorder.reports._words import percent


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
