"""Run files for reports and notebooks, as a library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from promptorder.model.run import Runs
from promptorder.reports._runs import check_comparable
from promptorder.store.finished import load_run

if TYPE_CHECKING:
    import pandas as pd


def load_runs(paths: str | Path | Iterable[str | Path]) -> pd.DataFrame:
    """Run files as one tidy data frame: a row for each measured call, units in the columns' names.

    What is unknown is missing, never 0. Any runs may stand together. Raises InputError for a file that
    is no finished run.
    """
    from promptorder.reports._frame import frame

    each = [paths] if isinstance(paths, str | Path) else paths
    return frame([load_run(Path(path)) for path in each])


def load_comparable(
    paths: Iterable[str | Path], *, per_day: int | None = None, prices: Mapping[str, str] | None = None
) -> Runs:
    """Run files for one report. Raises InputError for what is none, UsageError for runs that must not be compared."""
    runs = tuple(load_run(Path(path)) for path in paths)
    check_comparable(runs)
    return Runs(runs, per_day, prices or {})
