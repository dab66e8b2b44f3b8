"""Calls of known reuse: which are made, what is read out of them, and the curve that they draw."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import takewhile

import pytest
from hand_made import AT, due, sample
from hypothesis import assume, given
from hypothesis import strategies as st

from promptorder.measure.calibration import (
    ROUNDS,
    TAIL_TOKENS,
    TEMPLATE_END_TOKENS,
    calibration_prompts,
    curve_of,
    known_calls,
    seconds,
)
from promptorder.measure.curve import Curve, Known, fit, work
from promptorder.measure.inference import infer_from_curve
from promptorder.model.comparison import UNKNOWN, Estimate
from promptorder.model.prompt import Message, Prompt
from promptorder.model.sample import Phase, Sample

BLOCK = ("static-first", 1)
AT_S = datetime.fromisoformat(AT).timestamp()
DOCUMENT = " ".join(f"word{number}" for number in range(2000))
COST = (50e6, 0.7e6, 1000.0)


def prompt_of(text: str) -> Prompt:
    return Prompt((Message("system", "Rules."), Message("user", text)), (1, 0), len(text))


def ns(n: int, m: float, cost: tuple[float, float, float] = COST) -> float:
    return sum(each * part for each, part in zip(cost, work(n, m), strict=True))


def calls_of(
    n: int = 3000, *, noise: float = 0.0, blocks: int = 3, seed: int = 1, slow: float = 0.0
) -> Iterator[Known]:
    """What a run of some blocks calibrates with, one a minute; ``slow`` makes each block slower than the one before."""
    chance = random.Random(seed)
    for number in range(blocks):
        for length, m in ((n, n), (n, 1), *((n - 400 + t, t + TEMPLATE_END_TOKENS) for t in TAIL_TOKENS)):
            factor = math.exp(chance.gauss(0, noise) + slow * number)
            yield Known(length, m, ns(length, m) * factor, ("static-first", number + 1), AT_S + 60 * number)


def drawn(calls: Iterator[Known]) -> Curve:
    curve = fit(list(calls))
    assert curve is not None
    return curve


def ends(estimate: Estimate) -> tuple[float, float, float]:
    assert estimate.method == "inferred"
    assert estimate.low is not None
    assert estimate.value is not None
    assert estimate.high is not None
    return estimate.low, estimate.value, estimate.high


# ---------------------------------------------------------------- the calls


def test_the_prompts_share_all_but_their_ends() -> None:
    last = prompt_of(DOCUMENT)
    tokens = len(last.text) // 4
    bare, *tails = calibration_prompts(last, tokens, DOCUMENT, BLOCK)
    head = bare.messages[-1].text
    assert DOCUMENT.startswith(head)
    assert len(tails) == ROUNDS * (len(TAIL_TOKENS) - 1)
    for tail in tails:
        assert tail.messages[:-1] == last.messages[:-1]
        assert tail.messages[-1].text.startswith(head)
    every = [head, *(tail.messages[-1].text for tail in tails), DOCUMENT]
    for number, one in enumerate(every):
        for other in every[number + 1 :]:
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
            assert same <= len(head) + 1, "they part at once"


def test_the_tails_are_of_the_chosen_lengths_and_no_prompt_is_longer_than_the_last() -> None:
    last = prompt_of(DOCUMENT)
    bare, *tails = calibration_prompts(last, len(last.text) // 4, DOCUMENT, BLOCK)
    lengths = sorted((len(tail.text) - len(bare.text)) / 4 for tail in tails)
    assert lengths == pytest.approx(sorted(ROUNDS * [each for each in TAIL_TOKENS if each]), rel=0.05)
    assert all(len(each.text) <= len(last.text) + 40 for each in (bare, *tails))


def test_the_order_is_mixed_and_the_same_in_each_run() -> None:
    last = prompt_of(DOCUMENT)
    orders = {
        tuple(len(each.text) for each in calibration_prompts(last, 4000, DOCUMENT, ("x", repeat)))
        for repeat in range(20)
    }
    assert len(orders) > 1
    assert calibration_prompts(last, 4000, DOCUMENT, BLOCK) == calibration_prompts(
        last, 4000, DOCUMENT, BLOCK
    )


@given(st.text(max_size=400), st.text(max_size=400), st.integers(0, 5000))
def test_any_prompt_can_be_calibrated(text: str, document: str, tokens: int) -> None:
    bare, *_ = calibration_prompts(prompt_of(text), tokens, document, BLOCK)
    assert text.startswith(bare.messages[-1].text)


def test_what_is_known_of_a_block() -> None:
    block = [
        sample(Phase.LOAD, 0, load_ns=9),
        sample(Phase.FIRST, 1, prompt_tokens=1000, prefill_ns=900),
        sample(Phase.FOLLOW_UP, 2, prompt_tokens=1001, prefill_ns=20),
        sample(Phase.WARM_REPEAT, 2, prompt_tokens=1001, prefill_ns=2),
        sample(Phase.CALIBRATION, 2, prompt_tokens=600, prefill_ns=3),
        sample(Phase.CALIBRATION, 2, prompt_tokens=998, prefill_ns=400),
        sample(Phase.CALIBRATION, 2, failure="it broke off"),
        sample(Phase.CALIBRATION, 2, prompt_tokens=640, prefill_ns=40),
    ]
    assert known_calls(block) == [
        Known(1000, 1000, 900, BLOCK, AT_S),
        Known(1001, 1, 2, BLOCK, AT_S),
        Known(600, TEMPLATE_END_TOKENS, 3, BLOCK, AT_S),
        Known(998, 398 + TEMPLATE_END_TOKENS, 400, BLOCK, AT_S),
        Known(640, 40 + TEMPLATE_END_TOKENS, 40, BLOCK, AT_S),
    ]


# ---------------------------------------------------------------- the curve


COSTS = st.tuples(st.floats(1e5, 1e8), st.floats(1e4, 1e7), st.just(0.0) | st.floats(1, 1e4))


@given(COSTS, st.integers(1200, 20_000))
def test_without_noise_the_costs_come_back(cost: tuple[float, float, float], n: int) -> None:
    assume(ns(n, n, cost) > 5 * ns(n, 1, cost))
    calls = [replace_ns(each, cost) for each in calls_of(n)]
    curve = drawn(iter(calls))
    for call in calls:
        told = curve.formula_ns(call.prompt_tokens, call.read_tokens)
        assert told == pytest.approx(call.prefill_ns, rel=0.02)
    assert all(each >= 0 for each in curve.cost)


def replace_ns(call: Known, cost: tuple[float, float, float]) -> Known:
    return call._replace(prefill_ns=ns(call.prompt_tokens, call.read_tokens, cost))


def test_one_call_that_was_held_up_changes_little() -> None:
    calls = list(calls_of(noise=0.03))
    held = [each._replace(prefill_ns=each.prefill_ns * (3 if i == 5 else 1)) for i, each in enumerate(calls)]
    one, other = drawn(iter(calls)), drawn(iter(held))
    assert other.formula_ns(3000, 1500) == pytest.approx(one.formula_ns(3000, 1500), rel=0.15)


def test_a_slower_block_is_told_from_the_others() -> None:
    curve = drawn(calls_of(slow=0.2, noise=0.01))
    assert curve.at(AT_S + 120).slower - curve.at(AT_S).slower > 0.15


def test_of_a_time_without_calls_the_speed_is_the_usual_one_and_uncertain() -> None:
    curve = drawn(calls_of(slow=0.2, noise=0.01))
    near, far = curve.at(AT_S), curve.at(AT_S + 36_000)
    assert abs(far.slower) < abs(near.slower)
    assert far.variance > near.variance
    assert curve.variance(3000, 1500, far) > curve.variance(3000, 1500, near)


def test_more_calls_make_the_costs_surer() -> None:
    few, many = drawn(calls_of(noise=0.05, blocks=2)), drawn(calls_of(noise=0.05, blocks=8))
    assert many.covariance[2][2] * many.noise**2 < few.covariance[2][2] * few.noise**2
    assert many.freedom > few.freedom


# ---------------------------------------------------------------- follow-ups as calls of known reuse


def of_block(layout: str, follow_up_ns: float, at_s: float = 0.0) -> list[Sample]:
    """A block of 3,000 tokens that calibrates, and one follow-up."""

    def call(phase: Phase, number: int, n: int, time: float) -> Sample:
        at = datetime.fromisoformat(AT) + timedelta(seconds=at_s)
        made = sample(phase, number, layout=layout, prompt_tokens=n, prefill_ns=round(time))
        return replace(made, started_at=at.isoformat())

    tails = [call(Phase.CALIBRATION, 2, 2600 + t, ns(2600 + t, t + TEMPLATE_END_TOKENS)) for t in TAIL_TOKENS]
    return [
        call(Phase.FIRST, 1, 3000, ns(3000, 3000)),
        call(Phase.FOLLOW_UP, 2, 3000, follow_up_ns),
        call(Phase.WARM_REPEAT, 2, 3000, ns(3000, 1)),
        *tails,
    ]


def number_of_calls(curve: Curve | None) -> int:
    return len(curve.times) if curve is not None else 0


def test_a_follow_up_that_shares_nothing_is_a_cold_call_more() -> None:
    block = of_block("question-first", ns(3000, 2980))
    without = number_of_calls(curve_of(block))
    assert (
        number_of_calls(curve_of(block, {"question-first": (due(3000), due(3000, shared=20))})) == without + 1
    )
    assert number_of_calls(curve_of(block, {"question-first": (due(3000), due(3000, shared=900))})) == without


def test_but_not_where_its_time_says_that_it_was_reused() -> None:
    """Another client has sent the same, or the cache was not cold."""
    block = of_block("question-first", ns(3000, 20))
    without = number_of_calls(curve_of(block))
    assert number_of_calls(curve_of(block, {"question-first": (due(3000), due(3000, shared=20))})) == without


def test_when_a_call_began() -> None:
    assert seconds(sample(Phase.FIRST, 1)) == AT_S


@pytest.mark.parametrize("keep", ["cold", "warm", "nothing"])
def test_too_few_calls_draw_no_curve(keep: str) -> None:
    calls = {
        "cold": [each for each in calls_of() if each.read_tokens == each.prompt_tokens],
        "warm": [each for each in calls_of() if each.read_tokens < each.prompt_tokens],
        "nothing": [],
    }[keep]
    assert fit(calls) is None


def test_tails_that_were_read_with_all_before_them_draw_no_curve() -> None:
    """A model that cannot resume in the middle of a prompt: only the identical repeat is fast."""
    calls = [
        each._replace(prefill_ns=ns(each.prompt_tokens, each.prompt_tokens)) if each.read_tokens > 1 else each
        for each in calls_of()
    ]
    assert fit(calls) is None


# ---------------------------------------------------------------- from a time to tokens


@given(st.integers(0, 2999), st.floats(0.88, 1.13))
def test_the_band_holds_the_truth_of_a_noisy_call(reused: int, noise: float) -> None:
    low, value, high = ends(infer_from_curve(ns(3000, 3000 - reused) * noise, 3000, CURVE, AT_S)[0])
    assert low - 1 <= reused <= high + 1
    assert 0 <= low <= value <= high <= 2999


def test_the_band_is_one_of_95_percent() -> None:
    chance = random.Random(20261130)
    covered, errors, runs = 0, [], 40
    for seed in range(runs):
        curve = drawn(calls_of(noise=0.09, seed=seed))
        for _ in range(10):
            reused = chance.randrange(3000)
            time = ns(3000, 3000 - reused) * math.exp(chance.gauss(0, 0.09))
            low, value, high = ends(infer_from_curve(time, 3000, curve, AT_S)[0])
            covered += low - 1 <= reused <= high + 1
            errors.append(abs(value - reused) / 3000)
    assert covered / (10 * runs) >= 0.95
    assert sorted(errors)[len(errors) // 2] < 0.04


@given(st.floats(0, 1e13), st.integers(0, 20_000), st.none() | st.integers(0, 30_000))
def test_any_time_gives_tokens_of_the_prompt_or_nothing(time: float, n: int, shared: int | None) -> None:
    estimate, agrees = infer_from_curve(time, n, CURVE, AT_S, shared)
    if estimate is UNKNOWN:
        assert agrees
        return
    low, value, high = ends(estimate)
    assert 0 <= low <= value <= high <= max(0, n - 1)


CURVE = drawn(calls_of(noise=0.05))


def test_without_contrast_nothing_is_told() -> None:
    flat = replace(CURVE, cost=(1e8, 0.0, 0.0), short=())
    assert infer_from_curve(1e8, 1000, flat, AT_S, 500) == (UNKNOWN, True)


def test_nothing_beyond_the_shared_start_is_reused() -> None:
    estimate, agrees = infer_from_curve(ns(3000, 50), 3000, CURVE, AT_S, 2940)
    assert agrees
    assert ends(estimate)[2] <= 2942
    estimate, agrees = infer_from_curve(ns(3000, 50), 3000, CURVE, AT_S, 20)
    assert not agrees


@given(st.integers(2, 63))
def test_small_batches_may_go_row_by_row(read: int) -> None:
    """Seen with flash attention: below 64 rows each takes as long as 20 in a larger batch."""

    def slow_ns(n: int, m: float) -> float:
        return 1e6 * m if m < 64 else ns(n, m, (1e6, 1e4, 5.0))

    calls = [each._replace(prefill_ns=slow_ns(each.prompt_tokens, each.read_tokens)) for each in calls_of()]
    curve = drawn(iter(calls))
    low, _, high = ends(infer_from_curve(slow_ns(3000, read), 3000, curve, AT_S)[0])
    assert low - 2 <= 3000 - read <= high + 2
    low, _, high = ends(infer_from_curve(slow_ns(3000, 3000), 3000, curve, AT_S)[0])
    assert low == 0


@given(
    st.lists(
        st.tuples(
            st.integers(1, 50_000),
            st.floats(0.001, 1),
            st.floats(1, 1e13),
            st.integers(1, 3),
            st.floats(0, 1e9),
        ),
        max_size=12,
    )
)
def test_any_calls_draw_a_curve_of_finite_times_or_none(
    calls: list[tuple[int, float, float, int, float]],
) -> None:
    known = [
        Known(n, max(1, round(n * share)), time, ("x", block), at) for n, share, time, block, at in calls
    ]
    known += [each._replace(read_tokens=each.prompt_tokens) for each in known[:2]]
    curve = fit(known)
    if curve is None:
        return
    assert all(math.isfinite(each) and each >= 0 for each in curve.cost)
    for at_s in (0.0, 1e9):
        assert math.isfinite(curve.variance(1000, 500, curve.at(at_s)))
    low, value, high = (infer_from_curve(1e9, 1000, curve, 0.0)[0].low, 0, 999)
    assert low is None or value <= low <= high


def test_many_calls_do_not_take_long() -> None:
    """The newest of them are fitted: their number costs its third power."""
    curve = drawn(calls_of(noise=0.05, blocks=60))
    assert len(curve.times) < 100
    assert min(curve.times) > AT_S
