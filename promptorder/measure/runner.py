"""Make the calls of a plan and yield what happens; nothing here prints or writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from promptorder.errors import FailedReplyError, PromptTooLongError
from promptorder.measure.calibration import calibration_prompts
from promptorder.measure.plan import Block, Plan
from promptorder.model.engine import Engine
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Phase, Reply, Sample


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block begins: the model is made cold and loaded next. ``number`` of ``total`` counts from 1."""

    layout: str
    repeat: int
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A measured call begins."""

    layout: str
    repeat: int
    question: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Sampled:
    """A call has ended, well or not."""

    sample: Sample


Event = BlockStarted | CallStarted | Sampled


def run(
    plan: Plan,
    engine: Engine,
    *,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
    skip: Collection[tuple[str, int]] = (),
) -> Iterator[Event]:
    """Measure block after block, leaving out those in ``skip``.

    A reply that is not whole becomes a sample with a failure, and the block goes on. Raises EngineError
    where the engine is gone: what was yielded before is all there is.
    """
    blocks = [block for block in plan.blocks() if block.key not in skip]
    for number, block in enumerate(blocks, start=1):
        yield BlockStarted(*block.key, number, len(blocks))
        started = datetime.now(UTC)
        loaded = engine.start_block()
        yield Sampled(_sample(block, 0, Phase.LOAD, "", started, reply=loaded))
        yield from _questions(plan, block, engine, now, sleep)


def _questions(
    plan: Plan,
    block: Block,
    engine: Engine,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
) -> Iterator[Event]:
    prompt: Prompt | None = None
    for question in range(1, len(plan.questions) + 1):
        if question > 1 and block.layout.ticks:
            sleep(plan.clock_gap_s)
        prompt = plan.prompt(block, question, now())
        yield from _call(block, question, Phase.FIRST if question == 1 else Phase.FOLLOW_UP, prompt, engine)
    # Where the engine counts what it reused, nothing need be calibrated.
    if plan.warm_repeat and prompt is not None and not engine.info.counts_cached_tokens:
        yield from _calibration(plan, block, prompt, engine)


def _calibration(plan: Plan, block: Block, last: Prompt, engine: Engine) -> Iterator[Event]:
    """The last prompt once more, and then with other ends: calls whose reuse is known."""
    question = len(plan.questions)
    warm = yield from _call(block, question, Phase.WARM_REPEAT, last, engine)
    if warm is None or warm.prompt_tokens is None or not plan.calibrate:
        return
    bare, *tails = calibration_prompts(last, warm.prompt_tokens, plan.document.text, block.key)
    if (yield from _call(block, question, Phase.CALIBRATION, bare, engine)) is None:
        return  # the others' reuse would not be known
    for prompt in tails:
        yield from _call(block, question, Phase.CALIBRATION, prompt, engine)


def _call(
    block: Block, question: int, phase: Phase, prompt: Prompt, engine: Engine
) -> Generator[Event, None, Reply | None]:
    yield CallStarted(*block.key, question, phase)
    started = datetime.now(UTC)
    reply: Reply | None = None
    failure: str | None = None
    try:
        reply = engine.ask(prompt)
    except FailedReplyError as error:
        failure = str(error)
    except PromptTooLongError as error:
        if phase is not Phase.CALIBRATION:
            raise
        failure = str(error)
    yield Sampled(_sample(block, question, phase, prompt.sha256, started, reply=reply, failure=failure))
    return reply


def _sample(
    block: Block,
    question: int,
    phase: Phase,
    sha256: str,
    started: datetime,
    *,
    reply: Reply | None = None,
    failure: str | None = None,
) -> Sample:
    return Sample(
        layout=block.layout.name,
        repeat=block.repeat,
        question=question,
        phase=phase,
        prompt_sha256=sha256,
        started_at=started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        reply=reply,
        failure=failure,
    )
