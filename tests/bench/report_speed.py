"""How long a report of many samples takes: ``python tests/bench/report_speed.py``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))

from many import run_of

from promptorder.model.run import Runs
from promptorder.reports import REGISTRY

FORMATS = REGISTRY.names()


def main() -> None:
    """Print seconds and sizes, by format and number of samples."""
    print(f"{'samples':>8}  " + "  ".join(f"{name:>20}" for name in FORMATS))
    for samples in (20, 1_000, 10_000, 100_000):
        run = run_of(samples)
        cells = []
        for name in FORMATS:
            render = REGISTRY.load(name).render_runs
            render(Runs((run_of(20),)), width=80, color=False)  # imports
            started = time.perf_counter()
            text = render(Runs((run,), per_day=500), width=80, color=False)
            cells.append(f"{time.perf_counter() - started:8.2f} s {len(text.encode()) / 1e3:7,.0f} kB")
        print(f"{samples:>8,}  " + "  ".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    main()
