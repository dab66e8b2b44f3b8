"""For the screen: rows of policies, their causes, and plain words."""

from __future__ import annotations

from promptorder.console import render_report
from promptorder.model.trace_result import TraceResult
from promptorder.reports._trace._build import build_report

SUMMARY = "for the screen"
SUFFIXES = (".txt",)


def render(result: TraceResult, *, width: int, color: bool) -> str:
    """Lines of at most ``width`` columns; escape codes only with ``color``."""
    return render_report(build_report(result), width=width, color=color)
