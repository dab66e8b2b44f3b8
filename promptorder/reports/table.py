"""For the screen: a table, bars and plain words."""

from __future__ import annotations

from promptorder.console import render_report
from promptorder.model.comparison import Comparison
from promptorder.reports._build import build_report

SUMMARY = "for the screen"


def render(comparison: Comparison, *, width: int, color: bool) -> str:
    """Lines of at most ``width`` columns; escape codes only with ``color``."""
    return render_report(build_report(comparison), width=width, color=color)
