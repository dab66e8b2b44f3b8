"""From the samples of a run to figures, verdicts and caveats. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from promptorder.measure.calibration import Curve, fit, known_calls
from promptorder.measure.inference import Anchors, infer_from_curve, infer_reused
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
_CUT_SHARE = 0.95
"""A prompt that the engine reports shorter than this share of what was counted was cut."""

_CALIBRATING = (Phase.WARM_REPEAT, Phase.CALIBRATION)

Expected = Mapping[str, Sequence[Expectation]]


class Analysis(NamedTuple):
    """What a run came to."""

    layouts: tuple[LayoutResult, ...]
    fastest: str | None
    caveats: tuple[Caveat, ...]


def analyse(samples: Sequence[Sample], layouts: Sequence[str], expected: Expected) -> Analysis:
    """Figures of each layout from all samples of a run, in the layouts' order.

    ``expected`` holds, for each layout, one expectation a question, in order; it may lack a layout.
    """
    caveats: list[Caveat] = []
    totals: dict[str, list[int]] = {}
    curve = fit(known_calls(samples))
    results = tuple(
        _layout(
            name,
            [s for s in samples if s.layout == name],
            expected.get(name, ()),
            curve,
            caveats=caveats,
            totals=totals,
        )
        for name in layouts
    )
    return Analysis(results, clearly_lowest(totals), tuple(caveats))


def _layout(
    name: str,
    samples: Sequence[Sample],
    expected: Sequence[Expectation],
    curve: Curve | None,
    *,
    caveats: list[Caveat],
    totals: dict[str, list[int]],
) -> LayoutResult:
    """One layout's figures; its caveats, and the total times of the follow-ups that count, are added."""
    repeats = sorted({sample.repeat for sample in samples})
    blocks = [[s for s in samples if s.repeat == repeat] for repeat in repeats]
    measured: list[SampleResult] = []
    contradicted: list[SampleResult] = []
    void: set[tuple[int, int]] = set()
    for block in blocks:
        results, disagreeing = _block(block, expected, curve)
        measured += results
        contradicted += disagreeing
        void |= _broken(name, block, results, caveats)
    followups = [r for r in measured if r.sample.phase is Phase.FOLLOW_UP and _place(r.sample) not in void]
    firsts = [r for r in measured if r.sample.phase is Phase.FIRST and _place(r.sample) not in void]
    valid = [r for r in followups if r.sample.reply is not None]
    totals[name] = [r.total_ns for r in valid if r.total_ns is not None]
    fraction = median_estimate([_fraction(r) for r in valid])
    if contradicted:
        caveats.append(_disagreement(name, contradicted))
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
    )


def _block(
    block: Sequence[Sample], expected: Sequence[Expectation], curve: Curve | None
) -> tuple[list[SampleResult], list[SampleResult]]:
    """Results of the questions of one block, and those whose reuse is not what their prompts share."""
    anchors = _anchors(block)
    results: list[SampleResult] = []
    disagreeing: list[SampleResult] = []
    for sample in block:
        if sample.phase not in (Phase.FIRST, Phase.FOLLOW_UP):
            continue
        due = expected[sample.question - 1] if sample.question <= len(expected) else None
        prompt_tokens, reused, agrees = _reused(sample, due, curve or anchors)
        result = SampleResult(sample, prompt_tokens, reused, due)
        results.append(result)
        if not agrees:
            disagreeing.append(result)
    return results, disagreeing


def _reused(
    sample: Sample, due: Expectation | None, calibrated: Curve | Anchors | None
) -> tuple[int | None, Estimate, bool]:
    reply = sample.reply
    if reply is None:
        return None, UNKNOWN, True
    prompt_tokens = reply.prompt_tokens
    if reply.cached_tokens is not None:
        return prompt_tokens, _exactly(reply.cached_tokens), _agrees(reply.cached_tokens, due)
    if reply.read_tokens is not None:
        # The engine counts only what it read; the whole is known from counting the prompt beforehand.
        if sample.phase is Phase.FIRST:
            return reply.read_tokens, _exactly(0), True
        if due is None or not due.exact:
            return None, UNKNOWN, True
        reused = max(0, due.prompt_tokens - reply.read_tokens)
        return due.prompt_tokens, _exactly(reused), _agrees(reused, due)
    if sample.phase is Phase.FIRST:
        # Unloading or a nonce made the call cold; its time calibrates the others and can tell nothing itself.
        return prompt_tokens, UNKNOWN, True
    if calibrated is None or prompt_tokens is None or reply.prefill_ns is None:
        return prompt_tokens, UNKNOWN, True
    shared = _most_shared(due) if due is not None else None
    if isinstance(calibrated, Curve):
        estimate, agrees = infer_from_curve(reply.prefill_ns, prompt_tokens, calibrated, sample.block, shared)
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


