"""Calls of known reuse, and the curve of prefill times that they draw. Pure: numbers in, numbers out.

Where an engine does not count, each block ends with a few calls whose reuse is known beforehand: its last
prompt with the end cut off, and the same with tails of chosen lengths in place of what was cut, so that no
longer context is needed. Together with the cold first call and the warm repeat they calibrate

    t = a + b * m + d * (n^2 - (n - m)^2) / 2

the time of reading the last m of n tokens: a fixed cost, a cost of each token, and attention over all that
stands before it. Small batches do not follow it (kernels change with the number of rows), so what the short
tails took is kept beside it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import NamedTuple

from promptorder.model.prompt import Message, Prompt
from promptorder.model.sample import Phase, Sample

TAIL_TOKENS = (0, 40, 120, 400)
"""About how many tokens the calibration calls of a block read, beside what the chat template adds."""
TEMPLATE_END_TOKENS = 5
"""What a chat template puts behind the last message: 2 to 9 tokens in the templates seen."""
NOISE = 0.08
"""Relative standard deviation of equal calls to begin with: the calibration's own residuals add to it."""
FLOOR = 0.6
"""Standard deviation that the length of a call does not scale, as a share of the shortest call's time."""
_NOISE_WEIGHT = 4
"""As many residuals the first guess of the noise is worth."""
_FITTED = 2
"""Costs that the residuals have lost to the fit."""
_DRIFT_WEIGHT = 4
"""As many calls of a block it takes until half of what they say of the machine's speed is believed."""
_SHORT_TOKENS = 200
"""Batches up to about this size may follow kernels of their own."""
_WHOLE = 0.5
"""A tail that takes this share of a cold call was read with all that stands before it."""
_CLIFF = 1.5
"""A call so many times slower than one that read more is no noise."""
_WORST_MISFIT = 0.5
"""Where the long calls lie further from the curve than this (logarithm), the curve is not theirs."""
_MIN_TAILS = 2

BlockKey = tuple[str, int]
Triple = tuple[float, float, float]


class Known(NamedTuple):
    """A call of known reuse: it read the last ``read_tokens`` of ``prompt_tokens``."""

    prompt_tokens: int
    read_tokens: int
    prefill_ns: float
    block: BlockKey


@dataclass(frozen=True)
class Curve:
    """Times of one loaded model, and how far they can be trusted.

    ``cost`` is (a, b, d); ``covariance`` that of its relative error; ``short`` maps lengths of short tails
    to the logarithm of what they took over what the formula says; ``drift`` maps blocks to the logarithm of
    how much slower than the rest they ran.
    """

    cost: Triple
    covariance: tuple[Triple, Triple, Triple]
    noise: float
    short: Sequence[tuple[float, float]] = ()
    drift: Mapping[BlockKey, float] = field(default_factory=dict)

    def formula_ns(self, prompt_tokens: float, read_tokens: float) -> float:
        """What the formula alone says."""
        return _dot(self.cost, work(prompt_tokens, read_tokens))

    def uncertainty(self, prompt_tokens: float, read_tokens: float) -> float:
        """Variance of the logarithm of what the formula says."""
        parts, whole = work(prompt_tokens, read_tokens), self.formula_ns(prompt_tokens, read_tokens)
        return _dot(parts, _times(self.covariance, parts)) / whole**2


