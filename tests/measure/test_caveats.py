"""What a reader is told about a run as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hand_made import counted, due, sample

from promptorder.measure.caveats import SHORT_PROMPT_TOKENS, run_caveats
from promptorder.model.comparison import UNKNOWN, Caveat, Estimate, LayoutResult, SampleResult, Verdict
from promptorder.model.engine import EngineInfo
from promptorder.model.sample import Phase

ENGINE = EngineInfo("ollama", "0.6.5", "smollm2:latest", duration_caveat="its time covers more")
EXACT = Estimate(0.95, 0.95, 0.95, "counted")
GUESS = Estimate(0.95, 0.9, 0.99, "inferred")


def layout(
    name: str = "static-first",
    *,
    reused: Estimate = EXACT,
    verdict: Verdict = Verdict.REUSED,
    samples: Sequence[SampleResult] | None = None,
) -> LayoutResult:
    if samples is None:
        samples = counted(name, [950], prompt=SHORT_PROMPT_TOKENS)
    return LayoutResult(name, verdict, reused, 950, 1, 1, (1, 1), 1, tuple(samples))


def told(
    *layouts: LayoutResult, cold: str = "unload", repeats: int = 3, engine: EngineInfo = ENGINE
) -> list[Caveat]:
    return run_caveats(engine, layouts or (layout(),), cold=cold, repeats=repeats)


def codes(caveats: list[Caveat]) -> list[str]:
    return [caveat.code for caveat in caveats]


def test_a_clean_run_has_none() -> None:
    assert told() == []


def test_one_repeat() -> None:
    assert codes(told(repeats=1)) == ["one-repeat"]


def test_nonce() -> None:
    assert codes(told(cold="nonce")) == ["nonce"]


def test_one_question() -> None:
    assert codes(told(layout(samples=counted("static-first", [])))) == ["no-follow-up"]


def test_inferred_shares_and_what_the_time_covers() -> None:
    caveats = told(layout(reused=GUESS))
    assert codes(caveats) == ["inferred", "duration-meaning"]
    assert "ollama 0.6.5" in caveats[0].message
    assert caveats[1].message == "its time covers more"
    assert codes(told(layout(reused=GUESS), engine=replace(ENGINE, duration_caveat=None))) == ["inferred"]
    unnamed = told(layout(reused=GUESS), engine=replace(ENGINE, version=None))
    assert "version unknown" in unnamed[0].message


def test_no_contrast_names_its_layouts() -> None:
    unknown = layout("clock-first", reused=UNKNOWN, verdict=Verdict.CANNOT_TELL)
    [caveat] = told(layout(), unknown)
    assert caveat.code == "no-contrast"
    assert "(clock-first)" in caveat.message


@pytest.mark.parametrize(
    ("figures", "missing"),
    [
        ({"prompt_tokens": 2000}, "how long reading took"),
        ({"prefill_ns": 10**9}, "how long the prompts were"),
    ],
)
def test_a_server_that_tells_too_little(figures: dict[str, Any], missing: str) -> None:
    calls = [sample(phase, n, **figures) for phase, n in ((Phase.FIRST, 1), (Phase.FOLLOW_UP, 2))]
    bare = layout(
        reused=UNKNOWN,
        verdict=Verdict.CANNOT_TELL,
        samples=[SampleResult(call, figures.get("prompt_tokens"), UNKNOWN, due()) for call in calls],
    )
    [caveat] = told(bare, engine=replace(ENGINE, duration_caveat=None))
    assert caveat.code == "no-figures"
    assert missing in caveat.message
    assert "(static-first)" in caveat.message


def test_other_models_that_came_meanwhile() -> None:
    [caveat] = run_caveats(
        ENGINE, [layout()], cold="unload", repeats=3, other_models=["a:latest", "b:latest"]
    )
    assert caveat.code == "other-models"
    assert "(a:latest, b:latest)" in caveat.message


@pytest.mark.parametrize("code", ["nothing-reused", "reuse-hangs-on-tail", "count-contradicts-time"])
def test_what_explains_the_missing_contrast_stands_alone(code: str) -> None:
    unknown = layout("clock-first", reused=UNKNOWN, verdict=Verdict.CANNOT_TELL)
    assert run_caveats(ENGINE, [layout(), unknown], cold="unload", repeats=3, told=[code]) == []
    others = run_caveats(ENGINE, [layout(), unknown], cold="unload", repeats=3, told=["machine-drift"])
    assert codes(others) == ["no-contrast"]


def test_a_void_layout_has_no_contrast_to_speak_of() -> None:
    assert told(layout(), layout("clock-first", reused=UNKNOWN, verdict=Verdict.VOID)) == []


@pytest.mark.parametrize(("tokens", "short"), [(SHORT_PROMPT_TOKENS - 1, True), (SHORT_PROMPT_TOKENS, False)])
def test_short_prompts(tokens: int, short: bool) -> None:
    caveats = told(layout(samples=counted("static-first", [90], prompt=tokens)))
    assert ("short-prompt" in codes(caveats)) is short


def test_unknown_lengths_are_not_short() -> None:
    call = sample(Phase.FOLLOW_UP, 2)
    assert told(layout(samples=[SampleResult(call, None, EXACT, due())])) == []


def test_answers_that_differ_between_layouts() -> None:
    one = layout(samples=counted("static-first", [950]))
    same = layout("b", samples=counted("b", [950], answer=" 42.\n"))
    other = layout("c", samples=counted("c", [950], answer="43."))
    assert told(one, same) == []
    [caveat] = told(one, other)
    assert caveat.code == "answers-differ"
    assert caveat.message.startswith("questions 1, 2:")


def test_one_question_whose_answers_differ() -> None:
    first, second = counted("b", [950], answer="42.")
    assert second.sample.reply is not None
    changed = replace(second, sample=replace(second.sample, reply=replace(second.sample.reply, answer="43.")))
    [caveat] = told(layout(), layout("b", samples=(first, changed)))
    assert caveat.message.startswith("question 2:")


def thinking(answer: str, thought: str | None) -> LayoutResult:
    calls = [
        sample(phase, n, answer=answer, thinking=thought)
        for phase, n in ((Phase.FIRST, 1), (Phase.FOLLOW_UP, 2))
    ]
    return layout(samples=[SampleResult(call, 2000, EXACT, due()) for call in calls])


@pytest.mark.parametrize(
    ("answer", "thought", "only"),
    [("", "Hm.", True), (" \n", "Hm.", True), ("42.", "Hm.", False), ("", None, False)],
)
def test_a_model_that_only_thought(answer: str, thought: str | None, only: bool) -> None:
    assert ("thinking-only" in codes(told(thinking(answer, thought)))) is only


def test_failed_replies_are_no_answers() -> None:
    failed = SampleResult(sample(Phase.FOLLOW_UP, 2, layout="b", failure="x"), None, UNKNOWN, None)
    assert told(layout(), layout("b", samples=[failed])) == []


def test_the_gravest_comes_first() -> None:
    caveats = told(layout(samples=counted("static-first", [], prompt=100)), cold="nonce", repeats=1)
    assert codes(caveats) == ["no-follow-up", "short-prompt", "nonce", "one-repeat"]
