"""Medians, bands and the plainly fastest."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.measure.statistics import clearly_lowest, median_estimate, median_whole, spread
from promptorder.model.comparison import UNKNOWN, Estimate, Method


def exactly(value: float, method: Method = "counted") -> Estimate:
    return Estimate(value, value, value, method)


@given(st.lists(st.integers(0, 10**12), min_size=1), st.integers(0, 5))
def test_median_and_spread_leave_out_what_is_unknown(values: list[int], unknown: int) -> None:
    given_values = [None] * unknown + values
    assert median_whole(given_values) == round(median(values))
    assert isinstance(median_whole(given_values), int)
    assert spread(given_values) == (min(values), max(values))


@pytest.mark.parametrize("values", [[], [None], [None, None]])
def test_nothing_known_is_none_and_not_zero(values: list[None]) -> None:
    assert median_whole(values) is None
    assert spread(values) is None


@pytest.mark.parametrize(
    ("estimates", "expected"),
    [
        ([], UNKNOWN),
        ([UNKNOWN, UNKNOWN], UNKNOWN),
        ([exactly(0.9)], exactly(0.9)),
        ([exactly(0.9)] * 3, exactly(0.9)),
        ([exactly(0.8), exactly(0.9), exactly(0.95)], Estimate(0.9, 0.8, 0.95, "counted")),
        ([exactly(0.8), UNKNOWN, exactly(0.9)], Estimate(0.85, 0.8, 0.9, "counted")),
        ([exactly(0.8), exactly(0.9, "logged")], Estimate(0.85, 0.8, 0.9, "logged")),
        (
            [
                Estimate(0.5, 0.4, 0.6, "inferred"),
                Estimate(0.6, 0.2, 0.7, "inferred"),
                Estimate(0.9, 0.5, 1, "inferred"),
            ],
            Estimate(0.6, 0.4, 0.7, "inferred"),
        ),
        ([exactly(0.9), Estimate(0.7, 0.5, 0.8, "inferred")], Estimate(0.8, 0.7, 0.85, "inferred")),
    ],
)
def test_median_of_estimates(estimates: list[Estimate], expected: Estimate) -> None:
    result = median_estimate(estimates)
    assert result.method == expected.method
    assert (result.value, result.low, result.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


BANDS = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted)


@given(st.lists(st.tuples(BANDS, st.sampled_from(["counted", "logged", "inferred"])), min_size=1))
def test_a_median_lies_in_its_band(bands: list[tuple[list[float], Method]]) -> None:
    result = median_estimate([Estimate(value, low, high, method) for (low, value, high), method in bands])
    assert result.low is not None
    assert result.value is not None
    assert result.high is not None
    assert 0 <= result.low <= result.value <= result.high <= 1


@pytest.mark.parametrize(
    ("groups", "lowest"),
    [
        ({}, None),
        ({"a": [1]}, None),
        ({"a": [], "b": []}, None),
        ({"a": [1], "b": []}, None),
        ({"a": [1], "b": [2]}, "a"),
        ({"b": [2], "a": [1]}, "a"),
        ({"a": [1], "b": [1]}, None),
        ({"a": [1, 2, 3], "b": [4, 5, 6]}, "a"),
        # the median is below all others', and the largest below their median
        ({"a": [1, 2, 4], "b": [3, 5, 6]}, "a"),
        ({"a": [1, 2, 5], "b": [3, 5, 6]}, None),
        ({"a": [1, 3, 4], "b": [3, 5, 6]}, None),
        ({"a": [1, 2], "b": [7, 8], "c": [1, 9]}, None),
        ({"a": [1, 2], "b": [7, 8], "c": [3, 9]}, "a"),
    ],
)
def test_the_plainly_lowest(groups: dict[str, list[int]], lowest: str | None) -> None:
    assert clearly_lowest(groups) == lowest


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 9), min_size=1)))
def test_a_winner_has_the_lowest_median(groups: dict[str, list[int]]) -> None:
    winner = clearly_lowest(groups)
    if winner is not None:
        assert all(median(groups[winner]) < median(groups[name]) for name in groups if name != winner)
