"""Time whole processes: CPU seconds and peak memory as the operating system counted them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Cost:
    """One finished process."""

    cpu_s: float
    wall_s: float
    peak_mib: float


def cost(command: Sequence[str]) -> Cost:
    """Run a command to its end, its output thrown away; raises where it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss / 1024)


def in_turn(commands: dict[str, Sequence[str]], runs: int = 7) -> dict[str, Cost]:
    """Medians of several commands, run in turn so that a drifting machine treats them alike."""
    for command in commands.values():
        cost(command)  # the first run fills caches
    seen: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            seen[name].append(cost(command))
    return {
        name: Cost(
            median(c.cpu_s for c in costs), median(c.wall_s for c in costs), median(c.peak_mib for c in costs)
        )
        for name, costs in seen.items()
    }


def show(title: str, costs: dict[str, Cost]) -> None:
    """Print medians, one row a command."""
    print(f"{title} (medians, {sys.version.split()[0]})")
    width = max(len(name) for name in costs)
    print(f"  {'':<{width}}  CPU ms  wall ms  peak MiB")
    for name, c in costs.items():
        print(f"  {name:<{width}}  {c.cpu_s * 1e3:6.0f}  {c.wall_s * 1e3:7.0f}  {c.peak_mib:8.0f}")
