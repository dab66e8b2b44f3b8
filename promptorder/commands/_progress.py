"""What a person sees while a comparison runs, and before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptorder.console import Progress, duration
from promptorder.measure.control_texts import FROM_DOCUMENT
from promptorder.measure.controls import Ability, ability, calls_of
from promptorder.measure.eta import TimeLeft, tokens_to_read
from promptorder.measure.runner import BlockStarted, CallStarted, Sampled
from promptorder.model.report import Column, Paragraph, Report, Table
from promptorder.model.sample import Phase, Sample
from promptorder.reports._words import seconds

if TYPE_CHECKING:
    from promptorder.api import Comparing

# Prefill speeds seen in the field: SmolLM2 on two CPU cores to a 27B model on a GPU.
_SLOW_TOKENS_PER_S, _FAST_TOKENS_PER_S = 200, 3000

_CALLS = {
    Phase.WARM_REPEAT: "warm repeat",
    Phase.CALIBRATION: "calibration",
    Phase.CONTROL: "control call",
    Phase.CHECK: "asking again, cold",
}


_SHOWN: dict[Ability, str] = {
    "works": "a shared start is reused",
    "hangs-on-tail": "a shared start is reused, but not behind a prompt with a long end",
    "partly": "a part of a shared start is reused",
    "only-repeats": "only an identical prompt is reused",
    "nothing": "nothing is reused",
    "cannot-tell": "they do not tell",
}


def watch(comparing: Comparing, display: Progress) -> None:
    """Run the comparison and tell ``display`` about it."""
    plan = comparing.plan
    left = TimeLeft(plan, comparing.expected)
    total = len(plan.layouts) * plan.repeats * len(plan.questions)
    done = 0
    controls: list[Sample] = []
    name_width = max(len(layout.name) for layout in plan.layouts)
    display.line(
        f"{len(plan.layouts)} layouts x {len(plan.questions)} questions x {plan.repeats} on {comparing.engine.info.model}, "
        f"context {comparing.engine.info.context_tokens or 0:,}"
    )
    for event in comparing.events():
        match event:
            case BlockStarted(layout=layout):
                done = done or comparing.kept_questions
                text = f"{layout}: loading the model"
                display.step(text, done=done, total=total, left_s=left.seconds(), part=True)
            case CallStarted(layout=layout, question=question, phase=phase):
                what = _CALLS.get(phase, f"question {question}")
                text = f"{layout}: {what}" if layout else what
                display.step(text, done=done, total=total, left_s=left.seconds())
                if phase is Phase.CONTROL and question == 1:
                    display.line("control calls: what can this server and model reuse at all?")
            case Sampled(sample=sample):
                left.saw(sample)
                if sample.phase in (Phase.FIRST, Phase.FOLLOW_UP):
                    done += 1
                    display.line(_line(sample, done, total, name_width))
                elif sample.phase is Phase.CONTROL:
                    controls.append(sample)
                    if sample.failure is not None or len(controls) == FROM_DOCUMENT:
                        display.line(f"control calls: {_SHOWN[ability(calls_of(controls))]}")
                elif sample.phase is Phase.CHECK:
                    display.line(f"{' ' * (2 * len(str(total)) + 3)} {_checked(sample, name_width)}")


def _line(sample: Sample, done: int, total: int, name_width: int) -> str:
    where = f"[{done:>{len(str(total))}}/{total}] {sample.layout:<{name_width}}  question {sample.question}"
    if sample.repeat > 1:
        where += f", repeat {sample.repeat}"
    reply = sample.reply
    if reply is None:
        return f"{where}  failed: {sample.failure}"
    text = f"{where}  prefill {seconds(reply.prefill_ns):>5} s"
    if reply.cached_tokens is not None and reply.prompt_tokens:
        return f"{text}  {reply.cached_tokens:>6,} of {reply.prompt_tokens:,} reused"
    if reply.read_tokens is not None:
        return f"{text}  {reply.read_tokens:>6,} tokens read"
    return text


def _checked(sample: Sample, name_width: int) -> str:
    """What asking again came to."""
    start = f"{sample.layout:<{name_width}}  question {sample.question} again, cold: "
    if sample.check is None:
        return f"{start}failed: {sample.failure}"
    return start + ("another answer" if sample.check.difference else "the same answer")


def dry_run_report(comparing: Comparing) -> Report:
    """What would be sent, and about how long it would take."""
    plan, info = comparing.plan, comparing.engine.info
    rows = []
    for layout in plan.layouts:
        due = comparing.expected[layout.name]
        shared = [each.shared_tokens for each in due[1:]]
        rows.append(
            (
                layout.name,
                f"{max(each.prompt_tokens for each in due):,}",
                f"{min(shared):,}" if shared else "-",
                layout.summary,
            )
        )
    exact = all(each.exact for due in comparing.expected.values() for each in due)
    to_read = tokens_to_read(plan, comparing.expected)
    questions = len(plan.layouts) * plan.repeats * len(plan.questions)
    again = sum(plan.checks(block.repeat) for block in plan.blocks())
    more = f" {again} more ask again cold, to check the answers." if again else ""
    columns = (Column("Layout"), Column("Tokens", "right"), Column("Shared", "right"), Column("Order"))
    return Report(
        (
            Paragraph(
                f"Nothing was measured. {questions} questions would go to {info.model} ({info.name}), "
                f"context {info.context_tokens or 0:,}.{more}"
            ),
            Table(columns, tuple(rows)),
            Paragraph(
                "Tokens: the longest prompt. Shared: what each follow-up has in common with an earlier prompt, and need "
                "not read again."
            ),
            Paragraph(
                f"In all {'' if exact else 'about '}{to_read:,} tokens are to be read. That is about "
                f"{duration(to_read / _SLOW_TOKENS_PER_S)} at {_SLOW_TOKENS_PER_S} tokens/s (a small model on a CPU) and "
                f"{duration(to_read / _FAST_TOKENS_PER_S)} at {_FAST_TOKENS_PER_S:,} (a GPU); the answers come on top."
            ),
        )
    )
