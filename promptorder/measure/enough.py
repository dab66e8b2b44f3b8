"""When the calibration of a block may stop: as soon as what it is for can be told. Pure.

Two hypotheses are held against the time of each follow-up: that it reused what its prompt shares with the earlier
ones, and that it reused nothing. Calibration goes on until the band of its reuse excludes one of them, lying on one side
of the shares that decide the verdict (and of a gate, where the person has set one), in more than half of the follow-ups,
as the verdict is that of their median; or until its calls are used up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from promptorder.measure.analysis import NOT_REUSED_TO, REUSED_FROM
from promptorder.measure.calibration import Expected, curve_of, seconds
from promptorder.measure.curve import BlockKey, Curve
from promptorder.measure.inference import infer_from_curve
from promptorder.model.comparison import Expectation
from promptorder.model.sample import Phase, Sample


def enough(
    samples: Iterable[Sample],
    expected: Expected,
    block: BlockKey,
    *,
    earlier: Iterable[Sample] = (),
    gate: float | None = None,
) -> bool:
    """Whether the follow-ups of a block need no more calls of known reuse.

    ``earlier`` are such calls of an earlier run, ``gate`` a share of the prompt that has to be told from the rest.
    """
    samples = list(samples)
    follow_ups = [s for s in samples if s.block == block and s.phase is Phase.FOLLOW_UP and s.reply]
    if not follow_ups:
        return True
    curve = curve_of([*earlier, *samples], expected)
    if curve is None:
        return False
    due = expected.get(block[0], ())
    told = [_is_told(sample, due, curve, gate) for sample in follow_ups]
    return 2 * sum(told) > len(told)


def _is_told(sample: Sample, expected: Sequence[Expectation], curve: Curve, gate: float | None) -> bool:
    reply = sample.reply
    if (
        reply is None
        or not reply.prompt_tokens
        or reply.prefill_ns is None
        or sample.question > len(expected)
    ):
        return False
    due, n, at_s = expected[sample.question - 1], reply.prompt_tokens, seconds(sample)
    estimate, agrees = infer_from_curve(reply.prefill_ns, n, curve, at_s, due.shared_tokens)
    if not agrees or estimate.low is None or estimate.high is None:
        return False
    before, document = due.before_document_tokens or 0, due.document_tokens or n
    little, much = before + NOT_REUSED_TO * document, before + REUSED_FROM * document
    if little < estimate.high and estimate.low < much:
        return False
    return gate is None or not estimate.low < gate * n <= estimate.high
