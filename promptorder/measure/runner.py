"""Make the calls of a plan and yield what happens; nothing here prints or writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from promptorder.errors import FailedReplyError, PromptTooLongError
from promptorder.measure.answers import first_difference
from promptorder.measure.calibration import calibration_prompts
from promptorder.measure.control_texts import Text
from promptorder.measure.curve import BlockKey
from promptorder.measure.plan import Block, Plan
from promptorder.model.engine import Engine
from promptorder.model.prompt import Message, Prompt
from promptorder.model.sample import Check, Control, Phase, Reply, Sample


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block begins: the model is made cold and loaded next. ``number`` of ``total`` counts from 1."""

    layout: str
    repeat: int
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A measured call begins. A control call has no layout, and its number as the question."""

    layout: str
    repeat: int
    question: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Sampled:
    """A call has ended, well or not."""

    sample: Sample


Event = BlockStarted | CallStarted | Sampled
Controls = Callable[[bool], Sequence[Text]]
"""Asked after each block, and with True at the end: what control calls are to be made now, mostly none."""
Enough = Callable[[BlockKey], bool]
"""Asked after each call of known reuse: whether the block needs no more of them."""


def run(
    plan: Plan,
    engine: Engine,
    *,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
    skip: Collection[tuple[str, int]] = (),
    controls: Controls = lambda over: (),
    enough: Enough = lambda block: False,
) -> Iterator[Event]:
    """Measure block after block, leaving out those in ``skip``, and make the control calls when they are due.

    A reply that is not whole becomes a sample with a failure, and the block goes on. Raises EngineError
    where the engine is gone: what was yielded before is all there is.
    """
    blocks = [block for block in plan.blocks() if block.key not in skip]
    for number, block in enumerate(blocks, start=1):
        yield BlockStarted(*block.key, number, len(blocks))
        started = datetime.now(UTC)
        loaded = engine.start_block()
        yield Sampled(_sample(block, 0, Phase.LOAD, "", started, reply=loaded))
        yield from _questions(plan, block, engine, now, sleep, enough)
        yield from _controls(controls(False), engine)
    yield from _controls(controls(True), engine)


def _questions(
    plan: Plan,
    block: Block,
    engine: Engine,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
    enough: Enough,
) -> Iterator[Event]:
    prompt: Prompt | None = None
    reply: Reply | None = None
    at = now()
    for question in range(1, len(plan.questions) + 1):
        if question > 1 and block.layout.ticks:
            sleep(plan.clock_gap_s)
        at = now()
        prompt = plan.prompt(block, question, at)
        phase = Phase.FIRST if question == 1 else Phase.FOLLOW_UP
        reply = yield from _call(block, question, phase, prompt, engine)
    # Where the engine counts what it reused, nothing need be calibrated.
    if plan.warm_repeat and prompt is not None and not engine.info.counts_cached_tokens:
        yield from _calibration(plan, block, prompt, engine, enough)
    if plan.checks(block.repeat) and reply is not None:
        # Of repeat 0: with the nonce, another one, as nothing else makes the same prompt cold.
        again = plan.prompt(replace(block, repeat=0), len(plan.questions), at)
        yield from _check(block, len(plan.questions), again, reply, engine)


def _calibration(plan: Plan, block: Block, last: Prompt, engine: Engine, enough: Enough) -> Iterator[Event]:
    """The last prompt once more, and then with other ends: calls whose reuse is known, as many as are needed."""
    question = len(plan.questions)
    warm = yield from _call(block, question, Phase.WARM_REPEAT, last, engine)
    if warm is None or warm.prompt_tokens is None or warm.prefill_ns is None or not plan.calibrate:
        return
    prompts = calibration_prompts(last, warm.prompt_tokens, plan.document.text, block.key)
    for number, prompt in enumerate(prompts):
        if enough(block.key):
            return
        reply = yield from _call(block, question, Phase.CALIBRATION, prompt, engine)
        if reply is None and number == 0:
            return  # the others' reuse would not be known


def _check(block: Block, question: int, prompt: Prompt, warm: Reply, engine: Engine) -> Iterator[Event]:
    """A prompt again, cold, and where its answer parts from the first one."""
    yield CallStarted(*block.key, question, Phase.CHECK)
    engine.start_block()
    started = datetime.now(UTC)
    cold, failure = _ask(engine, prompt)
    check = Check(first_difference(warm, cold)) if cold is not None else None
    told = _sample(block, question, Phase.CHECK, prompt.sha256, started, reply=cold, failure=failure)
    yield Sampled(replace(told, check=check))


def _controls(texts: Sequence[Text], engine: Engine) -> Iterator[Event]:
    """One start with different ends, a token of answer each. The first that fails is the last.

    They begin with a nonce of their own, so no loading is needed: what the server has read before is not theirs.
    """
    for number, each in enumerate(texts, start=1):
        yield CallStarted("", 1, number, Phase.CONTROL)
        started = datetime.now(UTC)
        prompt = Prompt((Message("user", each.text),), document_start=(0, 0), document_characters=0)
        reply, failure = _ask(engine, prompt, most_tokens=1, may_be_too_long=True)
        yield Sampled(
            Sample(
                layout="",
                repeat=1,
                question=number,
                phase=Phase.CONTROL,
                prompt_sha256=prompt.sha256,
                started_at=_iso(started),
                reply=reply,
                failure=failure,
                control=Control(each.kind, len(each.text), each.shared_characters),
            )
        )
        if reply is None:
            return


def _call(
    block: Block, question: int, phase: Phase, prompt: Prompt, engine: Engine
) -> Generator[Event, None, Reply | None]:
    yield CallStarted(*block.key, question, phase)
    started = datetime.now(UTC)
    known = phase in (Phase.WARM_REPEAT, Phase.CALIBRATION)
    reply, failure = _ask(
        engine,
        prompt,
        most_tokens=1 if known else None,  # its reading is all that is wanted
        may_be_too_long=phase is Phase.CALIBRATION,
    )
    yield Sampled(_sample(block, question, phase, prompt.sha256, started, reply=reply, failure=failure))
    return reply


def _ask(
    engine: Engine, prompt: Prompt, *, most_tokens: int | None = None, may_be_too_long: bool = False
) -> tuple[Reply | None, str | None]:
    """The reply, or why it did not come whole."""
    try:
        return engine.ask(prompt, most_tokens=most_tokens), None
    except FailedReplyError as error:
        return None, str(error)
    except PromptTooLongError as error:
        if not may_be_too_long:
            raise
        return None, str(error)


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
        started_at=_iso(started),
        reply=reply,
        failure=failure,
    )


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
