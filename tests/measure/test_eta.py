"""The time that is left: from what is to be read, and the speeds seen so far."""

from __future__ import annotations

from typing import Any

import pytest
from hand_made import due, sample

from promptorder.layouts import built_in_layout
from promptorder.measure.eta import TimeLeft, tokens_to_read
from promptorder.measure.plan import Plan
from promptorder.model.sample import Phase, Sample
from promptorder.model.source import Question, SourceText

MS = 1_000_000


def plan_of(*layouts: str, repeats: int = 1, **more: Any) -> Plan:
    return Plan(
        document=SourceText("d.txt", "text", "a" * 64, "The document."),
        questions=(Question("One?"), Question("Two?")),
        layouts=tuple(built_in_layout(name) for name in layouts),
        repeats=repeats,
        clock_gap_s=1.5,
        **{"warm_repeat": False, **more},
    )


# 1000 tokens to read for the first question, 100 for the second
DUE = (due(1000), due(1000, shared=900))


def left_of(*layouts: str, repeats: int = 1, **more: Any) -> TimeLeft:
    return TimeLeft(plan_of(*layouts, repeats=repeats, **more), dict.fromkeys(layouts, DUE))


def first(layout: str = "static-first", **fields: Any) -> Sample:
    """A cold call at 1 ms a token."""
    return sample(Phase.FIRST, 1, layout=layout, prompt_tokens=1000, prefill_ns=1000 * MS, **fields)


def test_unknown_until_a_cold_call_has_told_the_speed() -> None:
    left = left_of("static-first")
    assert left.seconds() is None
    left.saw(sample(Phase.LOAD, 0, load_ns=2000 * MS))
    assert left.seconds() is None
    left.saw(sample(Phase.FIRST, 1, failure="x"))
    assert left.seconds() is None
    left.saw(sample(Phase.FOLLOW_UP, 2, prompt_tokens=1000, prefill_ns=10 * MS))
    assert left.seconds() is None, "a follow-up may have reused all"


def test_what_is_left_to_read_at_the_speed_seen() -> None:
    left = left_of("static-first", "question-first")
    left.saw(first())
    # 100 tokens here, 1100 in the other layout
    assert left.seconds() == pytest.approx(1.2)


def test_answers_take_their_time() -> None:
    left = left_of("static-first", "question-first")
    left.saw(first(elapsed_ns=1200 * MS))
    assert left.seconds() == pytest.approx(1.2 + 3 * 0.2)


def test_loading_takes_its_time_in_blocks_that_have_not_begun() -> None:
    left = left_of("static-first", "question-first")
    left.saw(sample(Phase.LOAD, 0, load_ns=2000 * MS))
    left.saw(first())
    assert left.seconds() == pytest.approx(1.2 + 2)
    left.saw(sample(Phase.FOLLOW_UP, 2, prompt_tokens=1000, prefill_ns=100 * MS))
    left.saw(sample(Phase.LOAD, 0, layout="question-first", load_ns=2000 * MS))
    assert left.seconds() == pytest.approx(1.1)


def test_a_clock_is_waited_for_before_follow_ups() -> None:
    left = left_of("clock-first")
    left.saw(first("clock-first"))
    assert left.seconds() == pytest.approx(0.1 + 1.5)
    more = left_of("clock-first", "clock-last")
    more.saw(first("clock-first"))
    assert more.seconds() == pytest.approx(0.1 + 1.5 + 1.1 + 1.5), "not before a first question"


def test_an_engine_that_tells_only_what_it_read() -> None:
    left = left_of("static-first")
    left.saw(sample(Phase.FIRST, 1, read_tokens=1000, prefill_ns=1000 * MS))
    assert left.seconds() == pytest.approx(0.1)


def test_a_failed_follow_up_is_done_too() -> None:
    left = left_of("static-first")
    left.saw(first())
    left.saw(sample(Phase.FOLLOW_UP, 2, failure="x"))
    assert left.seconds() == 0


def test_speed_is_the_median_of_those_seen() -> None:
    left = left_of("static-first", "question-first", "clock-rounded", "clock-last")
    for layout, ms in (("static-first", 1000), ("question-first", 9000), ("clock-rounded", 2000)):
        left.saw(sample(Phase.FIRST, 1, layout=layout, prompt_tokens=1000, prefill_ns=ms * MS))
    # 100 in the third block, 1100 in the fourth, whose clock is waited for
    assert left.seconds() == pytest.approx(1200 * 0.002 + 1.5)


