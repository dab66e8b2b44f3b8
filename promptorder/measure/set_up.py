"""What a server and model can show at all, and when control calls are needed to know it. Pure.

Control calls cost the reading of some 2,000 tokens. They are made only where the layouts' own samples leave a doubt:
right after the first block that reuses less than its prompts share, so that the reader of the screen learns early why;
at the end of a run in which no layout was reused, as nothing else shows that one could have been; and after the first
block of a model with a sliding window, where reuse may hang on lengths that the questions of this run do not have. A
document that is reused as its prompts allow needs no other proof: then the run is its own control, on an engine
that counts as well as on one whose cold and warm times lie apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from statistics import median

from promptorder.measure.control_texts import Text, document_texts
from promptorder.measure.controls import Ability, ability, figures, find
from promptorder.measure.plan import Plan
from promptorder.model.comparison import Caveat, Expectation, LayoutResult, SampleResult, Verdict
from promptorder.model.doctor import Call
from promptorder.model.sample import Phase

_ROOM = 0.9
"""A part of a document may have more tokens a character than the whole."""
DOCUMENT_SHARED = 0.5
"""A layout is expected to reuse the document where its prompts share at least this part of it."""
UNSURE_CURVE: tuple[Ability, ...] = ("hangs-on-tail", "partly", "only-repeats", "nothing")
"""With these, calibration calls need not have reused what they share, so their curve tells nothing."""


def in_doubt(layouts: Sequence[LayoutResult], *, over: bool, sliding_window_tokens: int | None) -> bool:
    """Whether control calls are needed, by the figures of what was measured so far; ``over`` is at the end."""
    asked = [layout for layout in layouts if _answered(layout)]
    if any(_falls_short(layout) for layout in asked):
        return True
    if asked and sliding_window_tokens is not None:
        return True
    return over and bool(asked) and not any(layout.verdict is Verdict.REUSED for layout in asked)


def control_texts(
    plan: Plan, expected: Mapping[str, Sequence[Expectation]], sliding_window_tokens: int | None, nonce: str
) -> list[Text]:
    """The texts of the control calls: of the plan's document, and shorter than the longest prompt, so they have room."""
    longest = max(plan.layouts, key=lambda layout: expected[layout.name][0].prompt_tokens)
    characters = len(plan.sketch(longest, datetime.min)[0].text)
    return document_texts(
        plan.document.text,
        room_characters=round(_ROOM * characters),
        characters_per_token=characters / expected[longest.name][0].prompt_tokens,
        sliding_window_tokens=sliding_window_tokens,
        nonce=nonce,
    )


def set_up_caveats(
    calls: Sequence[Call], layouts: Sequence[LayoutResult], sliding_window_tokens: int | None
) -> Iterator[Caveat]:
    """What the control calls say of the server and model, if that is anything new."""
    if not calls:
        return
    failed = next((call for call in calls if call.failure is not None), None)
    if failed is not None and find(calls, "other-tail") is None:
        yield Caveat(
            "control-failed", f"a control call failed, so nothing is known of this set-up: {failed.failure}"
        )
        return
    behind_short, behind_long = figures(calls, "other-tail"), figures(calls, "short")
    match ability(calls):
        case "hangs-on-tail":
            window = (
                f"it has a sliding window of {sliding_window_tokens:,} tokens"
                if sliding_window_tokens
                else ("a sliding window is like this")
            )
            yield Caveat(
                "reuse-hangs-on-tail",
                f"control calls: behind a prompt with a long end the same start is read anew ({behind_long}), behind a "
                f"short one it is not ({behind_short}): {window}. So what is reused hangs on the length of the question "
                "before and its answer, whatever the layout. LLAMA_ARG_SWA_FULL=1 ollama serve keeps whole prompts "
                "(from Ollama 0.30, takes more memory).",
            )
        case "only-repeats":
            yield Caveat(
                "only-repeats-reused",
                f"control calls: an identical prompt is reused ({figures(calls, 'repeat')}), the same start with "
                f"another end is not ({behind_short}). Recurrent and hybrid models are like this: no order of the prompt "
                "helps here, and this run cannot compare layouts. Take another model.",
            )
        case "nothing":
            yield Caveat(
                "nothing-reused",
                f"control calls: nothing is reused, not even of an identical prompt ({figures(calls, 'repeat')}): the "
                "cache is switched off, or a proxy or several servers stand in between. Until that is mended, this run "
                "cannot compare layouts. See: promptorder doctor",
            )
        case "partly":
            yield Caveat(
                "reused-in-part",
                f"control calls: only a part of a shared start is reused ({behind_long}; then {behind_short}), so on this "
                "set-up a layout can show no more",
            )
        case "cannot-tell":
            yield Caveat(
                "controls-do-not-tell",
                f"control calls: their times do not tell whether a shared start is reused at all ({behind_short}): "
                "reading is too quick here, or the machine is busy. Take a longer document, or an engine that counts.",
            )
        case "works":
            reused = any(layout.verdict is Verdict.REUSED for layout in layouts)
            if not reused or any(_falls_short(layout) for layout in layouts):
                yield Caveat(
                    "set-up-can-reuse",
                    f"control calls: this server and model do reuse a shared start ({behind_short}). Where "
                    "a layout shows less, its prompts, a disturbance or times that do not tell are the reason.",
                )


def _falls_short(layout: LayoutResult) -> bool:
    """Whether the prompts share the document, and it was not found to be reused."""
    if layout.verdict not in (Verdict.NOT_REUSED, Verdict.CANNOT_TELL) or not _answered(layout):
        return False
    shares = [share for result in layout.samples if (share := _shared_of_document(result)) is not None]
    return bool(shares) and median(shares) >= DOCUMENT_SHARED


def _answered(layout: LayoutResult) -> bool:
    return any(r.sample.phase is Phase.FOLLOW_UP and r.sample.reply is not None for r in layout.samples)


def _shared_of_document(result: SampleResult) -> float | None:
    due = result.expected
    if result.sample.phase is not Phase.FOLLOW_UP or due is None:
        return None
    if due.before_document_tokens is None or not due.document_tokens:
        return due.shared_tokens / max(1, due.prompt_tokens)
    return (due.shared_tokens - due.before_document_tokens) / due.document_tokens
