"""Why reuse is not what the prompts share: the likely cause, by what the run shows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptorder.measure.controls import Ability
from promptorder.measure.faults import place
from promptorder.model.comparison import Caveat, SampleResult
from promptorder.model.sample import Phase

_OF_THE_SET_UP: dict[Ability, str] = {
    "hangs-on-tail": "the model forgets a prompt's start when its end is long (sliding window)",
    "partly": "this server or model keeps only a part of what it read",
    "only-repeats": "the model cannot resume in the middle of a prompt (recurrent, hybrid)",
    "nothing": "the cache is switched off, or a proxy or several servers stand in between",
}


def disagreements(
    name: str, results: Sequence[SampleResult], wrong: Sequence[SampleResult], ability: Ability | None
) -> Iterator[Caveat]:
    """Caveats about ``wrong``, those of a layout's ``results`` whose reuse is not what their prompts share.

    ``ability`` is what the control calls showed, None where none were made.
    """
    passing = [] if ability in _OF_THE_SET_UP else _passing(results, wrong)
    if passing:
        yield Caveat(
            "second-client",
            f"{len(passing)} of {_followups(results)} follow-ups reused less than the others, whose prompts "
            "share as much: most likely another client's request came in between, or memory was short for a moment. "
            "Repeat it when nobody else uses the server.",
            name,
            tuple(place(r.sample) for r in passing),
        )
    rest = [r for r in wrong if r not in passing]
    if rest:
        worst = max(rest, key=lambda r: abs((r.reused_tokens.value or 0) - _due(r)))
        reused, due = worst.reused_tokens.value or 0, _due(worst)
        yield Caveat(
            "reuse-not-as-expected",
            f"the prompts share {due:,} tokens but about {reused:,.0f} were reused. Likely: "
            f"{_cause(worst, rest, ability)}.",
            name,
            tuple(place(r.sample) for r in rest),
        )


def _cause(worst: SampleResult, wrong: Sequence[SampleResult], ability: Ability | None) -> str:
    reused, due = worst.reused_tokens.value or 0, _due(worst)
    if reused > due:
        if worst.reused_tokens.method == "inferred":
            return "the machine became faster between calls. Repeat it on a quiet machine (--repeats 3)"
        return "the cache was not cold: another client sent the same start, or a proxy answers"
    if ability in _OF_THE_SET_UP:
        return _OF_THE_SET_UP[ability]
    if worst.reused_tokens.method == "inferred":
        return (
            "the machine's speed changed between calls, or another client used the server. Repeat it on a "
            "quiet machine (--repeats 3)"
        )
    if _part_at_one_place(wrong):
        return (
            "something in front of the document changes with each request, without our doing: a chat template that "
            "writes the time, or a proxy that adds a line"
        )
    many = "the server threw the cache away (another client in between, several slots, too little memory)"
    if ability == "works":
        return many
    return f"{many}, or the model cannot resume in the middle of a prompt (sliding window, recurrent)"


def _passing(results: Sequence[SampleResult], wrong: Sequence[SampleResult]) -> list[SampleResult]:
    """Counted shortfalls of a layout whose other follow-ups reuse what they should."""
    short = [
        r
        for r in wrong
        if r.sample.phase is Phase.FOLLOW_UP
        and r.reused_tokens.method in ("counted", "logged")
        and (r.reused_tokens.value or 0) < _due(r)
    ]
    fine = [
        r
        for r in results
        if r.sample.phase is Phase.FOLLOW_UP and r not in wrong and r.reused_tokens.value and _due(r)
    ]
    return short if len(short) <= len(fine) else []


def _part_at_one_place(wrong: Sequence[SampleResult]) -> bool:
    """Whether several prompts part at the same token, in front of the document: then it is no accident."""
    values = [r.reused_tokens.value or 0 for r in wrong]
    before = [r.expected.before_document_tokens for r in wrong if r.expected is not None]
    if len(values) < 2 or not values[0] or any(each is None for each in before):
        return False
    return max(values) - min(values) <= 2 and max(values) <= min(each or 0 for each in before)


def _followups(results: Sequence[SampleResult]) -> int:
    return sum(r.sample.phase is Phase.FOLLOW_UP for r in results)


def _due(result: SampleResult) -> int:
    return result.expected.shared_tokens if result.expected else 0
