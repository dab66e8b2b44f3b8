"""What control calls are needed for, what they show, and what a run then says of its server and model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hand_made import due, sample

from promptorder.measure.analysis import analyse
from promptorder.measure.controls import Ability, ability, calls_of
from promptorder.measure.set_up import in_doubt
from promptorder.model.comparison import Expectation, Verdict
from promptorder.model.sample import Control, ControlKind, Phase, Reply, Sample

SECOND = 1_000_000_000
KINDS: tuple[ControlKind, ...] = ("long", "short", "other-tail", "repeat")
LENGTHS = dict(zip(KINDS, (1600, 830, 830, 830), strict=True))
SHARED = dict(zip(KINDS, (0, 800, 800, 830), strict=True))
SHARING = (due(), due(shared=950), due(shared=950))
PARTING = (due(), due(shared=20), due(shared=20))


def control(
    kind: ControlKind, reused: int | None, *, counts: bool = True, failure: str | None = None
) -> Sample:
    """A control call of a server that reads a token a character, in 2 ms each; ``reused`` None is all that is shared."""
    length = LENGTHS[kind]
    reused = min(SHARED[kind], length - 1) if reused is None else reused
    reply = Reply(
        "x",
        prompt_tokens=length,
        cached_tokens=reused if counts else None,
        prefill_ns=(length - reused) * 2_000_000,
    )
    return Sample(
        layout="",
        repeat=1,
        question=KINDS.index(kind) + 1,
        phase=Phase.CONTROL,
        prompt_sha256="0" * 64,
        started_at="2026-11-30T14:03:27.000Z",
        reply=None if failure else reply,
        failure=failure,
        control=Control(kind, length, SHARED[kind]),
    )


def controls(*reused: int | None, counts: bool = True) -> list[Sample]:
    return [control(kind, number, counts=counts) for kind, number in zip(KINDS, reused, strict=True)]


WORKS = controls(0, None, None, None)
SHOWN: dict[Ability, list[Sample]] = {
    "works": WORKS,
    "hangs-on-tail": controls(0, 24, None, None),
    "partly": controls(0, 300, 300, None),
    "only-repeats": controls(0, 0, 0, None),
    "nothing": controls(0, 0, 0, 0),
}


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("shown", SHOWN)
def test_what_control_calls_show(shown: Ability, counts: bool) -> None:
    if shown == "partly" and not counts:
        return  # time does not tell a part
    reused = [s.reply.cached_tokens for s in SHOWN[shown] if s.reply]
    assert ability(calls_of(controls(*reused, counts=counts))) == shown


def test_times_that_do_not_tell() -> None:
    quick = [sample(Phase.LOAD, 0)]
    for each in controls(0, 0, 0, 0, counts=False):
        assert each.reply is not None
        quick.append(Sample(**{**fields(each), "reply": Reply("x", prompt_tokens=9, prefill_ns=5_000_000)}))
    assert ability(calls_of(quick)) == "cannot-tell"


def fields(each: Sample) -> dict[str, Any]:
    return {name: getattr(each, name) for name in Sample.__dataclass_fields__}


# ---------------------------------------------------------------- when they are needed


def block(
    layout: str, cached: Sequence[int | None], *, prefill_ns: Sequence[int] = (), repeat: int = 1
) -> list[Sample]:
    """A block of 1,000 tokens that took 2 s cold; with None nothing is counted, and the times are as given."""
    told: dict[str, Any] = {"prompt_tokens": 1000, "total_ns": 3 * SECOND, "load_ns": 0}
    where: dict[str, Any] = {"layout": layout, "repeat": repeat}
    counts = cached[0] is not None
    calls = [sample(Phase.LOAD, 0, answer="", load_ns=SECOND, **where)]
    first: dict[str, Any] = {"cached_tokens": 0} if counts else {}
    calls.append(sample(Phase.FIRST, 1, prefill_ns=2 * SECOND, **first, **told, **where))
    for number, tokens in enumerate(cached):
        ns = prefill_ns[number] if prefill_ns else (1000 - (tokens or 0)) * 2_000_000
        count: dict[str, Any] = {"cached_tokens": tokens} if counts else {}
        calls.append(sample(Phase.FOLLOW_UP, number + 2, prefill_ns=ns, **count, **told, **where))
    return calls


def doubt(
    samples: Sequence[Sample],
    expected: dict[str, Sequence[Expectation]],
    *,
    over: bool = False,
    window: int | None = None,
) -> bool:
    layouts = analyse(samples, list(expected), expected).layouts
    return in_doubt(layouts, over=over, sliding_window_tokens=window)


BOTH: dict[str, Sequence[Expectation]] = {"static-first": SHARING, "question-first": PARTING}
REUSED, PARTED = block("static-first", [950, 950]), block("question-first", [20, 20])


@pytest.mark.parametrize("over", [False, True])
def test_a_document_that_is_reused_as_expected_is_its_own_control(over: bool) -> None:
    assert not doubt(REUSED, BOTH, over=over)
    assert not doubt(REUSED + PARTED, BOTH, over=over)


def test_reuse_that_falls_short_is_a_doubt_at_once() -> None:
    assert doubt(block("static-first", [0, 0]), BOTH)
    assert doubt(block("static-first", [950, 0]), BOTH)
    assert doubt(REUSED + PARTED + block("static-first", [0, 0], repeat=2), BOTH)


def test_prompts_that_part_are_a_doubt_only_where_nothing_was_reused_at_all() -> None:
    assert not doubt(PARTED, BOTH)
    assert doubt(PARTED, {"question-first": PARTING}, over=True)


def test_a_sliding_window_is_a_doubt_even_where_all_is_reused() -> None:
    assert doubt(REUSED, BOTH, window=512)


def test_without_a_follow_up_there_is_nothing_to_doubt() -> None:
    one = block("static-first", [950])[:2]
    assert not doubt(one, {"static-first": SHARING[:1]}, over=True, window=512)
    assert not doubt([], BOTH, over=True, window=512)


# ---------------------------------------------------------------- what a run then says

SHORT = block("static-first", [0, 0])


def codes(samples: Sequence[Sample], expected: dict[str, Sequence[Expectation]] = BOTH) -> list[str]:
    analysis = analyse(samples, list(expected), expected, sliding_window_tokens=512)
    return [caveat.code for caveat in analysis.caveats]


@pytest.mark.parametrize(
    ("shown", "code", "cause"),
    [
        ("works", "set-up-can-reuse", "threw the cache away"),
        ("hangs-on-tail", "reuse-hangs-on-tail", "sliding window"),
        ("partly", "reused-in-part", "only a part"),
        ("only-repeats", "only-repeats-reused", "recurrent"),
        ("nothing", "nothing-reused", "switched off"),
    ],
)
def test_the_set_up_is_told_and_is_the_cause(shown: Ability, code: str, cause: str) -> None:
    analysis = analyse(SHORT + SHOWN[shown], list(BOTH), BOTH, sliding_window_tokens=512)
    first, *rest = analysis.caveats
    assert first.code == code
    assert first.layout is None
    [wrong] = [caveat for caveat in rest if caveat.code == "reuse-not-as-expected"]
    assert cause in wrong.message
    # What is counted is known, whatever the cause.
    assert analysis.layouts[0].verdict is Verdict.NOT_REUSED
    assert "" not in [layout.name for layout in analysis.layouts]


def test_a_set_up_that_works_needs_no_word() -> None:
    assert "set-up-can-reuse" not in codes(REUSED + PARTED + WORKS)
    assert "set-up-can-reuse" in codes(PARTED + WORKS)


def test_a_window_is_told_even_where_all_was_reused() -> None:
    analysis = analyse(REUSED + SHOWN["hangs-on-tail"], list(BOTH), BOTH, sliding_window_tokens=512)
    assert [caveat.code for caveat in analysis.caveats] == ["reuse-hangs-on-tail"]
    assert "24 of 830" in analysis.caveats[0].message
    assert "512 tokens" in analysis.caveats[0].message
    assert analysis.layouts[0].verdict is Verdict.REUSED


def test_a_control_call_that_failed() -> None:
    failed = [control("long", 0), control("short", None, failure="it broke off")]
    analysis = analyse(SHORT + failed, list(BOTH), BOTH)
    assert analysis.caveats[0].code == "control-failed"
    assert "it broke off" in analysis.caveats[0].message


def timed(*prefill_ns: int) -> list[Sample]:
    """Blocks of an engine that does not count, with calibration calls that took as long as they do where all is reused."""
    calls = block("static-first", [None] * len(prefill_ns), prefill_ns=prefill_ns)
    last = len(prefill_ns) + 1
    calls.append(sample(Phase.WARM_REPEAT, last, prompt_tokens=1000, prefill_ns=40_000_000))
    for tokens, ms in ((605, 60), (645, 140), (725, 300), (995, 800)):
        calls.append(sample(Phase.CALIBRATION, last, prompt_tokens=tokens, prefill_ns=ms * 1_000_000))
    return calls


@pytest.mark.parametrize("shown", ["hangs-on-tail", "only-repeats"])
def test_calibration_is_not_believed_where_a_shared_start_need_not_be_reused(shown: Ability) -> None:
    """Then nothing says how long its calls read; the cold call and the identical one do."""
    samples = timed(SECOND, SECOND)
    trusted = analyse(samples + WORKS, ["static-first"], BOTH).layouts[0].reused_fraction
    doubted = analyse(samples + SHOWN[shown], ["static-first"], BOTH).layouts[0].reused_fraction
    assert None not in (trusted.low, trusted.high, doubted.low, doubted.high)
    assert (doubted.high or 0) - (doubted.low or 0) > (trusted.high or 0) - (trusted.low or 0)
    without_repeat = [s for s in samples if s.phase is not Phase.WARM_REPEAT]
    [layout] = analyse(without_repeat + SHOWN[shown], ["static-first"], BOTH).layouts
    assert layout.verdict is Verdict.CANNOT_TELL
    assert layout.reused_fraction.value is None


def test_where_nothing_is_reused_time_tells_nothing() -> None:
    calls = timed(2 * SECOND, 2 * SECOND)
    slow = [
        Sample(
            **{**fields(s), "reply": Reply("x", prompt_tokens=s.reply.prompt_tokens, prefill_ns=2 * SECOND)}
        )
        if s.phase in (Phase.WARM_REPEAT, Phase.CALIBRATION) and s.reply
        else s
        for s in calls
    ]
    analysis = analyse(slow + controls(0, 0, 0, 0, counts=False), ["static-first"], BOTH)
    assert analysis.layouts[0].verdict is Verdict.CANNOT_TELL
    assert analysis.caveats[0].code == "nothing-reused"
