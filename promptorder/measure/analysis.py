"""From the samples of a run to figures, verdicts and caveats. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from promptorder.measure.calibration import curve_of, seconds
from promptorder.measure.causes import disagreements
from promptorder.measure.controls import Ability, ability, calls_of
from promptorder.measure.curve import Curve
from promptorder.measure.disturbances import contradiction, contradicts_time, disturbances
from promptorder.measure.faults import Place, faults, place
from promptorder.measure.inference import Anchors, infer_from_curve, infer_reused
from promptorder.measure.logged import Logged, reuse_in, with_counts
from promptorder.measure.reading import reused_beside
from promptorder.measure.set_up import UNSURE_CURVE, set_up_caveats
from promptorder.measure.statistics import clearly_lowest, median_estimate, median_whole, spread
from promptorder.model.comparison import (
    UNKNOWN,
    Caveat,
    Estimate,
    Expectation,
    LayoutResult,
    SampleResult,
    Verdict,
)
from promptorder.model.sample import Phase, Sample

REUSED_FROM = 0.5
"""A document counts as reused when the low end of the band covers at least this share of its tokens."""
NOT_REUSED_TO = 0.1
"""It counts as not reused when the high end covers at most this share."""
Expected = Mapping[str, Sequence[Expectation]]


class Analysis(NamedTuple):
    """What a run came to."""

    layouts: tuple[LayoutResult, ...]
    fastest: str | None
    caveats: tuple[Caveat, ...]


def analyse(
    samples: Sequence[Sample],
    layouts: Sequence[str],
    expected: Expected,
    *,
    sliding_window_tokens: int | None = None,
    logged: Logged | None = None,
    earlier: Sequence[Sample] = (),
) -> Analysis:
    """Figures of each layout from all samples of a run, in the layouts' order.

    ``expected`` holds, for each layout, one expectation a question, in order; it may lack a layout. ``logged`` is what
    the server's log says of some of the calls: it stands in where the server does not count what it reused. ``earlier``
    are calls of known reuse of an earlier run, which calibrate this one too.
    """
    logged = logged or {}
    calls = calls_of(with_counts(samples, logged))
    shown = ability(calls) if calls else None
    caveats: list[Caveat] = []
    totals: dict[str, list[int]] = {}
    curve = curve_of([*earlier, *samples], expected)
    results = tuple(
        _layout(
            name,
            [s for s in samples if s.layout == name],
            expected.get(name, ()),
            None if shown in UNSURE_CURVE else curve,
            shown,
            logged,
            caveats=caveats,
            totals=totals,
        )
        for name in layouts
    )
    caveats[:0] = set_up_caveats(calls, results, sliding_window_tokens)
    caveats += disturbances(samples, results)
    return Analysis(results, clearly_lowest(totals), tuple(caveats))


def _layout(
    name: str,
    samples: Sequence[Sample],
    expected: Sequence[Expectation],
    curve: Curve | None,
    shown: Ability | None,
    logged: Logged,
    *,
    caveats: list[Caveat],
    totals: dict[str, list[int]],
) -> LayoutResult:
    """One layout's figures; its caveats, and the total times of the follow-ups that count, are added."""
    repeats = sorted({sample.repeat for sample in samples})
    blocks = [[s for s in samples if s.repeat == repeat] for repeat in repeats]
    measured: list[SampleResult] = []
    unexpected: list[SampleResult] = []
    doubtful: list[SampleResult] = []
    void: set[Place] = set()
    for block in blocks:
        results, disagreeing = _block(block, expected, curve, logged)
        found = faults(name, block, results)
        caveats += found.caveats
        void |= found.void
        results, contradicted = _without_contradictions(block, results)
        measured += results
        doubtful += contradicted
        told = found.void | {place(r.sample) for r in contradicted}
        unexpected += [r for r in disagreeing if place(r.sample) not in told]
    followups = [r for r in measured if r.sample.phase is Phase.FOLLOW_UP and place(r.sample) not in void]
    firsts = [r for r in measured if r.sample.phase is Phase.FIRST and place(r.sample) not in void]
    valid = [r for r in followups if r.sample.reply is not None]
    totals[name] = [r.total_ns for r in valid if r.total_ns is not None]
    fraction = median_estimate([_fraction(r) for r in valid])
    caveats += disagreements(name, measured, unexpected, shown)
    if doubtful:
        caveats.append(contradiction(name, doubtful))
    return LayoutResult(
        name=name,
        verdict=_verdict(valid, attempted=any(r.sample.phase is Phase.FOLLOW_UP for r in measured)),
        reused_fraction=fraction,
        expected_reused_tokens=_expected_reuse(expected),
        first_prefill_ns=median_whole(r.sample.reply.prefill_ns for r in firsts if r.sample.reply),
        follow_up_prefill_ns=median_whole(r.sample.reply.prefill_ns for r in valid if r.sample.reply),
        follow_up_prefill_spread_ns=spread(r.sample.reply.prefill_ns for r in valid if r.sample.reply),
        follow_up_total_ns=median_whole(r.total_ns for r in valid),
        samples=tuple(measured),
        first_prefill_spread_ns=spread(r.sample.reply.prefill_ns for r in firsts if r.sample.reply),
        follow_up_total_spread_ns=spread(r.total_ns for r in valid),
    )


