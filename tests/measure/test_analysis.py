"""From hand-made samples to figures, verdicts and caveats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hand_made import due, sample

from promptorder.measure.analysis import Analysis, analyse
from promptorder.model.comparison import UNKNOWN, Estimate, Expectation, LayoutResult, Verdict
from promptorder.model.sample import Phase, Sample

NAME = "static-first"
SECOND = 1_000_000_000
DUE = (due(), due(shared=950), due(shared=950))


def load(ns: int = 3 * SECOND, **where: Any) -> Sample:
    return sample(Phase.LOAD, 0, answer="", load_ns=ns, **where)


def first(**fields: Any) -> Sample:
    fields = {"prompt_tokens": 1000, "prefill_ns": 2 * SECOND, "total_ns": 3 * SECOND, "load_ns": 0, **fields}
    return sample(Phase.FIRST, 1, **fields)


def follow_up(question: int = 2, **fields: Any) -> Sample:
    fields = {"prompt_tokens": 1000, "prefill_ns": SECOND // 10, "total_ns": SECOND, "load_ns": 0, **fields}
    return sample(Phase.FOLLOW_UP, question, **fields)


def warm(question: int = 2, **fields: Any) -> Sample:
    return sample(Phase.WARM_REPEAT, question, prompt_tokens=1000, **{"prefill_ns": SECOND // 20, **fields})


def counting(
    cached: Sequence[int], *, layout: str = NAME, repeat: int = 1, total_ns: int = SECOND
) -> list[Sample]:
    """A block of an engine that counts, one follow-up for each of ``cached``."""
    where: dict[str, Any] = {"layout": layout, "repeat": repeat}
    calls = [load(**where), first(cached_tokens=0, **where)]
    for question, tokens in enumerate(cached, start=2):
        ns = SECOND // 10 if tokens >= 500 else 2 * SECOND * (1000 - tokens) // 1000
        calls.append(follow_up(question, cached_tokens=tokens, prefill_ns=ns, total_ns=total_ns, **where))
    return calls


def analysed(
    samples: Sequence[Sample], expected: Sequence[Expectation] = DUE
) -> tuple[LayoutResult, Analysis]:
    analysis = analyse(samples, [NAME], {NAME: expected})
    return analysis.layouts[0], analysis


def codes(analysis: Analysis) -> list[str]:
    return [caveat.code for caveat in analysis.caveats]


def test_counted() -> None:
    result, analysis = analysed(counting([940, 950]))
    assert result.verdict is Verdict.REUSED
    assert result.reused_fraction == Estimate(0.945, 0.94, 0.95, "counted")
    assert result.expected_reused_tokens == 950
    assert result.first_prefill_ns == 2 * SECOND
    assert result.follow_up_prefill_ns == SECOND // 10
    assert result.follow_up_prefill_spread_ns == (SECOND // 10, SECOND // 10)
    assert result.follow_up_total_ns == SECOND
    assert [each.sample.question for each in result.samples] == [1, 2, 3]
    assert result.samples[0].reused_tokens == Estimate(0, 0, 0, "counted")
    assert analysis.caveats == ()


def test_a_count_is_exact_where_all_agree() -> None:
    result, _ = analysed(counting([950, 950]))
    assert result.reused_fraction == Estimate(0.95, 0.95, 0.95, "counted")


def test_figures_are_medians_over_repeats() -> None:
    samples = []
    for repeat, ns in enumerate((1, 2, 9), start=1):
        samples += [
            first(repeat=repeat, cached_tokens=0, prefill_ns=ns * SECOND),
            follow_up(repeat=repeat, cached_tokens=950, prefill_ns=ns, total_ns=10 * ns, load_ns=ns),
        ]
    result, _ = analysed(samples)
    assert result.first_prefill_ns == 2 * SECOND
    assert result.follow_up_prefill_ns == 2
    assert result.follow_up_prefill_spread_ns == (1, 9)
    assert result.follow_up_total_ns == 18, "without loading"


def test_an_engine_that_counts_what_it_read() -> None:
    """What was reused is what the whole prompt has beyond it; the whole was counted beforehand."""
    samples = [
        load(),
        first(prompt_tokens=None, read_tokens=1001),
        follow_up(2, prompt_tokens=None, read_tokens=50),
        follow_up(3, prompt_tokens=None, read_tokens=60),
    ]
    result, analysis = analysed(samples)
    assert [each.prompt_tokens for each in result.samples] == [1001, 1000, 1000]
    assert [each.reused_tokens.value for each in result.samples] == [0, 950, 940]
    assert result.reused_fraction == Estimate(0.945, 0.94, 0.95, "counted")
    assert result.verdict is Verdict.REUSED
    assert not analysis.caveats


def test_a_count_of_what_was_read_tells_nothing_where_the_whole_is_not_known() -> None:
    samples = [first(prompt_tokens=None, read_tokens=1000), follow_up(prompt_tokens=None, read_tokens=50)]
    result, _ = analysed(samples, ())
    assert result.samples[1].reused_tokens == UNKNOWN
    assert result.samples[1].prompt_tokens is None
    assert result.verdict is Verdict.CANNOT_TELL
    assert result.reused_fraction == UNKNOWN


def test_more_read_than_counted_is_no_reuse() -> None:
    again = follow_up(prompt_tokens=None, read_tokens=1003, prefill_ns=2 * SECOND)
    samples = [first(prompt_tokens=None, read_tokens=1000), again]
    result, _ = analysed(samples, (due(), due()))
    assert result.samples[1].reused_tokens.value == 0


@pytest.mark.parametrize(
    ("prefill_ns", "shared", "verdict"),
    [(SECOND // 8, 950, Verdict.REUSED), (2 * SECOND, 30, Verdict.NOT_REUSED)],
)
def test_inferred(prefill_ns: int, shared: int, verdict: Verdict) -> None:
    samples = [load(), first(), follow_up(2, prefill_ns=prefill_ns), warm(2)]
    result, analysis = analysed(samples, (due(), due(shared=shared)))
    assert result.verdict is verdict
    assert result.reused_fraction.method == "inferred"
    assert result.samples[0].reused_tokens == UNKNOWN, "the cold call is the anchor"
    assert len(result.samples) == 2, "a warm repeat is no sample of the layout"
    assert not analysis.caveats


def calibration(ms: float, tokens: int, **where: Any) -> Sample:
    return sample(Phase.CALIBRATION, 2, prompt_tokens=tokens, prefill_ns=round(ms * 1e6), **where)


TAILS = [calibration(60, 605), calibration(140, 645), calibration(300, 725), calibration(800, 995)]


def test_inferred_from_calibration() -> None:
    """The middle of a prompt, where two anchors leave a wide band."""
    samples = [load(), first(), follow_up(2, prefill_ns=SECOND), warm(2)]
    old, _ = analysed(samples, (due(), due(shared=500)))
    result, analysis = analysed([*samples, *TAILS], (due(), due(shared=500)))
    assert len(result.samples) == 2, "calibration calls are no samples of the layout"
    new = result.reused_fraction
    assert new.method == "inferred"
    assert new.low is not None
    assert old.reused_fraction.low is not None
    assert new.low > old.reused_fraction.low
    assert not analysis.caveats


def test_calibration_that_fails_leaves_the_anchors() -> None:
    samples = [load(), first(), follow_up(2, prefill_ns=SECOND), warm(2)]
    failed = sample(Phase.CALIBRATION, 2, failure="x")
    old, _ = analysed(samples, (due(), due(shared=500)))
    result, analysis = analysed([*samples, failed], (due(), due(shared=500)))
    assert result.reused_fraction == old.reused_fraction
    assert result.verdict is old.verdict
    assert codes(analysis) == ["failed-reply"]


def test_each_block_has_its_own_anchors() -> None:
    def block(repeat: int, speed: int) -> list[Sample]:
        return [
            first(repeat=repeat, prefill_ns=speed * 2 * SECOND),
            follow_up(2, repeat=repeat, prefill_ns=speed * SECOND // 8),
            warm(2, repeat=repeat, prefill_ns=speed * SECOND // 20),
        ]

    result, analysis = analysed(block(1, 1) + block(2, 16), (due(), due(shared=950)))
    assert result.samples[1].reused_tokens == result.samples[3].reused_tokens
    assert codes(analysis) == ["machine-drift"]


@pytest.mark.parametrize(
    "samples",
    [
        [first(), follow_up()],
        [first(), follow_up(), sample(Phase.WARM_REPEAT, 2, failure="broke off")],
        [first(prefill_ns=None), follow_up(), warm()],
        [first(), follow_up(prefill_ns=None), warm()],
        [first(), follow_up(prompt_tokens=None), warm()],
        [first(), follow_up(), warm(prefill_ns=2 * SECOND)],
    ],
)
def test_without_anchors_or_time_nothing_can_be_told(samples: list[Sample]) -> None:
    result, _ = analysed(samples, (due(), due(shared=950)))
    assert result.reused_fraction == UNKNOWN
    assert result.verdict is Verdict.CANNOT_TELL


def test_a_time_against_the_prompts_is_told() -> None:
    samples = [first(), follow_up(prefill_ns=2 * SECOND), warm()]
    _, analysis = analysed(samples, (due(), due(shared=950)))
    [caveat] = analysis.caveats
    assert caveat.code == "reuse-not-as-expected"
    assert "speed changed" in caveat.message
    assert caveat.samples == ((1, 2),)


def test_one_question_alone() -> None:
    result, analysis = analysed([load(), first(cached_tokens=0)], (due(),))
    assert result.verdict is Verdict.CANNOT_TELL
    assert result.first_prefill_ns == 2 * SECOND
    assert result.follow_up_prefill_ns is None
    assert result.expected_reused_tokens is None
    assert analysis.fastest is None


def test_a_layout_without_samples_or_expectations() -> None:
    analysis = analyse([], [NAME, "other"], {})
    assert [layout.name for layout in analysis.layouts] == [NAME, "other"]
    assert all(layout.verdict is Verdict.CANNOT_TELL for layout in analysis.layouts)


def test_a_failed_follow_up_is_left_out() -> None:
    samples = [
        first(cached_tokens=0),
        sample(Phase.FOLLOW_UP, 2, failure="it broke off"),
        follow_up(3, cached_tokens=950),
    ]
    result, analysis = analysed(samples)
    assert result.verdict is Verdict.REUSED
    assert result.reused_fraction.value == 0.95
    [caveat] = analysis.caveats
    assert (caveat.code, caveat.layout, caveat.samples) == ("failed-reply", NAME, ((1, 2),))
    assert "1 reply was" in caveat.message
    assert "it broke off" in caveat.message


def test_all_follow_ups_failed_is_void() -> None:
    result, analysis = analysed([first(cached_tokens=0), sample(Phase.FOLLOW_UP, 2, failure="x")])
    assert result.verdict is Verdict.VOID
    assert result.first_prefill_ns == 2 * SECOND
    assert result.follow_up_prefill_ns is None
    assert codes(analysis) == ["failed-reply"]


def test_a_failed_first_call_voids_its_block_alone() -> None:
    bad = [sample(Phase.FIRST, 1, failure="x"), follow_up(2, cached_tokens=0)]
    result, _ = analysed(bad)
    assert result.verdict is Verdict.VOID
    result, _ = analysed(bad + counting([950], repeat=2))
    assert result.verdict is Verdict.REUSED
    assert result.reused_fraction == Estimate(0.95, 0.95, 0.95, "counted")


def test_a_failed_warm_repeat_leaves_the_last_follow_up_alone() -> None:
    samples = [
        first(prompt_tokens=None, read_tokens=1000),
        follow_up(2, prompt_tokens=None, read_tokens=50),
        sample(Phase.WARM_REPEAT, 2, failure="x"),
    ]
    result, analysis = analysed(samples)
    assert result.verdict is Verdict.REUSED
    assert codes(analysis) == ["failed-reply"]


def test_a_reloaded_model_is_left_out() -> None:
    samples = [
        load(3 * SECOND),
        first(cached_tokens=0),
        follow_up(2, cached_tokens=0, load_ns=2 * SECOND, prefill_ns=9 * SECOND),
        follow_up(3, cached_tokens=950),
    ]
    result, analysis = analysed(samples)
    assert result.verdict is Verdict.REUSED
    assert result.follow_up_prefill_ns == SECOND // 10
    [caveat] = [caveat for caveat in analysis.caveats if caveat.code == "model-reloaded"]
    assert caveat.samples == ((1, 2),)


@pytest.mark.parametrize(
    ("loading", "again", "reloaded"),
    [
        (3 * SECOND, 150_000_000, False),  # the scheduler's time
        (3 * SECOND, 1_000_000_000, False),
        (3 * SECOND, 1_000_000_001, True),  # from the system's memory it is quicker than from the disk
        (SECOND, 500_000_000, False),
        (SECOND, 500_000_001, True),
        (100_000_000, 200_000_000, False),
        (100_000_000, 200_000_001, True),
    ],
)
def test_what_counts_as_loading_again(loading: int, again: int, reloaded: bool) -> None:
    lost = follow_up(cached_tokens=0, load_ns=again, prefill_ns=2 * SECOND)
    _, analysis = analysed([load(loading), first(cached_tokens=0), lost])
    assert ("model-reloaded" in codes(analysis)) is reloaded
    # What was reused was there: the call waited for its turn.
    kept = follow_up(cached_tokens=950, load_ns=again)
    result, analysis = analysed([load(loading), first(cached_tokens=0), kept])
    assert codes(analysis) == (["busy-server"] if reloaded else [])
    assert result.verdict is Verdict.REUSED


def test_without_a_known_loading_time_nothing_is_called_reloaded() -> None:
    _, analysis = analysed([first(cached_tokens=0), follow_up(cached_tokens=950, load_ns=9 * SECOND)])
    assert not analysis.caveats


@pytest.mark.parametrize(
    ("tokens", "exact", "cut"),
    [(949, True, True), (950, True, False), (599, False, True), (600, False, False)],
)
def test_a_prompt_that_the_server_cut(tokens: int, exact: bool, cut: bool) -> None:
    expected = [Expectation(1000, shared, 50, 900, exact=exact) for shared in (0, 950)]
    samples = [first(cached_tokens=0), follow_up(prompt_tokens=tokens, cached_tokens=0)]
    result, analysis = analysed(samples, expected)
    assert ("prompt-cut" in codes(analysis)) is cut
    assert (result.verdict is Verdict.VOID) is cut


# The document stands on tokens 50 to 950: half of it is 500 reused, a tenth 140
@pytest.mark.parametrize(
    ("cached", "verdict"),
    [
        (0, Verdict.NOT_REUSED),
        (50, Verdict.NOT_REUSED),
        (140, Verdict.NOT_REUSED),
        (141, Verdict.CANNOT_TELL),
        (499, Verdict.CANNOT_TELL),
        (500, Verdict.REUSED),
        (999, Verdict.REUSED),
    ],
)
def test_verdict_is_about_the_documents_tokens(cached: int, verdict: Verdict) -> None:
    result, _ = analysed(counting([cached]), (due(), due(shared=cached)))
    assert result.verdict is verdict


@pytest.mark.parametrize(
    ("cached", "verdict"),
    [
        ([500, 900], Verdict.REUSED),
        ([499, 900], Verdict.CANNOT_TELL),  # the low end decides
        ([0, 140], Verdict.NOT_REUSED),
        ([0, 141], Verdict.CANNOT_TELL),  # the high end decides
    ],
)
def test_verdict_takes_the_ends_of_the_band(cached: list[int], verdict: Verdict) -> None:
    result, _ = analysed(counting(cached))
    assert result.verdict is verdict


def test_long_rules_alone_are_not_a_reused_document() -> None:
    expected = [due(before=900, document=50), due(shared=900, before=900, document=50)]
    result, _ = analysed(counting([900]), expected)
    assert result.reused_fraction.value == 0.9
    assert result.verdict is Verdict.NOT_REUSED


def test_without_an_expectation_the_prompt_decides() -> None:
    result, _ = analysed(counting([500]), ())
    assert result.verdict is Verdict.REUSED


@pytest.mark.parametrize(
    ("cached", "shared", "words"),
    [(0, 950, "threw the cache away"), (950, 20, "not cold"), (899, 950, "threw the cache away")],
)
def test_counts_that_contradict_the_prompts(cached: int, shared: int, words: str) -> None:
    _, analysis = analysed(counting([cached]), (due(), due(shared=shared)))
    [caveat] = analysis.caveats
    assert caveat.code == "reuse-not-as-expected"
    assert words in caveat.message
    assert f"share {shared}" in caveat.message
    assert caveat.samples == ((1, 2),)


@pytest.mark.parametrize("cached", [900, 950, 982])
def test_a_few_tokens_are_no_contradiction(cached: int) -> None:
    _, analysis = analysed(counting([cached]))
    assert not analysis.caveats


def test_a_warm_first_call_is_told() -> None:
    samples = [first(cached_tokens=950), follow_up(cached_tokens=950)]
    _, analysis = analysed(samples)
    [caveat] = analysis.caveats
    assert "not cold" in caveat.message
    assert caveat.samples == ((1, 1),)


def two_layouts(one: list[Sample], other: list[Sample]) -> str | None:
    return analyse(one + other, ["a", "b"], {}).fastest


def test_fastest_is_the_plainly_lowest_total() -> None:
    slow = counting([0, 0], layout="a", total_ns=2 * SECOND)
    quick = counting([950, 950], layout="b")
    assert two_layouts(slow, quick) == "b"
    assert two_layouts(counting([950, 950], layout="a"), quick) is None
    assert two_layouts([], quick) is None


def test_fastest_leaves_out_what_does_not_count() -> None:
    """A follow-up that waited for a reload had nothing to reuse: its time says nothing of the layout."""
    reloaded = counting([950, 950], layout="a")
    reloaded.append(follow_up(4, layout="a", cached_tokens=0, load_ns=3 * SECOND, total_ns=30 * SECOND))
    assert two_layouts(reloaded, counting([0, 0], layout="b", total_ns=2 * SECOND)) == "a"


def test_a_void_layout_is_not_the_fastest() -> None:
    void = [
        sample(Phase.FIRST, 1, layout="a", failure="x"),
        follow_up(layout="a", cached_tokens=0, total_ns=1),
    ]
    assert two_layouts(void, counting([950], layout="b")) is None
