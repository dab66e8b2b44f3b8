"""What disturbed a run is told, with the samples that it touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hand_made import due, sample

from promptorder.measure.analysis import Analysis, analyse
from promptorder.model.comparison import Caveat, Expectation, Verdict
from promptorder.model.sample import Phase, Sample

SECOND = 1_000_000_000
MS = 1_000_000
DUE = (due(), due(shared=950), due(shared=950), due(shared=950))
CALL: dict[str, Any] = {
    "prompt_tokens": 1000,
    "load_ns": 20 * MS,
    "decode_ns": 100 * MS,
    "total_ns": 2200 * MS,
    "elapsed_ns": 2201 * MS,
}


def block(layout: str = "a", repeat: int = 1, *, cold_ns: int = 2 * SECOND, **changed: Any) -> list[Sample]:
    """A block in which all is well but for ``changed``: fields of the second follow-up."""
    where: dict[str, Any] = {"layout": layout, "repeat": repeat}
    cold = {**CALL, "prefill_ns": cold_ns, "cached_tokens": 0, "total_ns": cold_ns + 130 * MS}
    warm = {
        **CALL,
        "prefill_ns": 100 * MS,
        "cached_tokens": 950,
        "total_ns": 230 * MS,
        "elapsed_ns": 231 * MS,
    }
    return [
        sample(Phase.LOAD, 0, answer="", load_ns=3 * SECOND, **where),
        sample(Phase.FIRST, 1, **{**cold, "elapsed_ns": cold_ns + 131 * MS}, **where),
        sample(Phase.FOLLOW_UP, 2, **warm, **where),
        sample(Phase.FOLLOW_UP, 3, **{**warm, **changed}, **where),
        sample(Phase.FOLLOW_UP, 4, **warm, **where),
    ]


def analysed(samples: Sequence[Sample], due_: Sequence[Expectation] = DUE) -> Analysis:
    names = list(dict.fromkeys(s.layout for s in samples))
    return analyse(samples, names, dict.fromkeys(names, due_))


def told(samples: Sequence[Sample]) -> list[Caveat]:
    return list(analysed(samples).caveats)


def only(samples: Sequence[Sample], code: str) -> Caveat:
    [caveat] = told(samples)
    assert caveat.code == code
    return caveat


def test_a_quiet_run_has_none() -> None:
    assert told(block() + block("b") + block(repeat=2)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"total_ns": 1230 * MS, "elapsed_ns": 1231 * MS},  # at the server
        {"elapsed_ns": 1231 * MS},  # in front of it
        {"load_ns": 1500 * MS, "total_ns": 1710 * MS, "elapsed_ns": 1711 * MS},  # to be scheduled
    ],
)
def test_a_call_that_had_to_wait(changed: dict[str, Any]) -> None:
    caveat = only(block(**changed), "busy-server")
    assert (caveat.layout, caveat.samples) == ("a", ((1, 3),))


def test_a_wait_that_every_call_has_is_no_queue() -> None:
    """Rendering and tokenising a long prompt takes its time, each time."""
    slow = [
        replace(s, reply=replace(s.reply, total_ns=(s.reply.total_ns or 0) + SECOND, elapsed_ns=None))
        for s in block()
        if s.reply is not None
    ]
    assert told(slow) == []


def test_loading_again_is_no_waiting() -> None:
    caveats = told(
        block(
            load_ns=2 * SECOND,
            cached_tokens=0,
            prefill_ns=2 * SECOND,
            total_ns=4130 * MS,
            elapsed_ns=4131 * MS,
        )
    )
    assert "model-reloaded" in [caveat.code for caveat in caveats]
    assert "busy-server" not in [caveat.code for caveat in caveats]


def test_a_reload_from_the_systems_memory_is_quick_and_found() -> None:
    """The first load read the file from the disk, in 3 s or 30; the second took 1.2 s."""
    samples = block(
        load_ns=1200 * MS, cached_tokens=0, prefill_ns=2 * SECOND, total_ns=3330 * MS, elapsed_ns=3331 * MS
    )
    samples[0] = sample(Phase.LOAD, 0, layout="a", answer="", load_ns=30 * SECOND)
    [reloaded] = [caveat for caveat in told(samples) if caveat.code == "model-reloaded"]
    assert reloaded.samples == ((1, 3),)
    assert analysed(samples).layouts[0].verdict is Verdict.REUSED


def test_reuse_that_went_and_came_back() -> None:
    analysis = analysed(block(cached_tokens=0, prefill_ns=2 * SECOND))
    [caveat] = [each for each in analysis.caveats if each.code == "second-client"]
    assert (caveat.layout, caveat.samples) == ("a", ((1, 3),))
    assert "1 of 3 follow-ups" in caveat.message
    assert analysis.layouts[0].verdict is Verdict.CANNOT_TELL, "its band covers both"


def test_a_machine_that_changes_its_speed() -> None:
    samples = block() + block("b") + block("c") + block("c", 2, cold_ns=3 * SECOND)
    caveat = only(samples, "machine-drift")
    assert (caveat.layout, caveat.samples) == ("c", ((2, 1),))
    assert "333 to 500 tokens a second" in caveat.message


@pytest.mark.parametrize("cold_ns", [2 * SECOND * 13 // 10, 2 * SECOND * 10 // 13])
def test_the_usual_spread_is_no_change(cold_ns: int) -> None:
    assert told(block() + block("b", cold_ns=cold_ns)) == []


def test_short_calls_tell_no_speed() -> None:
    assert told(block(cold_ns=120 * MS) + block("b", cold_ns=60 * MS)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"prefill_ns": 400 * MS, "elapsed_ns": 231 * MS},  # longer than the whole call
        {"prefill_ns": 100, "total_ns": 230, "load_ns": 20, "decode_ns": 100},  # milliseconds for nanoseconds
    ],
)
def test_times_that_cannot_be(changed: dict[str, Any]) -> None:
    codes = {caveat.code: caveat for caveat in told(block(**changed))}
    assert codes["durations-not-believable"].samples == ((1, 3),)


@pytest.mark.parametrize(("cached", "prefill_ns"), [(0, 100 * MS), (950, 2 * SECOND)])
def test_a_count_against_its_time_is_not_believed(cached: int, prefill_ns: int) -> None:
    samples = [
        sample(s.phase, s.question, layout="a", **{**CALL, "cached_tokens": cached, "prefill_ns": prefill_ns})
        if s.phase is Phase.FOLLOW_UP
        else s
        for s in block()
    ]
    analysis = analysed(samples)
    [caveat] = [each for each in analysis.caveats if each.code == "count-contradicts-time"]
    assert caveat.samples == ((1, 2), (1, 3), (1, 4))
    [layout] = analysis.layouts
    assert layout.verdict is Verdict.CANNOT_TELL
    assert layout.reused_fraction.value is None


def test_a_count_is_not_held_to_times_too_short_to_tell() -> None:
    samples = block(cold_ns=100 * MS, cached_tokens=0, prefill_ns=10 * MS)
    assert "count-contradicts-time" not in [caveat.code for caveat in told(samples)]


def test_answers_that_were_cut() -> None:
    caveat = only(block(done_reason="length"), "answer-cut")
    assert (caveat.layout, caveat.samples) == ("a", ((1, 3),))
    assert told(block(done_reason="stop")) == []


@pytest.mark.parametrize("cached", [[20, 20, 20], [20, 21, 22]])
def test_prompts_that_always_part_in_front_of_the_document(cached: list[int]) -> None:
    """A template that writes the time, or a proxy that adds a line: it is no accident."""
    samples = block()[:2]
    for question, tokens in enumerate(cached, start=2):
        call = {**CALL, "cached_tokens": tokens, "prefill_ns": 2 * SECOND}
        samples.append(sample(Phase.FOLLOW_UP, question, layout="a", **call))
    [caveat] = told(samples)
    assert caveat.code == "reuse-not-as-expected"
    assert "writes the time" in caveat.message