def calibration_prompts(last: Prompt, prompt_tokens: int, document: str, block: BlockKey) -> list[Prompt]:
    """Prompts that share all but their ends with ``last``: the bare start first, then its tails.

    The tails are shuffled, in the same order in each run.
    """
    text = last.messages[-1].text
    characters = max(1.0, sum(len(m.text) for m in last.messages) / max(1, prompt_tokens))
    longest = min(max(TAIL_TOKENS), prompt_tokens // 3)
    # Cut between words, so that the tokens before stay what they were.
    cut = text.rfind(" ", 0, max(0, len(text) - round(longest * characters)) + 1)
    head = text[: max(0, cut)]
    longest = min(longest, round((len(text) - len(head)) / characters))
    lengths = [each for each in TAIL_TOKENS if 0 < each < 0.7 * longest] + [longest]
    prompts = []
    for number, length in enumerate(lengths, start=1):
        start = len(document) * number // (len(lengths) + 1)
        # The number keeps the tails apart from their first token on.
        tail = f" {number} {document[start:]}{document}"[: max(2, round(length * characters))]
        prompts.append(_with_end(last, head + tail))
    random.Random(f"{block}").shuffle(prompts)
    return [_with_end(last, head), *prompts]


def known_calls(samples: Iterable[Sample]) -> list[Known]:
    """The calls of known reuse in a run's samples."""
    blocks: dict[BlockKey, list[Sample]] = {}
    for sample in samples:
        blocks.setdefault(sample.block, []).append(sample)
    return [known for key, block in blocks.items() for known in _of_block(key, block)]


def _of_block(key: BlockKey, block: Sequence[Sample]) -> list[Known]:
    found = []
    bare: int | None = None
    for sample in block:
        reply = sample.reply
        if reply is None or reply.prompt_tokens is None or not reply.prefill_ns:
            continue
        n, ns = reply.prompt_tokens, reply.prefill_ns
        if sample.phase is Phase.FIRST:
            found.append(Known(n, n, ns, key))
        elif sample.phase is Phase.WARM_REPEAT:
            found.append(Known(n, 1, ns, key))
        elif sample.phase is Phase.CALIBRATION:
            bare = n if bare is None else bare  # the first of a block, without which there are no others
            read = n - bare + TEMPLATE_END_TOKENS
            if 0 < read < n:
                found.append(Known(n, read, ns, key))
    return found


def work(prompt_tokens: float, read_tokens: float) -> Triple:
    """What is paid for: the call, its tokens, and pairs of a token and one before it, (n^2 - (n - m)^2) / 2."""
    return (1.0, read_tokens, read_tokens * (prompt_tokens - read_tokens / 2))


def fit(calls: Sequence[Known]) -> Curve | None:
    """The curve through calls of known reuse; None where they draw none."""
    if sum(call.read_tokens < call.prompt_tokens for call in calls) <= _MIN_TAILS:
        return None
    cold = [call.prefill_ns / call.prompt_tokens for call in calls if call.read_tokens == call.prompt_tokens]
    if not cold or _resumes_nowhere(calls, median(cold)):
        return None
    cost = (0.0, 0.0, 0.0)
    drift = {call.block: 0.0 for call in calls}
    steady = _without_cliffs(calls)
    rows = [work(call.prompt_tokens, call.read_tokens) for call in steady]
    misfit: list[float] = []
    for _ in range(4):
        cost = _robust(rows, [call.prefill_ns / math.exp(drift[call.block]) for call in steady])
        if not any(cost):
            return None
        misfit = [_off(cost, call) for call in steady]
        if len(drift) > 1:
            drift = _drift(steady, misfit)
    long = [abs(off) for call, off in zip(steady, misfit, strict=True) if call.read_tokens > _SHORT_TOKENS]
    if long and median(long) > _WORST_MISFIT:
        return None
    shortest = min(call.prefill_ns for call in calls)
    believed = [(_weight(_dot(cost, row), shortest) * _dot(cost, row)) ** 2 for row in rows]
    noise = _noise(misfit, believed)
    precision = [1 / (_dot(cost, row) * noise) ** 2 for row in rows]
    return Curve(
        cost=cost,
        covariance=_inverse(_normal(rows, precision)),
        noise=noise,
        short=_short(
            (call.read_tokens, _off(cost, call) - drift.get(call.block, 0.0))
            for call in calls
            if call.read_tokens <= _SHORT_TOKENS
        ),
        drift=drift,
    )


def _resumes_nowhere(calls: Sequence[Known], cold_ns_per_token: float) -> bool:
    """Whether all tails took as long as whole prompts: the model cannot resume in the middle of one."""
    quickest: dict[BlockKey, float] = {}
    for call in calls:
        if 1 < call.read_tokens < call.prompt_tokens:
            share = call.prefill_ns / (cold_ns_per_token * call.prompt_tokens)
            quickest[call.block] = min(share, quickest.get(call.block, share))
    return bool(quickest) and median(quickest.values()) > _WHOLE


def _without_cliffs(calls: Sequence[Known]) -> list[Known]:
    """All but short calls that took longer than one that read at least twice as much."""
    return [
        call
        for call in calls
        if call.read_tokens > _SHORT_TOKENS
        or not any(
            call.prefill_ns > _CLIFF * other.prefill_ns and 2 * call.read_tokens <= other.read_tokens
            for other in calls
        )
    ]


def _off(cost: Triple, call: Known) -> float:
    return math.log(call.prefill_ns / _dot(cost, work(call.prompt_tokens, call.read_tokens)))


def _robust(rows: Sequence[Triple], times: Sequence[float]) -> Triple:
    """Costs, none below 0, by relative errors; what lies far off counts less (Huber)."""
    shortest = min(times)
    weights = [_weight(t, shortest) ** 2 for t in times]
    cost = (0.0, 0.0, 0.0)
    for _ in range(20):
        before, cost = cost, _not_negative(rows, times, weights)
        if all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(before, cost, strict=True)):
            break
        expected = [max(1e-9, _dot(cost, row)) for row in rows]
        offs = [abs(math.log(t / e)) for t, e in zip(times, expected, strict=True)]
        near = 1.5 * max(0.02, 1.4826 * median(offs))
        weights = [
            min(1.0, near / max(off, 1e-9)) * _weight(e, shortest) ** 2
            for off, e in zip(offs, expected, strict=True)
        ]
    return cost


