"""For spreadsheets: one row a measured call, units in the column names."""

from __future__ import annotations

from promptorder.console import printable
from promptorder.contracts.comparison import to_json
from promptorder.model.comparison import Comparison

SUMMARY = "one row a call, for spreadsheets"
# A spreadsheet runs a cell that starts like this as a formula; a quote in front makes it text.
_FORMULA_STARTS = ("=", "+", "-", "@")


def render(comparison: Comparison, *, width: int, color: bool) -> str:
    """Comma-separated values with a header line; unknown values are empty cells."""
    import pandas as pd

    rows = []
    for layout in to_json(comparison)["layouts"]:
        for sample in layout["samples"]:
            reused = sample.pop("reused_tokens")
            row = {"layout": layout["name"], "verdict": layout["verdict"], **sample}
            row |= {
                "reused_tokens": reused["value"],
                "reused_low_tokens": reused["low"],
                "reused_high_tokens": reused["high"],
                "reused_method": reused["method"],
            }
            rows.append({key: _safe(value) for key, value in row.items()})
    frame = pd.DataFrame(rows).convert_dtypes()
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text


def _safe(value: object) -> object:
    if not isinstance(value, str):
        return value
    # A lone carriage return would break the row for some readers.
    text = printable(value.replace("\r\n", "\n"))
    return "'" + text if text.lstrip().startswith(_FORMULA_STARTS) else text
