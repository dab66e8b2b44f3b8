"""For spreadsheets: one row a measured call, units in the column names."""

from __future__ import annotations

from promptorder.console import printable
from promptorder.model.run import Run, Runs
from promptorder.reports._frame import TEXTS, frame

SUMMARY = "one row a call, for spreadsheets"
SUFFIXES = (".csv",)
# A spreadsheet runs a cell that starts like this as a formula; a quote in front makes it text.
_FORMULA_STARTS = ("=", "+", "-", "@")


def render(run: Run, *, width: int, color: bool) -> str:
    """Comma-separated values with a header line; unknown values are empty cells."""
    return render_runs(Runs((run,)), width=width, color=color)


def render_runs(runs: Runs, *, width: int, color: bool) -> str:
    """The same for one or several runs."""
    data = frame(runs.runs)
    for name in TEXTS:
        data[name] = data[name].map(_safe, na_action="ignore")
    text: str = data.to_csv(index=False, lineterminator="\n")
    return text


def _safe(value: str) -> str:
    # A lone carriage return would break the row for some readers.
    text = printable(value.replace("\r\n", "\n"))
    return "'" + text if text.lstrip().startswith(_FORMULA_STARTS) else text