def _weight(t: float, shortest: float) -> float:
    """By relative errors; of short calls less is believed, as they follow the formula less."""
    return 1 / math.hypot(t, FLOOR / NOISE * shortest)


def _not_negative(rows: Sequence[Triple], times: Sequence[float], weights: Sequence[float]) -> Triple:
    """Least squares with no cost below 0: the best of what the sets of three costs give."""
    normal = _normal(rows, weights)
    right = [sum(w * row[i] * t for w, row, t in zip(weights, rows, times, strict=True)) for i in range(3)]
    best, best_gain = (0.0, 0.0, 0.0), 0.0
    for chosen in ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,)):
        part = _solve([[normal[i][j] for j in chosen] for i in chosen], [right[i] for i in chosen])
        if part is None or min(part) < 0:
            continue
        cost = dict(zip(chosen, part, strict=True))
        # What a least squares solution takes off the squares is its product with the right side.
        gain = sum(value * right[i] for i, value in cost.items())
        if gain > best_gain:
            best, best_gain = (cost.get(0, 0.0), cost.get(1, 0.0), cost.get(2, 0.0)), gain
    return best


def _drift(calls: Sequence[Known], misfit: Sequence[float]) -> dict[BlockKey, float]:
    drift = {}
    for key in {call.block for call in calls}:
        own = [off for call, off in zip(calls, misfit, strict=True) if call.block == key]
        drift[key] = median(own) * len(own) / (len(own) + _DRIFT_WEIGHT)
    return drift


def _noise(misfit: Sequence[float], believed: Sequence[float]) -> float:
    """Standard deviation of a long call's logarithm; the blocks' drift counts as noise, as it was not foreseen."""
    count = sum(believed)
    # The costs are taken from the same calls, so their residuals are smaller than the noise.
    lost = count / max(1.0, count - _FITTED)
    squares = lost * sum(b * min(0.6, abs(off)) ** 2 for b, off in zip(believed, misfit, strict=True))
    noise = math.sqrt((_NOISE_WEIGHT * NOISE**2 + squares) / (_NOISE_WEIGHT + count))
    # From few calls the noise itself is uncertain, as in Student's distribution.
    return noise * math.sqrt(1 + 2 / max(1.0, count))


def _normal(rows: Sequence[Triple], weights: Sequence[float]) -> list[list[float]]:
    return [
        [sum(w * row[i] * row[j] for w, row in zip(weights, rows, strict=True)) for j in range(3)]
        for i in range(3)
    ]


def _solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float] | None:
    """A symmetric system of up to three equations by elimination; None where it has no one solution."""
    size = len(right)
    scale = [math.sqrt(matrix[i][i]) for i in range(size)]
    if min(scale) <= 0:
        return None
    # With ones on the diagonal the pivots tell by themselves how far the columns are apart.
    rows = [
        [matrix[i][j] / (scale[i] * scale[j]) for j in range(size)] + [right[i] / scale[i]]
        for i in range(size)
    ]
    for i in range(size):
        if rows[i][i] < 1e-9:
            return None
        for k in range(i + 1, size):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        rest = rows[i][size] - sum(rows[i][j] * found[j] for j in range(i + 1, size))
        found[i] = rest / rows[i][i]
    return [value / s for value, s in zip(found, scale, strict=True)]


def _inverse(matrix: Sequence[Sequence[float]]) -> tuple[Triple, Triple, Triple]:
    """With a little on the diagonal: what the calls do not tell is uncertain, not impossible to compute."""
    steady = [[value * (1 + 1e-7 * (i == j)) for j, value in enumerate(row)] for i, row in enumerate(matrix)]
    columns = [_solve(steady, [float(i == j) for i in range(3)]) or [0.0] * 3 for j in range(3)]
    first, second, third = ((row[0], row[1], row[2]) for row in columns)
    return first, second, third


def _dot(a: Triple, b: Triple) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _times(matrix: tuple[Triple, Triple, Triple], vector: Triple) -> Triple:
    return (_dot(matrix[0], vector), _dot(matrix[1], vector), _dot(matrix[2], vector))


def _short(calls: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """For each short length its median, drawn a little to the formula where it stands on one call alone."""
    groups: list[list[tuple[float, float]]] = []
    for length, off in sorted(calls):
        if groups and length <= 1.5 * groups[-1][0][0] + 1:
            groups[-1].append((length, off))
        else:
            groups.append([(length, off)])
    return [
        (median(x for x, _ in group), median(y for _, y in group) * len(group) / (len(group) + 0.5))
        for group in groups
    ]


def _with_end(prompt: Prompt, text: str) -> Prompt:
    last = prompt.messages[-1]
    return replace(prompt, messages=(*prompt.messages[:-1], Message(last.role, text)))
