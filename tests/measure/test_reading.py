"""From a count of what was read to what was reused."""

from __future__ import annotations

from hand_made import due
from hypothesis import given
from hypothesis import strategies as st

from promptorder.measure.reading import reused_beside
from promptorder.model.comparison import Estimate, Expectation


def estimated(prompt: int) -> Expectation:
    return Expectation(prompt, 0, 50, 900, exact=False)


def test_beside_a_whole_that_was_counted_the_rest_was_reused() -> None:
    assert reused_beside(50, due(1000), None, None) == (1000, Estimate(950, 950, 950, "counted"))
    assert reused_beside(1001, due(1000), None, None) == (1000, Estimate(0, 0, 0, "counted"))


def test_without_a_cold_call_an_estimated_whole_is_not_known() -> None:
    assert reused_beside(50, estimated(1000), None, estimated(1000)) is None
    assert reused_beside(50, estimated(1000), 1100, None) is None


@given(st.integers(200, 5000), st.floats(0.8, 1.25), st.integers(-150, 300), st.data())
def test_the_band_holds_the_truth_though_lengths_are_estimated_alike(
    cold: int, error: float, longer: int, data: st.DataObject
) -> None:
    """The estimate is off by the same factor for all prompts, and by some tokens in the part that differs."""
    whole = cold + longer
    reused = data.draw(st.integers(0, whole - 1))
    guessed = estimated(max(1, round(error * cold + error * longer * data.draw(st.floats(0.92, 1.08)))))
    found = reused_beside(whole - reused, guessed, cold, estimated(round(error * cold)))
    assert found is not None
    _, estimate = found
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low <= reused
    assert reused <= estimate.high or estimate.high == found[0] - 1
    assert estimate.high - estimate.low <= 0.22 * abs(longer) + 8
