"""Plans, and the order of calls that make one come true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from promptorder.errors import (
    EngineError,
    EngineUnreachableError,
    FailedReplyError,
    PromptorderError,
    PromptTooLongError,
)
from promptorder.layouts import built_in_layout
from promptorder.measure.calibration import TAIL_TOKENS
from promptorder.measure.plan import Block, Plan
from promptorder.measure.runner import BlockStarted, CallStarted, Event, Sampled, run
from promptorder.model.engine import Cold, EngineInfo, TokenCount
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Phase, Reply, Sample
from promptorder.model.source import Question, SourceText

START = datetime(2026, 11, 30, 14, 3, 27)


class FakeEngine:
    """Answers at once, notes what is asked of it, and fails when told to."""

    def __init__(
        self,
        log: list[str],
        *,
        counts: bool | None = True,
        failing: dict[int, PromptorderError] | None = None,
    ):
        self.log = log
        self.prompts: list[Prompt] = []
        self._counts = counts
        self._failing = failing or {}

    @property
    def info(self) -> EngineInfo:
        # An engine knows whether it counts when it has answered once
        return EngineInfo("fake", None, "none", counts_cached_tokens=self._counts if self.prompts else None)

    @property
    def cold(self) -> Cold:
        return "unload"

    def render(self, prompt: Prompt) -> str | None:
        return prompt.text

    def count_tokens(self, text: str) -> TokenCount:
        return TokenCount(len(text), True)

    def count_prompt(self, prompt: Prompt) -> TokenCount:
        return TokenCount(len(prompt.text), True)

    def use_context(self, tokens: int) -> None:
        self.log.append(f"context {tokens}")

    def start_block(self) -> Reply:
        self.log.append("cold")
        return Reply("", load_ns=5)

    def ask(self, prompt: Prompt, on_token: Callable[[], None] | None = None) -> Reply:
        self.prompts.append(prompt)
        self.log.append("ask")
        failure = self._failing.get(len(self.prompts))
        if failure is not None:
            raise failure
        return Reply(f"answer {len(self.prompts)}", cached_tokens=0 if self._counts else None)

    def restore(self) -> None:
        self.log.append("restore")

    def close(self) -> None:
        self.log.append("close")


def plan_of(*layouts: str, questions: int = 3, repeats: int = 1, cold: Cold = "unload") -> Plan:
    return Plan(
        document=SourceText("d.txt", "text", "a" * 64, "The document."),
        questions=tuple(Question(f"Question {number}?") for number in range(1, questions + 1)),
        layouts=tuple(built_in_layout(name) for name in layouts or ("static-first",)),
        rules="Rules.",
        repeats=repeats,
        cold=cold,
    )


def events_of(plan: Plan, engine: FakeEngine, *, skip: Sequence[tuple[str, int]] = ()) -> Iterator[Event]:
    clock = [START]

    def sleep(seconds: float) -> None:
        engine.log.append(f"sleep {seconds}")
        clock[0] += timedelta(seconds=seconds)

    return run(plan, engine, now=lambda: clock[0], sleep=sleep, skip=skip)


def samples_of(events: Sequence[Event]) -> list[Sample]:
    return [event.sample for event in events if isinstance(event, Sampled)]


def test_order_of_calls_and_events() -> None:
    engine = FakeEngine([])
    events = list(events_of(plan_of("static-first", "question-first", questions=2), engine))
    assert engine.log == ["cold", "ask", "ask"] * 2
    shapes = [
        (type(e).__name__, e.sample.phase if isinstance(e, Sampled) else getattr(e, "phase", None))
        for e in events
    ]
    assert (
        shapes
        == [
            ("BlockStarted", None),
            ("Sampled", Phase.LOAD),
            ("CallStarted", Phase.FIRST),
            ("Sampled", Phase.FIRST),
            ("CallStarted", Phase.FOLLOW_UP),
            ("Sampled", Phase.FOLLOW_UP),
        ]
        * 2
    )
    assert [event for event in events if isinstance(event, BlockStarted)] == [
        BlockStarted("static-first", 1, 1, 2),
        BlockStarted("question-first", 1, 2, 2),
    ]


def test_nothing_is_called_before_it_is_asked_for() -> None:
    engine = FakeEngine([])
    events = events_of(plan_of(), engine)
    assert isinstance(next(events), BlockStarted)
    assert engine.log == []
    next(events)
    assert engine.log == ["cold"]
    assert isinstance(next(events), CallStarted)
    assert engine.log == ["cold"]


def test_samples_say_what_they_are_of() -> None:
    engine = FakeEngine([])
    samples = samples_of(list(events_of(plan_of(questions=2, repeats=2), engine)))
    assert [(s.repeat, s.question) for s in samples] == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
    asked = [sample for sample in samples if sample.question]
    assert [sample.prompt_sha256 for sample in asked] == [prompt.sha256 for prompt in engine.prompts]
    assert all(sample.started_at.endswith("Z") for sample in samples)
    assert all((sample.reply is None) is not (sample.failure is None) for sample in samples)


@pytest.mark.parametrize("name", ["static-first", "question-first", "clock-rounded"])
def test_no_wait_without_a_ticking_clock(name: str) -> None:
    engine = FakeEngine([])
    list(events_of(plan_of(name), engine))
    assert engine.log == ["cold", "ask", "ask", "ask"]


@pytest.mark.parametrize("name", ["clock-first", "clock-last"])
def test_the_clock_ticks_before_each_follow_up(name: str) -> None:
    engine = FakeEngine([])
    list(events_of(plan_of(name), engine))
    assert engine.log == ["cold", "ask", "sleep 1.1", "ask", "sleep 1.1", "ask"]
    assert all(f"14:03:{second}" in p.text for p, second in zip(engine.prompts, (27, 28, 29), strict=True))


@pytest.mark.parametrize("counts", [False, None])
def test_warm_repeat_where_the_engine_does_not_count(counts: bool | None) -> None:
    engine = FakeEngine([], counts=counts)
    samples = samples_of(list(events_of(plan_of("clock-first", questions=2), engine)))
    assert samples[-1].phase is Phase.WARM_REPEAT
    assert samples[-1].question == 2
    assert engine.prompts[-1] == engine.prompts[-2], "unchanged, the clock too"
    assert engine.log == ["cold", "ask", "sleep 1.1", "ask", "ask"]


class TimingEngine(FakeEngine):
    """Counts whole prompts only, as most versions of Ollama do."""

    def ask(self, prompt: Prompt, on_token: Callable[[], None] | None = None) -> Reply:
        reply = super().ask(prompt, on_token)
        return replace(reply, prompt_tokens=len(prompt.text) // 4)


LONG = replace(
    plan_of(questions=2), document=SourceText("d.txt", "text", "a" * 64, "A long document. " * 500)
)


def test_calibration_follows_the_warm_repeat() -> None:
    engine = TimingEngine([], counts=False)
    samples = samples_of(list(events_of(LONG, engine)))
    phases = [sample.phase for sample in samples]
    assert phases[3:] == [Phase.WARM_REPEAT, *[Phase.CALIBRATION] * len(TAIL_TOKENS)]
    assert {sample.question for sample in samples[3:]} == {2}
    bare, *tails = (prompt.text for prompt in engine.prompts[3:])
    assert engine.prompts[2].text.startswith(bare)
    assert all(tail.startswith(bare) for tail in tails)
    assert [sample.prompt_sha256 for sample in samples[1:]] == [prompt.sha256 for prompt in engine.prompts]


def test_no_calibration_where_the_plan_has_none() -> None:
    samples = samples_of(list(events_of(replace(LONG, calibrate=False), TimingEngine([], counts=False))))
    assert samples[-1].phase is Phase.WARM_REPEAT


@pytest.mark.parametrize(("failing", "calls"), [(3, 3), (4, 4), (5, 7)])
@pytest.mark.parametrize("error", [FailedReplyError("it broke off"), PromptTooLongError("too long")])
def test_calibration_that_fails(failing: int, calls: int, error: PromptorderError) -> None:
    """Without the warm repeat or the bare start the rest would tell nothing; without one tail it does."""
    if failing == 3 and isinstance(error, PromptTooLongError):
        return  # it was not too long the first time
    engine = TimingEngine([], counts=False, failing={failing: error})
    samples = samples_of(list(events_of(LONG, engine)))
    assert len(engine.prompts) == calls
    assert samples[failing].failure == str(error)


def test_no_warm_repeat_where_the_plan_has_none() -> None:
    engine = FakeEngine([], counts=False)
    list(events_of(replace(plan_of(questions=2), warm_repeat=False), engine))
    assert engine.log == ["cold", "ask", "ask"]


def test_a_failed_reply_is_a_sample_and_the_block_goes_on() -> None:
    engine = FakeEngine([], failing={2: FailedReplyError("it broke off")})
    samples = samples_of(list(events_of(plan_of(), engine)))
    assert [sample.failure for sample in samples] == [None, None, "it broke off", None]
    assert samples[2].reply is None
    assert samples[2].prompt_sha256 == engine.prompts[1].sha256


@pytest.mark.parametrize("error", [EngineError("gone"), EngineUnreachableError("gone")])
def test_an_engine_that_is_gone_ends_the_run_after_what_it_gave(error: EngineError) -> None:
    engine = FakeEngine([], failing={3: error})
    events: list[Event] = []
    with pytest.raises(EngineError, match="gone"):
        events.extend(events_of(plan_of("static-first", "question-first"), engine))
    # extend() keeps what came before the error
    assert [sample.question for sample in samples_of(events)] == [0, 1, 2]
    assert engine.log == ["cold", "ask", "ask", "ask"]


def test_blocks_that_are_done_are_left_out() -> None:
    engine = FakeEngine([])
    plan = plan_of("static-first", "question-first", questions=2, repeats=2)
    events = list(events_of(plan, engine, skip=[("static-first", 1), ("question-first", 2)]))
    assert [event for event in events if isinstance(event, BlockStarted)] == [
        BlockStarted("question-first", 1, 1, 2),
        BlockStarted("static-first", 2, 2, 2),
    ]
    assert engine.log == ["cold", "ask", "ask"] * 2
    assert list(events_of(plan, engine, skip=[block.key for block in plan.blocks()])) == []


def test_a_nonce_is_the_same_in_a_block_and_another_in_the_next() -> None:
    engine = FakeEngine([], counts=False)
    plan = plan_of("static-first", "clock-first", questions=2, repeats=2, cold="nonce")
    list(events_of(plan, engine))
    first_lines = [prompt.text.split("\n")[0] for prompt in engine.prompts]
    blocks = [first_lines[start : start + 3] for start in range(0, len(first_lines), 3)]
    assert len(blocks) == 4
    assert all(len(set(lines)) == 1 for lines in blocks)
    assert len({lines[0] for lines in blocks}) == 4
    assert all(len(lines[0]) == 16 for lines in blocks)


def test_without_a_nonce_prompts_of_all_repeats_are_the_same() -> None:
    engine = FakeEngine([])
    list(events_of(plan_of(questions=1, repeats=2), engine))
    assert engine.prompts[0] == engine.prompts[1]


def test_another_run_has_other_nonces() -> None:
    prompts = []
    for _ in range(2):
        plan = plan_of(cold="nonce")
        prompts.append(plan.prompt(plan.blocks()[0], 1, START).text)
    assert prompts[0] != prompts[1]


def test_blocks_go_repeat_by_repeat() -> None:
    plan = plan_of("question-first", "static-first", repeats=2)
    assert [block.key for block in plan.blocks()] == [
        ("question-first", 1),
        ("static-first", 1),
        ("question-first", 2),
        ("static-first", 2),
    ]
    assert plan.calls == 4 * (3 + 1)
    assert replace(plan, warm_repeat=False).calls == 4 * 3


def test_a_sketch_is_the_block_to_come_with_a_clock_that_ticks() -> None:
    plan = plan_of("clock-first")
    prompts = plan.sketch(plan.layouts[0], START)
    assert [prompt.text.split("\n")[0] for prompt in prompts] == [
        "Current time: 2026-11-30 14:03:27",
        "Current time: 2026-11-30 14:03:28",
        "Current time: 2026-11-30 14:03:29",
    ]
    assert prompts[0] == plan.prompt(Block(plan.layouts[0], 1), 1, START)
    still = replace(plan, clock_gap_s=0.0)
    assert len({prompt.text for prompt in still.sketch(still.layouts[0], START)}) == 3


def test_fingerprint_changes_with_all_that_changes_a_sample() -> None:
    plan = plan_of()
    others = [
        replace(plan, document=replace(plan.document, sha256="b" * 64)),
        replace(plan, document=replace(plan.document, pages=((1, 2),))),
        replace(plan, questions=plan.questions[::-1]),
        replace(plan, layouts=(built_in_layout("clock-first"),)),
        replace(plan, layouts=(replace(plan.layouts[0], user="{document}{question}"),)),
        replace(plan, rules="Other rules."),
        replace(plan, repeats=2),
        replace(plan, clock_gap_s=2.0),
        replace(plan, cold="nonce"),
    ]
    prints = {each.fingerprint() for each in (plan, *others)}
    assert len(prints) == len(others) + 1
    assert plan_of().fingerprint() == plan.fingerprint()


def test_fingerprint_is_of_what_is_sent_alone() -> None:
    plan = plan_of()
    same = replace(plan, document=replace(plan.document, path="elsewhere/d.txt"), nonces={("a", 1): "f00d"})
    assert same.fingerprint() == plan.fingerprint()
