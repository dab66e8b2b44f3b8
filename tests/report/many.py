"""Runs of many samples, for tests and benchmarks of reports."""

from __future__ import annotations

from dataclasses import replace

import hand_made

from promptorder.model.comparison import Comparison, SampleResult
from promptorder.model.run import Run
from promptorder.model.sample import Phase


def run_of(samples: int, *, answer: str = "The order book was 2,140.") -> Run:
    """A run of two layouts with so many samples in all, in repeats of ten questions."""
    comparison = replace(
        hand_made.comparison(),
        questions=tuple(f"Question {number}?" for number in range(1, 11)),
    )
    layouts = tuple(
        replace(layout, samples=tuple(_samples(layout.name, samples // 2, answer)))
        for layout in comparison.layouts[:2]
    )
    every: Comparison = replace(comparison, layouts=layouts)
    calls = tuple(result.sample for layout in layouts for result in layout.samples)
    return Run(every, calls, machine={"system": "Linux", "processors": 2}, path="many.json")


def _samples(layout: str, number: int, answer: str) -> list[SampleResult]:
    first, follow_up, _ = hand_made.counted(layout, (985, 989), answer=answer)
    results = []
    for index in range(number):
        model = follow_up if index % 10 else first
        phase = Phase.FOLLOW_UP if index % 10 else Phase.FIRST
        call = replace(model.sample, question=index % 10 + 1, repeat=index // 10 + 1, phase=phase)
        results.append(replace(model, sample=call))
    return results