def known(phase: Phase, layout: str, ms: int = 100) -> Sample:
    return sample(phase, 2, layout=layout, prompt_tokens=1000, prefill_ns=ms * MS, elapsed_ns=ms * MS)


def test_calls_of_known_reuse_take_their_time_where_nothing_is_counted() -> None:
    left = left_of("static-first", "question-first", warm_repeat=True)
    left.saw(first())
    # four of them in each block, of about 120 tokens
    assert left.seconds() == pytest.approx(0.1 + 1.1 + 8 * 0.12)
    left.saw(sample(Phase.FOLLOW_UP, 2, prompt_tokens=1000, prefill_ns=100 * MS))
    left.saw(known(Phase.WARM_REPEAT, "static-first", 10))
    left.saw(known(Phase.CALIBRATION, "static-first", 30))
    assert left.seconds() == pytest.approx(1.1 + 6 * 0.02)
    # The second block has begun: the first one took two.
    left.saw(sample(Phase.LOAD, 0, layout="question-first", load_ns=0))
    assert left.seconds() == pytest.approx(1.1 + 2 * 0.02)


def test_more_calls_of_known_reuse_than_usual_leave_nothing_to_tell() -> None:
    left = left_of("static-first", warm_repeat=True)
    left.saw(first())
    left.saw(sample(Phase.FOLLOW_UP, 2, prompt_tokens=1000, prefill_ns=100 * MS))
    for _ in range(7):
        left.saw(known(Phase.CALIBRATION, "static-first"))
    assert left.seconds() == 0


@pytest.mark.parametrize("counts", [{"cached_tokens": 0}, {"read_tokens": 1000}])
def test_an_engine_that_counts_is_not_calibrated(counts: dict[str, Any]) -> None:
    left = left_of("static-first", warm_repeat=True)
    left.saw(first(**counts))
    assert left.seconds() == pytest.approx(0.1)


def test_a_checked_answer_is_a_cold_call_more() -> None:
    left = left_of("static-first", repeats=2, check_answers=True)
    left.saw(sample(Phase.LOAD, 0, load_ns=500 * MS))
    left.saw(first())
    # here 100 and, loaded anew, 1000; in the second repeat 1100
    assert left.seconds() == pytest.approx(0.1 + 0.5 + 1.0 + 0.5 + 1.1)
    left.saw(sample(Phase.FOLLOW_UP, 2, prompt_tokens=1000, prefill_ns=100 * MS))
    left.saw(sample(Phase.CHECK, 2, prompt_tokens=1000, prefill_ns=1000 * MS))
    assert left.seconds() == pytest.approx(0.5 + 1.1)


def test_control_calls_that_have_begun() -> None:
    left = left_of("static-first")
    left.saw(first())
    left.saw(sample(Phase.FOLLOW_UP, 2, prompt_tokens=1000, prefill_ns=100 * MS))
    assert left.seconds() == 0
    left.saw(sample(Phase.CONTROL, 1, layout="", prompt_tokens=1500, elapsed_ns=2000 * MS))
    assert left.seconds() == pytest.approx(3 * 0.4)
    for number in range(2, 5):
        left.saw(sample(Phase.CONTROL, number, layout="", prompt_tokens=800, elapsed_ns=200 * MS))
    assert left.seconds() == 0


def test_blocks_that_an_earlier_process_measured_are_not_counted() -> None:
    left = left_of("static-first", "question-first", "clock-rounded")
    left.saw(first("question-first"))
    assert left.seconds() == pytest.approx(0.1 + 1.1)


def test_nothing_is_left_at_the_end() -> None:
    left = left_of("static-first", repeats=2)
    for repeat in (1, 2):
        left.saw(sample(Phase.FIRST, 1, repeat=repeat, prompt_tokens=1000, prefill_ns=MS))
        left.saw(sample(Phase.FOLLOW_UP, 2, repeat=repeat, prompt_tokens=1000, prefill_ns=MS))
    assert left.seconds() == 0


def test_tokens_to_read() -> None:
    plan = plan_of("static-first", "question-first", repeats=3)
    expected = {"static-first": DUE, "question-first": (due(1000), due(1000, shared=50))}
    assert tokens_to_read(plan, expected) == 3 * (1100 + 1950)
    plan = plan_of("static-first", repeats=3, check_answers=True)
    assert tokens_to_read(plan, {"static-first": DUE}) == 3 * 1100 + 1000
