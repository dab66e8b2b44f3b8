"""For programs: the object ``promptorder.comparison/1``, and ``promptorder.report/1`` for runs."""

from __future__ import annotations

import json
from typing import Any

from promptorder.contracts.comparison import to_json
from promptorder.model.run import Run, Runs
from promptorder.reports._report_json import report_to_json

SUMMARY = "for programs"
SUFFIXES = (".json",)


def render(run: Run, *, width: int, color: bool) -> str:
    """One JSON object, indented; what cannot be printed is escaped, and readers get it back as it was."""
    return _text(to_json(run.comparison))


def render_runs(runs: Runs, *, width: int, color: bool) -> str:
    """The same of ``promptorder.report/1``."""
    return _text(report_to_json(runs))


def _text(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