def _broken(
    name: str, block: Sequence[Sample], results: Sequence[SampleResult], caveats: list[Caveat]
) -> set[tuple[int, int]]:
    """Samples that do not count, each kind with its caveat."""
    failed = [s for s in block if s.failure is not None]
    if failed:
        caveats.append(
            Caveat(
                "failed-reply",
                f"{_count(failed, 'reply was', 'replies were')} not whole and left out: {failed[0].failure}",
                name,
                tuple(_place(s) for s in failed),
            )
        )
    load_ns = next((s.reply.load_ns for s in block if s.phase is Phase.LOAD and s.reply), None)
    reloaded = [s for s in block if s.phase is Phase.FOLLOW_UP and _loaded_again(s, load_ns)]
    if reloaded:
        caveats.append(
            Caveat(
                "model-reloaded",
                f"the server loaded the model again before {_count(reloaded, 'follow-up', 'follow-ups')}, so "
                "its cache was gone: they are left out. Something else used the server, or memory is short.",
                name,
                tuple(_place(s) for s in reloaded),
            )
        )
    cut = [r.sample for r in results if _was_cut(r)]
    if cut:
        caveats.append(
            Caveat(
                "prompt-cut",
                f"the server read only a part of {_count(cut, 'prompt', 'prompts')}: it cut what did not fit "
                "its context. Ask for more with --num-ctx, or send fewer --pages.",
                name,
                tuple(_place(s) for s in cut),
            )
        )
    if any(s.phase is Phase.FIRST and s.failure is not None for s in block):
        return {_place(s) for s in block}
    # Calls of known reuse stand at the place of the last follow-up, which does not fail with them.
    return {_place(s) for s in (*failed, *reloaded, *cut) if s.phase not in _CALIBRATING}


def _loaded_again(sample: Sample, load_ns: int | None) -> bool:
    # A loaded model shows 1 to 150 ms of "loading" too: the scheduler's time.
    if sample.reply is None or sample.reply.load_ns is None or load_ns is None:
        return False
    return sample.reply.load_ns > max(0.2e9, 0.5 * load_ns)


def _was_cut(result: SampleResult) -> bool:
    due, reply = result.expected, result.sample.reply
    if due is None or reply is None or reply.prompt_tokens is None:
        return False
    share = _CUT_SHARE if due.exact else 0.6
    return reply.prompt_tokens < share * due.prompt_tokens


def _disagreement(name: str, results: Sequence[SampleResult]) -> Caveat:
    """Reuse that is not what the prompts share; the sign tells the likely cause."""
    worst = max(results, key=lambda r: abs((r.reused_tokens.value or 0) - _due(r)))
    reused, due = worst.reused_tokens.value or 0, _due(worst)
    if worst.reused_tokens.method == "inferred":
        cause = (
            "the machine's speed changed between calls, or another client used the server. Repeat it on a "
            "quiet machine (--repeats 3)"
        )
    elif reused > due:
        cause = "the cache was not cold: another client sent the same start, or a proxy answers"
    else:
        cause = (
            "the server threw the cache away (another client in between, too little memory), or the model "
            "cannot resume in the middle of a prompt (sliding window, recurrent)"
        )
    return Caveat(
        "reuse-not-as-expected",
        f"the prompts share {due:,} tokens but about {reused:,.0f} were reused. Likely: {cause}.",
        name,
        tuple(_place(r.sample) for r in results),
    )


def _due(result: SampleResult) -> int:
    return result.expected.shared_tokens if result.expected else 0


def _place(sample: Sample) -> tuple[int, int]:
    return (sample.repeat, sample.question)


def _count(items: Sequence[object], one: str, many: str) -> str:
    return f"{len(items)} {one if len(items) == 1 else many}"