def _block(
    block: Sequence[Sample], expected: Sequence[Expectation], curve: Curve | None, logged: Logged
) -> tuple[list[SampleResult], list[SampleResult]]:
    """Results of the questions of one block, and those whose reuse is not what their prompts share."""
    anchors = _anchors(block)
    cold = next((s.reply for s in block if s.phase is Phase.FIRST and s.reply), None)
    results: list[SampleResult] = []
    disagreeing: list[SampleResult] = []
    for sample in block:
        if sample.phase not in (Phase.FIRST, Phase.FOLLOW_UP):
            continue
        due = expected[sample.question - 1] if sample.question <= len(expected) else None
        prompt_tokens, reused, agrees = _reused(
            sample,
            due,
            curve or anchors,
            cold_read_tokens=cold.read_tokens if cold is not None else None,
            cold_due=expected[0] if expected else None,
        )
        if told := reuse_in(logged, sample):
            prompt_tokens, reused = told
            agrees = _agrees(round(reused.value or 0), due)
        result = SampleResult(sample, prompt_tokens, reused, due)
        results.append(result)
        if not agrees:
            disagreeing.append(result)
    return results, disagreeing


def _without_contradictions(
    block: Sequence[Sample], results: Sequence[SampleResult]
) -> tuple[list[SampleResult], list[SampleResult]]:
    """The results, with no count where the time contradicts it; and those that had one."""
    cold = next((s.reply for s in block if s.phase is Phase.FIRST and s.reply), None)
    wrong = [r for r in results if contradicts_time(r, cold)]
    return [replace(r, reused_tokens=UNKNOWN) if r in wrong else r for r in results], wrong


def _reused(
    sample: Sample,
    due: Expectation | None,
    calibrated: Curve | Anchors | None,
    *,
    cold_read_tokens: int | None,
    cold_due: Expectation | None,
) -> tuple[int | None, Estimate, bool]:
    reply = sample.reply
    if reply is None:
        return None, UNKNOWN, True
    prompt_tokens = reply.prompt_tokens
    if reply.cached_tokens is not None:
        return prompt_tokens, _exactly(reply.cached_tokens), _agrees(reply.cached_tokens, due)
    if reply.read_tokens is not None:
        if sample.phase is Phase.FIRST:
            return reply.read_tokens, _exactly(0), True
        found = reused_beside(reply.read_tokens, due, cold_read_tokens, cold_due) if due is not None else None
        if found is None:
            return None, UNKNOWN, True
        return *found, _agrees(round(found[1].value or 0), due)
    if sample.phase is Phase.FIRST:
        # Unloading or a nonce made the call cold; its time calibrates the others and can tell nothing itself.
        return prompt_tokens, UNKNOWN, True
    if calibrated is None or prompt_tokens is None or reply.prefill_ns is None:
        return prompt_tokens, UNKNOWN, True
    shared = _most_shared(due) if due is not None else None
    if isinstance(calibrated, Curve):
        estimate, agrees = infer_from_curve(
            reply.prefill_ns, prompt_tokens, calibrated, seconds(sample), shared
        )
    else:
        estimate, agrees = infer_reused(reply.prefill_ns, prompt_tokens, calibrated, shared)
    return prompt_tokens, estimate, agrees


def _most_shared(due: Expectation) -> int:
    """The shared start; where its tokens are estimated from a sample, with room for the error (2.9 % seen)."""
    return due.shared_tokens if due.exact else due.shared_tokens + max(16, due.shared_tokens // 20)


def _anchors(block: Sequence[Sample]) -> Anchors | None:
    cold = next((s.reply for s in block if s.phase is Phase.FIRST and s.reply), None)
    warm = next((s.reply for s in block if s.phase is Phase.WARM_REPEAT and s.reply), None)
    if cold is None or warm is None or cold.prompt_tokens is None:
        return None
    if cold.prefill_ns is None or warm.prefill_ns is None:
        return None
    return Anchors(cold.prefill_ns, cold.prompt_tokens, warm.prefill_ns)


def _exactly(tokens: int) -> Estimate:
    return Estimate(tokens, tokens, tokens, "counted")


def _agrees(reused: int, due: Expectation | None) -> bool:
    if due is None:
        return True
    return abs(reused - due.shared_tokens) <= max(32, 0.05 * due.prompt_tokens)


def _fraction(result: SampleResult) -> Estimate:
    """Reused share of the prompt's tokens."""
    tokens, n = result.reused_tokens, result.prompt_tokens
    if not n or tokens.value is None or tokens.low is None or tokens.high is None:
        return UNKNOWN
    return Estimate(tokens.value / n, tokens.low / n, tokens.high / n, tokens.method)


def _verdict(valid: Sequence[SampleResult], *, attempted: bool) -> Verdict:
    """Judged by the document's tokens, see CONTRACTS."""
    if attempted and not valid:
        return Verdict.VOID
    shares = median_estimate([_document_share(result) for result in valid])
    if shares.low is None or shares.high is None:
        return Verdict.CANNOT_TELL
    if shares.low >= REUSED_FROM:
        return Verdict.REUSED
    if shares.high <= NOT_REUSED_TO:
        return Verdict.NOT_REUSED
    return Verdict.CANNOT_TELL


def _document_share(result: SampleResult) -> Estimate:
    """Share of the document's tokens that was reused: what lies in front of it does not count."""
    tokens, due = result.reused_tokens, result.expected
    if due is None or due.before_document_tokens is None or not due.document_tokens:
        return _fraction(result)
    if tokens.value is None or tokens.low is None or tokens.high is None:
        return UNKNOWN
    before, document = due.before_document_tokens, due.document_tokens

    def share(reused: float) -> float:
        return min(1.0, max(0.0, (reused - before) / document))

    return Estimate(share(tokens.value), share(tokens.low), share(tokens.high), tokens.method)


def _expected_reuse(expected: Sequence[Expectation]) -> int | None:
    return median_whole(due.shared_tokens for due in expected[1:])
