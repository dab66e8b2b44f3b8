"""How much calibration is enough, and taking that of an earlier run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hand_made import AT, comparison, due, sample

from promptorder.measure.calibration import TEMPLATE_END_TOKENS, known_calls
from promptorder.measure.curve import work
from promptorder.measure.earlier import calibrating, difference, still_true
from promptorder.measure.enough import enough
from promptorder.model.run import Run
from promptorder.model.sample import Phase, Sample

COST = (50e6, 0.7e6, 1000.0)
N = 3000
STATIC = {"static-first": (due(N, document=2800), due(N, 2950, document=2800), due(N, 2950, document=2800))}
QUESTION = {"question-first": (due(N, document=2800), due(N, 20, document=2800), due(N, 20, document=2800))}


def ns(n: int, read: int) -> int:
    return round(sum(each * part for each, part in zip(COST, work(n, read), strict=True)))


def block_of(
    layout: str, reads: Sequence[int], tails: Sequence[int], *, slower: float = 1.0, at_s: int = 0
) -> list[Sample]:
    """A block whose follow-ups read ``reads`` tokens, and calls of known reuse: the warm repeat, then tails."""
    calls = [(Phase.FIRST, N, N), *((Phase.FOLLOW_UP, N, read) for read in reads)]
    calls += [(Phase.WARM_REPEAT, N, 1)] if tails else []
    calls += [(Phase.CALIBRATION, 2600 + tail, tail + TEMPLATE_END_TOKENS) for tail in tails]
    samples = []
    for number, (phase, n, read) in enumerate(calls):
        question = min(number + 1, len(reads) + 1)
        at = datetime.fromisoformat(AT) + timedelta(seconds=at_s + number)
        made = sample(phase, question, layout=layout, prompt_tokens=n, prefill_ns=round(slower * ns(n, read)))
        samples.append(replace(made, started_at=at.isoformat()))
    return samples


@pytest.mark.parametrize(
    ("tails", "found"), [((), False), ((0,), False), ((0, 400), True), ((0, 400, 40, 120), True)]
)
def test_plain_reuse_needs_no_more_than_a_curve(tails: tuple[int, ...], found: bool) -> None:
    assert enough(block_of("static-first", (50, 50), tails), STATIC, ("static-first", 1)) is found


def test_the_next_block_uses_the_calls_of_the_one_before() -> None:
    samples = block_of("static-first", (50, 50), (0, 400, 40)) + block_of(
        "question-first", (N - 20, N - 20), (), at_s=60
    )
    assert enough(samples, {**STATIC, **QUESTION}, ("question-first", 1))


def test_half_of_the_shared_start_cannot_be_told_from_more_and_less() -> None:
    """A band across the share that decides the verdict: more calls make it narrower, so they are made."""
    samples = block_of("static-first", (1580, 1580), (0, 400))
    assert not enough(samples, STATIC, ("static-first", 1))


def test_a_time_that_contradicts_the_prompts_is_not_enough() -> None:
    samples = block_of("question-first", (50, 50), (0, 400, 40))
    assert not enough(samples, QUESTION, ("question-first", 1))


@pytest.mark.parametrize(("gate", "found"), [(None, True), (0.5, True), (0.98, False)])
def test_a_gate_wants_its_share_told_too(gate: float | None, found: bool) -> None:
    samples = block_of("static-first", (60, 60), (0, 400))
    assert enough(samples, STATIC, ("static-first", 1), gate=gate) is found


def test_without_a_follow_up_nothing_need_be_told() -> None:
    assert enough(block_of("static-first", (), ()), STATIC, ("static-first", 1))


# ---------------------------------------------------------------- an earlier run

MACHINE = {"system": "Linux", "architecture": "x86_64", "processors": 2, "python": "3.11.1"}
EARLIER = Run(
    comparison(), tuple(block_of("static-first", (50, 50), (0, 40, 120, 400), at_s=-86_400)), machine=MACHINE
)


def test_its_calls_of_known_reuse_calibrate_this_one() -> None:
    earlier = calibrating(EARLIER)
    assert len(known_calls(earlier)) == 6
    assert not {s.layout for s in earlier} & set(STATIC)
    now = block_of("static-first", (50, 50), ())
    assert not enough(now, STATIC, ("static-first", 1))
    assert enough(now, STATIC, ("static-first", 1), earlier=earlier)


def test_a_run_without_them_has_nothing_to_give() -> None:
    assert calibrating(replace(EARLIER, samples=EARLIER.samples[:3])) == ()
    broken = tuple(replace(s, started_at="yesterday") for s in EARLIER.samples)
    assert calibrating(replace(EARLIER, samples=broken)) == ()


@pytest.mark.parametrize(("slower", "found"), [(1.0, True), (1.1, True), (3.0, False), (0.3, False)])
def test_one_cold_call_tells_whether_the_machine_is_the_same(slower: float, found: bool) -> None:
    earlier = calibrating(EARLIER)
    assert still_true(earlier, [])
    assert still_true(earlier, block_of("static-first", (50,), (), slower=slower)) is found


@pytest.mark.parametrize(
    ("then", "machine", "said"),
    [
        ({}, {}, None),
        ({}, {"python": "3.12.0"}, None),
        ({"version": "0.6.5"}, {}, "ollama 0.6.5"),
        ({"version": None}, {}, "unknown version"),
        ({"model_digest": "b" * 64}, {}, "another model"),
        ({"context_tokens": 2048}, {}, "--num-ctx 2048"),
        ({"document_goes_to": "example.org"}, {}, "example.org"),
        ({}, {"processors": 64}, "processors"),
    ],
)
def test_what_must_be_the_same(then: dict[str, Any], machine: dict[str, Any], said: str | None) -> None:
    engine = EARLIER.comparison.engine
    run = replace(
        EARLIER,
        comparison=replace(comparison(), engine=replace(engine, **then)),
        machine={**MACHINE, **machine},
    )
    found = difference(run, engine, MACHINE)
    assert (found is None) is (said is None)
    assert (said or "") in (found or "")
