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
from promptorder.measure.calibration import ROUNDS, TAIL_TOKENS
from promptorder.measure.control_texts import FROM_DOCUMENT, Text, document_texts
from promptorder.measure.plan import Block, Plan
from promptorder.measure.runner import BlockStarted, CallStarted, Event, Sampled, run
from promptorder.model.engine import Cold, EngineInfo, TokenCount
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Phase, Reply, Sample
from promptorder.model.source import Question, SourceText

START = datetime(2026, 11, 30, 14, 3, 27)
CALIBRATION_CALLS = 1 + ROUNDS * (len(TAIL_TOKENS) - 1)


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
        self.most_tokens: list[int | None] = []
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

    def ask(
        self, prompt: Prompt, on_token: Callable[[], None] | None = None, *, most_tokens: int | None = None
    ) -> Reply:
        self.prompts.append(prompt)
        self.log.append("ask")
        self.most_tokens.append(most_tokens)
        failure = self._failing.get(len(self.prompts))
        if failure is not None:
            raise failure
        return Reply(f"answer {len(self.prompts)}", cached_tokens=0 if self._counts else None)

    def others(self) -> tuple[str, ...]:
        return ()

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

    def ask(
        self, prompt: Prompt, on_token: Callable[[], None] | None = None, *, most_tokens: int | None = None
    ) -> Reply:
        reply = super().ask(prompt, on_token, most_tokens=most_tokens)
        return replace(reply, prompt_tokens=len(prompt.text) // 4, prefill_ns=1000)


LONG = replace(
    plan_of(questions=2), document=SourceText("d.txt", "text", "a" * 64, "A long document. " * 500)
)


def test_calibration_follows_the_warm_repeat() -> None:
    engine = TimingEngine([], counts=False)
    samples = samples_of(list(events_of(LONG, engine)))
    phases = [sample.phase for sample in samples]
    assert phases[3:] == [Phase.WARM_REPEAT, *[Phase.CALIBRATION] * CALIBRATION_CALLS]
    assert {sample.question for sample in samples[3:]} == {2}
    bare, *tails = (prompt.text for prompt in engine.prompts[3:])
    assert engine.prompts[2].text.startswith(bare)
    assert all(tail.startswith(bare) for tail in tails)
    assert [sample.prompt_sha256 for sample in samples[1:]] == [prompt.sha256 for prompt in engine.prompts]


def test_calibration_ends_as_soon_as_enough_is_known() -> None:
    engine = TimingEngine([], counts=False)
    asked: list[tuple[str, int]] = []

    def enough(block: tuple[str, int]) -> bool:
        asked.append(block)
        return len(asked) == 3

    samples = samples_of(list(run(LONG, engine, now=lambda: START, sleep=lambda _: None, enough=enough)))
    assert [s.phase for s in samples[3:]] == [Phase.WARM_REPEAT, Phase.CALIBRATION, Phase.CALIBRATION]
    assert asked == [("static-first", 1)] * 3
    assert engine.most_tokens == [None, None, 1, 1, 1], "only their reading is wanted"


def test_no_calibration_where_the_plan_has_none() -> None:
    samples = samples_of(list(events_of(replace(LONG, calibrate=False), TimingEngine([], counts=False))))
    assert samples[-1].phase is Phase.WARM_REPEAT


@pytest.mark.parametrize(("failing", "calls"), [(3, 3), (4, 4), (5, 3 + CALIBRATION_CALLS)])
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


NAMES = ("question-first", "static-first", "clock-first")


def test_a_single_repeat_keeps_the_order_that_was_given() -> None:
    plan = plan_of(*NAMES)
    assert plan.order() == [list(NAMES)]
    assert [block.key for block in plan.blocks()] == [(name, 1) for name in NAMES]


def test_repeats_shuffle_the_layouts_by_the_seed() -> None:
    plan = plan_of(*NAMES, repeats=12)
    order = plan.order()
    assert [sorted(names) for names in order] == [sorted(NAMES)] * 12
    assert {names[0] for names in order} == set(NAMES), "no layout always comes first"
    assert plan.order() == order
    assert replace(plan, seed=8).order() != order
    assert [block.key for block in plan.blocks()] == [
        (name, repeat) for repeat, names in enumerate(order, start=1) for name in names
    ]


# ---------------------------------------------------------------- control calls

TEXTS = document_texts(
    "A long document. " * 500,
    room_characters=8000,
    characters_per_token=4.0,
    sliding_window_tokens=None,
    nonce="f00d",
)


def controlled(plan: Plan, engine: FakeEngine, *, at: int) -> list[Event]:
    """Run with control calls when they are asked for the ``at``-th time."""
    asked: list[bool] = []

    def controls(over: bool) -> Sequence[Text]:
        asked.append(over)
        return TEXTS if len(asked) == at else ()

    events = list(run(plan, engine, now=lambda: START, sleep=lambda s: None, controls=controls))
    assert asked == [False] * len(plan.blocks()) + [True]
    return events


@pytest.mark.parametrize(("at", "before"), [(1, 3), (2, 6), (3, 6)])
def test_control_calls_belong_to_no_layout(at: int, before: int) -> None:
    engine = FakeEngine([])
    samples = samples_of(controlled(plan_of("static-first", "question-first"), engine, at=at))
    control = [sample for sample in samples if sample.phase is Phase.CONTROL]
    assert [(s.layout, s.repeat, s.question) for s in control] == [("", 1, n) for n in (1, 2, 3, 4)]
    assert [s.control.kind for s in control if s.control] == ["long", "short", "other-tail", "repeat"]
    assert [s.control is None for s in samples] == [s.phase is not Phase.CONTROL for s in samples]
    assert engine.most_tokens[before : before + 4] == [1] * 4
    assert engine.log.count("cold") == 2, "they need no loading"
    texts = [prompt.text for prompt in engine.prompts[before : before + 4]]
    assert texts == [text.text for text in TEXTS]
    assert [s.control.characters for s in control if s.control] == [len(text) for text in texts]


@pytest.mark.parametrize("error", [FailedReplyError("it broke off"), PromptTooLongError("too long")])
def test_a_control_call_that_fails_is_the_last(error: PromptorderError) -> None:
    engine = FakeEngine([], failing={5: error})
    samples = samples_of(controlled(plan_of("static-first", "question-first"), engine, at=1))
    control = [sample for sample in samples if sample.phase is Phase.CONTROL]
    assert [sample.failure for sample in control] == [None, str(error)]
    assert [s.question for s in samples if s.layout == "question-first"] == [0, 1, 2, 3]


def test_control_texts_share_what_they_say() -> None:
    assert len(TEXTS) == FROM_DOCUMENT
    long, short, other, repeat = TEXTS
    assert long.shared_characters == 0
    for text in (short, other):
        start = text.text[: text.shared_characters]
        assert any(each.text.startswith(start) for each in (long, short))
        assert text.shared_characters > 0.9 * len(text.text)
    assert short.text[short.shared_characters] != long.text[short.shared_characters]
    assert repeat.text == other.text
    assert repeat.shared_characters == len(repeat.text)
    assert max(TEXTS, key=lambda text: len(text.text)) is long, "the longest end comes first"


@pytest.mark.parametrize("room", [300, 2000, 50_000])
@pytest.mark.parametrize("window", [None, 512, 4096])
def test_control_texts_have_room(room: int, window: int | None) -> None:
    texts = document_texts(
        "Some words of a document. " * 4000,
        room_characters=room,
        characters_per_token=4.0,
        sliding_window_tokens=window,
        nonce="f00d",
    )
    assert all(len(text.text) <= room + 2 for text in texts)
    long, short = texts[:2]
    if room == 50_000:  # the end is longer than the window and a batch, and no more is read than that takes
        assert len(long.text) - short.shared_characters >= 4 * ((window or 0) + 512)
        assert len(long.text) < 4 * ((window or 0) + 2000)


# ---------------------------------------------------------------- answers asked again


def test_the_last_follow_up_is_asked_again_cold() -> None:
    engine = FakeEngine([])
    plan = replace(plan_of("static-first", "clock-first", repeats=2), check_answers=True)
    samples = samples_of(list(events_of(plan, engine)))
    checks = [sample for sample in samples if sample.phase is Phase.CHECK]
    assert {(s.layout, s.repeat, s.question) for s in checks} == {
        ("static-first", 1, 3),
        ("clock-first", 1, 3),
    }
    for check in checks:
        asked = [s for s in samples if s.block == check.block and s.question == 3]
        assert len({sample.prompt_sha256 for sample in asked}) == 1, "the clock too"
        assert check.check is not None
        assert check.check.difference is not None, "this engine numbers its answers"
        assert check.check.difference.character == len("answer ")
    assert engine.log.count("cold") == 4 + 2


def test_with_a_nonce_another_one_makes_it_cold() -> None:
    engine = FakeEngine([])
    list(events_of(replace(plan_of(cold="nonce"), check_answers=True), engine))
    warm, cold = (prompt.text.partition("\n") for prompt in engine.prompts[-2:])
    assert warm[0] != cold[0]
    assert warm[2] == cold[2]


def test_one_question_is_not_asked_again() -> None:
    engine = FakeEngine([])
    list(events_of(replace(plan_of(questions=1), check_answers=True), engine))
    assert engine.log == ["cold", "ask"]


def test_a_broken_reply_is_not_compared() -> None:
    engine = FakeEngine([], failing={3: FailedReplyError("it broke off")})
    samples = samples_of(list(events_of(replace(plan_of(), check_answers=True), engine)))
    assert Phase.CHECK not in [sample.phase for sample in samples]
    engine = FakeEngine([], failing={4: FailedReplyError("it broke off")})
    samples = samples_of(list(events_of(replace(plan_of(), check_answers=True), engine)))
    assert samples[-1].failure == "it broke off"
    assert samples[-1].check is None


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
        replace(plan, check_answers=True),
    ]
    prints = {each.fingerprint() for each in (plan, *others)}
    assert len(prints) == len(others) + 1
    assert plan_of().fingerprint() == plan.fingerprint()


def test_fingerprint_is_of_what_is_sent_alone() -> None:
    plan = plan_of()
    same = replace(plan, document=replace(plan.document, path="elsewhere/d.txt"), nonces={("a", 1): "f00d"})
    assert same.fingerprint() == plan.fingerprint()
