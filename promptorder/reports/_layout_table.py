"""The figures of layouts as rows: of one run, and of several with the change beside the first."""

from __future__ import annotations

from promptorder.model.comparison import Comparison, LayoutResult, Verdict
from promptorder.model.report import Column, Table
from promptorder.model.run import Run, Runs
from promptorder.reports._figures import change
from promptorder.reports._runs import labels
from promptorder.reports._words import band, percent, seconds, times

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
