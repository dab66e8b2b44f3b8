"""For the screen: a table, bars and plain words."""

from __future__ import annotations

from promptorder.console import render_report
from promptorder.model.run import Run, Runs
from promptorder.reports._build import build_report

SUMMARY = "for the screen"
SUFFIXES = (".txt",)


def render(run: Run, *, width: int, color: bool) -> str:
    """Lines of at most ``width`` columns; escape codes only with ``color``."""
    return render_runs(Runs((run,)), width=width, color=color)


def render_runs(runs: Runs, *, width: int, color: bool) -> str:
    """The same for one or several runs."""
    return render_report(build_report(runs), width=width, color=color)
