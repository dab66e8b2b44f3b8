"""From a duration to reused tokens, held against the physics of a prefill."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from promptorder.measure.inference import MIN_CONTRAST, Anchors, infer_reused
from promptorder.model.comparison import UNKNOWN, Estimate

PRECISION = 1  # whole tokens


@dataclass(frozen=True)
class Machine:
    """Reading the last m of n tokens takes a + b m + d (n^2 - (n - m)^2) / 2."""

    a: float
    b: float
    d: float

    def ns(self, n: int, m: int) -> float:
        return self.a + self.b * m + self.d * (n**2 - (n - m) ** 2) / 2


MACHINES = st.builds(
    Machine,
    a=st.floats(0, 5e7),
    b=st.floats(1e4, 1e7),
    # attention costs nothing at all, or up to several times the rest
    d=st.just(0.0) | st.floats(0, 1e4),
)
LENGTHS = st.integers(2, 20_000)


def infer(time: float, n: int, cold: float, warm: float, shared: int | None = None) -> tuple[Estimate, bool]:
    return infer_reused(time, n, Anchors(cold, n, warm), shared)


def ends(estimate: Estimate) -> tuple[float, float, float]:
    assert estimate.method == "inferred"
    assert estimate.low is not None
    assert estimate.value is not None
    assert estimate.high is not None
    return estimate.low, estimate.value, estimate.high


@given(MACHINES, LENGTHS, st.data(), st.floats(0.85, 1.15))
def test_band_covers_the_truth_with_a_noisy_call(
    machine: Machine, n: int, data: st.DataObject, noise: float
) -> None:
    m = data.draw(st.integers(1, n))
    estimate, _ = infer(machine.ns(n, m) * noise, n, machine.ns(n, n), machine.ns(n, 1))
    assume(estimate is not UNKNOWN)
    low, value, high = ends(estimate)
    assert low - PRECISION <= n - m <= high + PRECISION
    assert low <= value <= high


TWELVE = st.floats(0.88, 1.12)


@given(MACHINES, LENGTHS, st.data(), TWELVE, TWELVE, TWELVE)
def test_band_covers_the_truth_with_noisy_anchors_too(
    machine: Machine, n: int, data: st.DataObject, at_cold: float, at_warm: float, at_call: float
) -> None:
    m = data.draw(st.integers(1, n))
    cold, warm = machine.ns(n, n) * at_cold, machine.ns(n, 1) * at_warm
    estimate, _ = infer(machine.ns(n, m) * at_call, n, cold, warm)
    assume(estimate is not UNKNOWN)
    low, _, high = ends(estimate)
    # An anchor that was slow by chance moves a call that read next to nothing by that noise itself
    slack = PRECISION + 0.02 * n
    assert low - slack <= n - m <= high + slack


def test_band_is_one_of_95_percent_at_the_most_noise_that_was_seen() -> None:
    chance = random.Random(20261130)
    known = covered = 0
    for _ in range(4000):
        n = chance.randint(64, 8000)
        m = chance.randint(1, n)
        b = chance.uniform(1e4, 1e7)
        machine = Machine(chance.uniform(0, 5e7), b, chance.choice((0.0, chance.uniform(0, 6 * b / n))))
        cold, warm, time = (machine.ns(n, each) * chance.uniform(0.85, 1.15) for each in (n, 1, m))
        estimate, _ = infer(time, n, cold, warm)
        if estimate is UNKNOWN:
            continue
        low, _, high = ends(estimate)
        known += 1
        covered += low - PRECISION <= n - m <= high + PRECISION
    assert known > 3500
    assert covered / known >= 0.95


@given(MACHINES, LENGTHS, st.data())
def test_without_noise_the_contrast_of_all_and_nothing_is_plain(
    machine: Machine, n: int, data: st.DataObject
) -> None:
    cold, warm = machine.ns(n, n), machine.ns(n, 1)
    assume(cold >= 4 * warm)
    everything, _ = infer(warm, n, cold, warm)
    nothing, _ = infer(cold, n, cold, warm)
    assert ends(everything)[1:] == (n - 1, n - 1)
    assert ends(nothing)[:2] == (0, 0)
    assert ends(everything)[0] > ends(nothing)[2]


@given(LENGTHS, st.floats(1, 1e9), st.floats(MIN_CONTRAST, 1e3), st.floats(0, 1e12), st.floats(0, 1e12))
def test_longer_never_means_more_reuse(n: int, warm: float, ratio: float, one: float, other: float) -> None:
    short, long = (infer(time, n, warm * ratio * 1.001, warm)[0] for time in sorted((one, other)))
    assert all(a >= b for a, b in zip(ends(short), ends(long), strict=True))


@given(
    st.floats(0, 1e12),
    st.integers(0, 20_000),
    st.floats(0, 1e12),
    st.integers(0, 20_000),
    st.floats(0, 1e12),
    st.none() | st.integers(0, 30_000),
)
def test_any_numbers_give_tokens_of_the_prompt_or_nothing(
    time: float, n: int, cold: float, cold_n: int, warm: float, shared: int | None
) -> None:
    estimate, agrees = infer_reused(time, n, Anchors(cold, cold_n, warm), shared)
    if estimate is UNKNOWN:
        assert agrees
        return
    low, value, high = ends(estimate)
    assert 0 <= low <= value <= high <= max(0, n - 1)
    assert all(isinstance(each, int) for each in (low, value, high))


@pytest.mark.parametrize(("cold", "warm"), [(149.0, 100.0), (100.0, 100.0), (50.0, 100.0), (0.0, 0.0)])
def test_too_little_contrast_is_unknown(cold: float, warm: float) -> None:
    assert infer(120, 1000, cold, warm, 500) == (UNKNOWN, True)


def test_enough_contrast_is_known() -> None:
    assert infer(120, 1000, 150, 100)[0].method == "inferred"


def test_contrast_is_that_of_the_prompt_itself() -> None:
    """A short prompt beside a long cold one: what is left between it and the warm call tells nothing."""
    anchors = Anchors(cold_ns=200, cold_tokens=1000, warm_ns=100)
    assert infer_reused(110, 1000, anchors)[0].method == "inferred"
    assert infer_reused(110, 500, anchors) == (UNKNOWN, True)
    assert infer_reused(110, 400, anchors) == (UNKNOWN, True)


@given(MACHINES, LENGTHS, st.data())
def test_nothing_beyond_the_shared_start_is_reused(machine: Machine, n: int, data: st.DataObject) -> None:
    """Where the time agrees with what the prompts share, the band ends at it and covers the truth."""
    shared = data.draw(st.integers(0, n - 1))
    m = n - shared
    estimate, agrees = infer(machine.ns(n, m), n, machine.ns(n, n), machine.ns(n, 1), shared)
    assume(estimate is not UNKNOWN)
    low, _, high = ends(estimate)
    assert agrees
    assert high <= shared + 2
    assert low - PRECISION <= shared <= high + PRECISION


def test_more_reuse_than_is_shared_is_a_contradiction() -> None:
    estimate, agrees = infer(101, 1000, 1000, 100, shared=10)
    assert not agrees
    assert ends(estimate)[0] > 10, "the estimate stays as the time gives it"


def test_no_reuse_where_much_is_shared_is_a_contradiction() -> None:
    estimate, agrees = infer(1000, 1000, 1000, 100, shared=950)
    assert not agrees
    assert ends(estimate)[2] < 900


def test_few_tokens_more_or_less_are_none() -> None:
    assert infer(1000, 1000, 1000, 100, shared=20)[1]
    assert infer(100, 1000, 1000, 100, shared=960)[1]


def test_a_longer_prompt_has_a_longer_cold_time() -> None:
    anchors = Anchors(cold_ns=1000, cold_tokens=1000, warm_ns=10)
    estimate, _ = infer_reused(1100, 1100, anchors)
    assert ends(estimate)[1] == 0
