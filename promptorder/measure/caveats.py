"""What a reader must know about a run as a whole. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from promptorder.model.comparison import Caveat, LayoutResult, Verdict
from promptorder.model.engine import EngineInfo
from promptorder.model.sample import Phase

SHORT_PROMPT_TOKENS = 1000
"""Below about this length a call's fixed cost hides what reuse saves."""
_EXPLAINING = {
    "reuse-hangs-on-tail",
    "only-repeats-reused",
    "nothing-reused",
    "reused-in-part",
    "controls-do-not-tell",
    "count-contradicts-time",
}
"""Caveats that say already why time tells nothing."""


def run_caveats(
    engine: EngineInfo,
    layouts: Sequence[LayoutResult],
    *,
    cold: str,
    repeats: int,
    other_models: Sequence[str] = (),
    told: Collection[str] = (),
) -> list[Caveat]:
    """The caveats of a run, the gravest first.

    ``other_models`` came into the engine's memory while it was measured; ``told`` are codes of the caveats that
    stand already, which leave nothing to say of times without a contrast.
    """
    return [
        *_nothing_to_compare(layouts),
        *_durations(engine, layouts, told),
        *_others(other_models),
        *_short(layouts),
        *_cold(cold),
        *_answers(layouts),
        *_cut_answers(layouts),
        *_once(repeats),
    ]


def _nothing_to_compare(layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    if not any(s.sample.phase is Phase.FOLLOW_UP for layout in layouts for s in layout.samples):
        yield Caveat(
            "no-follow-up",
            "there was one question only, so nothing could be reused: give at least two questions",
        )


def _others(names: Sequence[str]) -> Iterator[Caveat]:
    if names:
        yield Caveat(
            "other-models",
            f"other models were loaded meanwhile ({', '.join(names)}): somebody else uses the server, which slows "
            "it and may push models out of its memory. Repeat it when it is quiet.",
        )


def _durations(
    engine: EngineInfo, layouts: Sequence[LayoutResult], told: Collection[str]
) -> Iterator[Caveat]:
    methods = {layout.reused_fraction.method for layout in layouts}
    if "inferred" in methods:
        yield Caveat(
            "inferred",
            f"{engine.name} {engine.version or '(version unknown)'} does not say how much it reused: the "
            "share is inferred from the prefill time, calibrated on this model, and bounded by what the prompts "
            "share. Read the band, not the figure.",
        )
    replies = [s.sample.reply for each in layouts for s in each.samples if s.sample.reply is not None]
    timed = any(reply.prefill_ns for reply in replies)
    sized = any(reply.prompt_tokens for reply in replies)
    if engine.duration_caveat and ("inferred" in methods or ("unknown" in methods and not timed)):
        yield Caveat("duration-meaning", engine.duration_caveat)
    unknown = [
        layout.name
        for layout in layouts
        if layout.reused_fraction.method == "unknown" and layout.verdict is Verdict.CANNOT_TELL
    ]
    if not unknown or len(layouts[0].samples) < 2:
        return
    if not timed or not sized:
        missing = "how long the prompts were" if timed else "how long reading took"
        yield Caveat(
            "no-figures",
            f"the server tells neither how much it reused nor {missing}, so nothing can be told of reuse "
            f"({', '.join(unknown)}). See: promptorder doctor",
        )
    elif not _EXPLAINING.intersection(told):
        yield Caveat(
            "no-contrast",
            f"a warm repeat was not plainly faster than a cold call ({', '.join(unknown)}): on this set-up "
            "time does not tell whether the cache was used. Take a longer document, or an engine that counts.",
        )


def _short(layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    lengths = [s.prompt_tokens for layout in layouts for s in layout.samples if s.prompt_tokens]
    if lengths and max(lengths) < SHORT_PROMPT_TOKENS:
        yield Caveat(
            "short-prompt",
            f"the prompts have at most {max(lengths):,} tokens: the fixed cost of a call hides what reuse "
            "saves. Shares hold; for speed take a longer document.",
        )


def _cold(cold: str) -> Iterator[Caveat]:
    if cold == "nonce":
        yield Caveat(
            "nonce",
            "each layout starts with a random line of its own instead of an unloaded model: a few tokens of "
            "the chat template in front of it may have been cached already",
        )


def _answers(layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    answers: dict[int, set[str]] = {}
    for layout in layouts:
        for sample in layout.samples:
            if sample.sample.reply is not None:
                answers.setdefault(sample.sample.question, set()).add(sample.sample.reply.answer.strip())
    differ = [question for question, texts in sorted(answers.items()) if len(texts) > 1]
    if differ:
        which = ", ".join(str(question) for question in differ)
        yield Caveat(
            "answers-differ",
            f"question{'s' if len(differ) > 1 else ''} {which}: the answer is not the same in all "
            "layouts. Another order is another prompt, and reuse changes rounding a little: read the answers before you "
            "choose by speed alone.",
        )


def _cut_answers(layouts: Sequence[LayoutResult]) -> Iterator[Caveat]:
    replies = [s.sample.reply for layout in layouts for s in layout.samples if s.sample.reply]
    if replies and all(reply.thinking and not reply.answer.strip() for reply in replies):
        yield Caveat(
            "thinking-only",
            "the model used all its tokens for thinking and gave no answer: raise --num-predict; "
            "the prefill figures hold",
        )


def _once(repeats: int) -> Iterator[Caveat]:
    if repeats == 1:
        yield Caveat(
            "one-repeat",
            "each layout was measured once: shares that the engine counts are exact, times vary by 10 % "
            "and more. --repeats 3 shows the spread.",
        )
