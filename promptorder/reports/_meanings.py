"""What the figures of each layout mean: whether the document was reused, what is still lost, where the prompts part."""

from __future__ import annotations

from promptorder.model.comparison import LayoutResult, Verdict
from promptorder.model.run import Run
from promptorder.model.sample import Phase
from promptorder.reports._figures import LayoutFigures, Position, figures
from promptorder.reports._words import count, percent, ratio, seconds


def meanings(run: Run) -> tuple[str, ...]:
    """A sentence or two on each layout."""
    return tuple(f"{_meaning(each.layout)}{_lost(each)}" for each in figures(run.comparison))


def parting(position: Position) -> str:
    """Where the prompts of a layout part, in words."""
    about = "" if position.exact else "about "
    shared, before, document = position.shared, position.before, position.document
    told = f"after {about}{shared:,} of {position.prompt:,} tokens"
    if before is None or not document:
        return f"The prompts part {told}."
    # Counting the shared text and the text before the document may differ by a token where they join.
    if shared < before - 1:
        return f"The prompts part {told}, before the document begins: nothing of it can be reused."
    if shared <= before + 1:
        return f"The prompts part {told}, where the document begins: nothing of it can be reused."
    if shared < before + document - 1:
        return f"The prompts part {told}, {percent((shared - before) / document)} into the document."
    return f"The prompts part {told}, behind the document: all of it can be reused."


def _meaning(layout: LayoutResult) -> str:
    reused = percent(layout.reused_fraction.value)
    first, later = seconds(layout.first_prefill_ns), seconds(layout.follow_up_prefill_ns)
    about = "about " if layout.reused_fraction.method == "inferred" else ""
    spread = _spread(layout)
    match layout.verdict:
        case Verdict.REUSED:
            return (
                f"{layout.name}: the document was read once. Each follow-up reused {about}{reused} of its prompt "
                f"and was ready to answer after {later} s{spread} instead of {first} s."
            )
        case Verdict.NOT_REUSED:
            tokens = _prompt_tokens(layout)
            whole = f"all of its {tokens:,} tokens" if tokens else "the whole prompt"
            return (
                f"{layout.name}: the document was read again for every question. Each follow-up reused {about}"
                f"{reused}, so it read nearly {whole} again: {later} s{spread}."
            )
        case Verdict.VOID:
            return f"{layout.name}: no follow-up was measured cleanly, so there is nothing to say."
        case _:
            followups = any(s.sample.phase is Phase.FOLLOW_UP for s in layout.samples)
            if not followups:
                return f"{layout.name}: one question alone shows no reuse; the prefill took {first} s."
            return (
                f"{layout.name}: it cannot be told whether the document was reused; a follow-up's prefill took "
                f"{later} s, the first one {first} s."
            )


def _spread(layout: LayoutResult) -> str:
    """The least and most of a follow-up's times, where repeats tell more than the questions' lengths."""
    ends, repeats = layout.follow_up_prefill_spread_ns, {s.sample.repeat for s in layout.samples}
    if ends is None or len(repeats) < 2:
        return ""
    return f" ({seconds(ends[0])} to {seconds(ends[1])})"


def _lost(mine: LayoutFigures) -> str:
    """How far a reusing layout is from what its tokens allow; where the prompts of another one part."""
    if mine.layout.verdict is Verdict.NOT_REUSED and mine.position is not None:
        return f" {parting(mine.position)}"
    if mine.layout.verdict is not Verdict.REUSED or not mine.possible or not mine.new_tokens:
        return ""
    about = "about " if mine.layout.reused_fraction.method == "inferred" else ""
    text = (
        f" It read {about}{count(mine.new_tokens, 'new token')} of {mine.prompt_tokens:,}: by tokens alone it could be "
        f"{about}{ratio(mine.possible)} as fast, and was {ratio(mine.speed_up)}."
    )
    if not mine.floor_ns:
        return text
    later, floor = seconds(mine.layout.follow_up_prefill_ns), seconds(mine.floor_ns)
    guess = "about " if mine.floor_method == "estimated" else ""
    return (
        f"{text} Still lost: of its {later} s, {guess}{floor} s is the floor of a call, whatever is reused."
    )


def _prompt_tokens(layout: LayoutResult) -> int | None:
    known = [s.prompt_tokens for s in layout.samples if s.prompt_tokens]
    return max(known) if known else None
