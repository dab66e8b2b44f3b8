"""The inference held to recorded times of real servers whose reuse is known: what docs/inference.md says of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest

from promptorder.measure.analysis import NOT_REUSED_TO, REUSED_FROM
from promptorder.measure.calibration import curve_of, seconds
from promptorder.measure.inference import infer_from_curve
from promptorder.model.sample import Phase, Reply, Sample

FILES = sorted((Path(__file__).parents[1] / "bench/timings").glob("*.jsonl"))


class Judged(NamedTuple):
    """A request's real reuse and what was inferred, all as shares of its prompt."""

    truth: float
    low: float
    value: float
    high: float


def rows_of(path: Path) -> list[dict[str, Any]]:
    names, *rows = (json.loads(line) for line in path.read_text().splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


def judged(rows: list[dict[str, Any]]) -> Iterator[Judged]:
    """Every second follow-up of a run, by the run's calls of known reuse."""
    samples = [
        Sample(
            "recorded",
            row["block"],
            row["question"],
            Phase(row["phase"]),
            "",
            datetime.fromtimestamp(row["at_s"], UTC).isoformat(),
            Reply("", prompt_tokens=row["prompt_tokens"], prefill_ns=row["prefill_ns"]),
        )
        for row in rows
    ]
    curve = curve_of(samples)
    assert curve is not None
    follow_ups = [pair for pair in zip(rows, samples, strict=True) if pair[1].phase is Phase.FOLLOW_UP]
    for row, sample in follow_ups[::2]:
        n = row["prompt_tokens"]
        estimate, _ = infer_from_curve(row["prefill_ns"], n, curve, seconds(sample))
        assert estimate.low is not None
        assert estimate.value is not None
        assert estimate.high is not None
        # A token's boundary may move the end by two.
        ends = (estimate.low - 2, estimate.value, estimate.high + 2)
        yield Judged(row["reused_tokens"] / n, *(each / n for each in ends))


RECORDED = [(path, server) for path in FILES for server in sorted({row["server"] for row in rows_of(path)})]


@pytest.mark.parametrize(("path", "server"), RECORDED, ids=lambda part: getattr(part, "stem", part))
def test_bands_hold_the_truth(path: Path, server: str) -> None:
    rows = [row for row in rows_of(path) if row["server"] == server]
    runs = {row["run"] for row in rows}
    found = [each for run in runs for each in judged([row for row in rows if row["run"] == run])]
    assert len(found) >= 18
    covered = sum(each.low <= each.truth <= each.high for each in found)
    assert covered / len(found) > 0.9, "a band of 95 %, and few requests on a loaded machine"
    assert median(abs(each.value - each.truth) for each in found) < 0.11
    wrong = [
        each
        for each in found
        if (each.low >= REUSED_FROM > each.truth) or (each.high <= NOT_REUSED_TO < each.truth)
    ]
    assert len(wrong) <= 1


def test_there_are_recordings() -> None:
    assert len(FILES) >= 3
