"""What a start of lint costs beside bare click, ruff, and the interpreter alone.

Run by hand: ``python tests/bench/lint_start.py``. The goal: at most 20 ms of CPU more than ``import click``, all rules on.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _processes import in_turn, show
from lint_projects import BAD, GOOD, put


def main() -> None:
    """Print one table."""
    # Whoever measures a start means the second one: the first compiles what this user has not run yet.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    python = sys.executable
    lint = [python, "-m", "promptorder", "lint", "--fail-on", "never"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean, clock = str(put(folder, "clean.txt", GOOD)), str(put(folder, "clock.txt", BAD))
        code = str(put(folder, "small.py", "x = 1\n"))
        commands: dict[str, Sequence[str]] = {
            "python -c pass": [python, "-c", "pass"],
            "python -c 'import click'": [python, "-c", "import click"],
            "promptorder lint clean.txt": [*lint, clean],
            "promptorder lint clock.txt (a finding)": [*lint, clock],
        }
        ruff = shutil.which("ruff")
        if ruff:
            commands["ruff check small.py"] = [ruff, "check", "--isolated", "--no-cache", code]
        costs = in_turn(commands, runs=21)
    show("start of lint", costs)
    click = costs["python -c 'import click'"].cpu_s
    for command in list(commands)[2:4]:
        print(f"  {command}: {1e3 * (costs[command].cpu_s - click):+.0f} ms beside click")


if __name__ == "__main__":
    main()
