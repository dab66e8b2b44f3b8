"""The curve of prefill times through calls of known reuse. Pure: numbers in, numbers out.

    t = a + b * m + d * (n^2 - (n - m)^2) / 2

is the time of reading the last m of n tokens: a fixed cost, a cost of each token, and attention over all that
stands before it. The costs are fitted to relative errors, with none below 0. What is left is the noise of each
call and a drift of the machine's speed, which neighbours in time have in common: so a call is judged most by the
calibration calls around it (generalised least squares with an Ornstein-Uhlenbeck drift, "universal kriging").

Small batches do not follow the formula (kernels change with the number of rows), so what short tails took is
kept beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

from promptorder.measure._algebra import Matrix, backward, cholesky, dot, forward, inverse, solve

NOISE = 0.07
"""Relative standard deviation of equal calls to begin with: the calls' own residuals take over."""
FLAT = 0.25
"""Standard deviation that the length of a call does not scale, as a share of the shortest call's time."""
DRIFT_S = 30.0
"""A machine's speed is forgotten in about this many seconds: between 20 and 120 it made little difference."""
_DRIFT = 1.0
"""Variance of the drift in parts of that of a call's own noise."""
_NOISE_WEIGHT = 4
"""As many residuals the first guess of the noise is worth."""
_SHORT_TOKENS = 200
"""Batches up to about this size may follow kernels of their own."""
_WHOLE = 0.5
"""A tail that takes this share of a cold call was read with all that stands before it."""
_OTHER_KERNEL = math.log(2)
"""So far from the formula (logarithm), a short call is no noise, whatever stands beside it."""
_CLIFF = 1.5
"""A call so many times slower than one that read more is no noise."""
_WORST_MISFIT = 0.5
"""Where the long calls lie further from the curve than this (logarithm), the curve is not theirs."""
_MIN_TAILS = 2
_FITTED = 2
"""Costs that the residuals have lost to the fit."""
_FAR = 1.5
"""Residuals beyond so many standard deviations count less."""
_KEPT = 0.78
"""What is left of the squares of normal residuals when those far off count less."""
_ROUNDS = 6
_NEWEST = 80
"""More calls than these are not fitted: their number costs its third power."""

BlockKey = tuple[str, int]
Triple = tuple[float, float, float]


class Known(NamedTuple):
    """A call of known reuse, begun at ``at_s``: it read the last ``read_tokens`` of ``prompt_tokens``."""

    prompt_tokens: int
    read_tokens: int
    prefill_ns: float
    block: BlockKey
    at_s: float


class Moment(NamedTuple):
    """The machine at one time: ``slower`` is the logarithm of how much slower than on the whole.

    ``variance`` is what is uncertain of that, ``shared`` what its error has in common with that of the costs.
    """

    slower: float
    variance: float
    shared: Triple


@dataclass(frozen=True)
class Curve:
    """Times of one loaded model, and how far they can be trusted.

    ``cost`` is (a, b, d) in ns; ``covariance`` that of its error in units of ``noise``, which is the standard deviation
    of a long call's logarithm; ``freedom`` tells how well it is known itself (degrees of freedom). ``flat_ns`` is the
    standard deviation that the length does not scale. ``short`` maps lengths of short tails to the logarithm of what they
    took over what the formula says. ``times``, ``weights``, ``lower`` and ``columns`` are what the drift is read from.
    """

    cost: Triple
    covariance: Matrix
    noise: float
    freedom: float
    flat_ns: float
    times: Sequence[float]
    weights: Sequence[float]
    lower: Matrix
    columns: Matrix
    short: Sequence[tuple[float, float]] = ()

    def formula_ns(self, prompt_tokens: float, read_tokens: float) -> float:
        """What the formula alone says."""
        return dot(self.cost, work(prompt_tokens, read_tokens))

    def at(self, at_s: float) -> Moment:
        """The machine's speed at a time, from the calls around it."""
        near = [_DRIFT * math.exp(-abs(at_s - time) / DRIFT_S) for time in self.times]
        white = forward(self.lower, near)
        shared = [dot(column, white) for column in self.columns]
        slower = dot(near, self.weights)
        return Moment(slower, max(0.0, _DRIFT - dot(white, white)), (shared[0], shared[1], shared[2]))

    def variance(self, prompt_tokens: float, read_tokens: float, moment: Moment) -> float:
        """Variance of the logarithm of a call's time."""
        whole = self.formula_ns(prompt_tokens, read_tokens)
        parts = [
            part / whole - shared
            for part, shared in zip(work(prompt_tokens, read_tokens), moment.shared, strict=True)
        ]
        of_costs = dot(parts, [dot(row, parts) for row in self.covariance])
        return self.noise**2 * (1 + moment.variance + max(0.0, of_costs)) + (self.flat_ns / whole) ** 2


def work(prompt_tokens: float, read_tokens: float) -> Triple:
    """What is paid for: the call, its tokens, and pairs of a token and one before it, (n^2 - (n - m)^2) / 2."""
    return (1.0, read_tokens, read_tokens * (prompt_tokens - read_tokens / 2))


def fit(calls: Sequence[Known]) -> Curve | None:
    """The curve through calls of known reuse; None where they draw none."""
    calls = sorted(calls, key=lambda call: call.at_s)[-_NEWEST:]
    if sum(call.read_tokens < call.prompt_tokens for call in calls) <= _MIN_TAILS:
        return None
    cold = [call.prefill_ns / call.prompt_tokens for call in calls if call.read_tokens == call.prompt_tokens]
    if not cold or _resumes_nowhere(calls, median(cold)):
        return None
    steady = _without_cliffs(calls)
    flat_ns = FLAT * min(call.prefill_ns for call in calls)
    curve = _fitted(steady, flat_ns)
    if curve is None:
        return None
    long = [abs(_off(curve, call)) for call in steady if call.read_tokens > _SHORT_TOKENS]
    if long and median(long) > _WORST_MISFIT:
        return None
    offs = ((c.read_tokens, _off(curve, c)) for c in calls if c.read_tokens <= _SHORT_TOKENS)
    return replace(curve, short=_grouped(offs))


def _off(curve: Curve, call: Known) -> float:
    expected = curve.formula_ns(call.prompt_tokens, call.read_tokens)
    return math.log(call.prefill_ns / expected) - curve.at(call.at_s).slower


def _fitted(calls: Sequence[Known], flat_ns: float) -> Curve | None:
    """Iterate: costs by generalised least squares, then the noise; what lies far off counts less (Huber)."""
    times = [call.prefill_ns for call in calls]
    works = [work(call.prompt_tokens, call.read_tokens) for call in calls]
    common = [[_DRIFT * math.exp(-abs(a.at_s - b.at_s) / DRIFT_S) for b in calls] for a in calls]
    expected, believed, noise = list(times), [1.0] * len(calls), NOISE
    for _ in range(_ROUNDS):
        own = [1 + (flat_ns / (noise * e)) ** 2 for e in expected]
        lower = cholesky(
            [
                [value + (i == j) * own[i] / believed[i] for j, value in enumerate(row)]
                for i, row in enumerate(common)
            ]
        )
        rows = [[part / e for part in each] for each, e in zip(works, expected, strict=True)]
        columns = [forward(lower, [row[i] for row in rows]) for i in range(3)]
        ratio = forward(lower, [t / e for t, e in zip(times, expected, strict=True)])
        normal = [[dot(a, b) for b in columns] for a in columns]
        cost = _not_negative(normal, [dot(each, ratio) for each in columns])
        if not any(cost):
            return None
        expected = [max(1e-9, dot(cost, each)) for each in works]
        offs = [math.log(t / e) for t, e in zip(times, expected, strict=True)]
        white = forward(lower, offs)
        weights = backward(lower, white)
        alone = [o / b * w for o, b, w in zip(own, believed, weights, strict=True)]
        # Long calls tell the noise; what short ones are off is mostly flat.
        count = sum(1 / o for o in own)
        freedom = max(1.0, count - _FITTED) + _NOISE_WEIGHT
        squares = sum(each**2 / o for each, o in zip(white, own, strict=True)) / _KEPT
        lost = count / max(1.0, count - _FITTED)
        noise = math.sqrt((lost * squares + _NOISE_WEIGHT * NOISE**2) / (count + _NOISE_WEIGHT))
        believed = [
            min(1.0, _FAR * noise * math.sqrt(o) / max(1e-9, abs(off)))
            for o, off in zip(own, alone, strict=True)
        ]
    return Curve(
        cost=cost,
        covariance=inverse(normal),
        noise=noise,
        freedom=freedom,
        flat_ns=flat_ns,
        times=[call.at_s for call in calls],
        weights=weights,
        lower=lower,
        columns=columns,
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


def _not_negative(normal: Matrix, right: Sequence[float]) -> Triple:
    """Least squares with no cost below 0: the best of what the sets of three costs give."""
    best, best_gain = (0.0, 0.0, 0.0), 0.0
    for chosen in ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,)):
        part = solve([[normal[i][j] for j in chosen] for i in chosen], [right[i] for i in chosen])
        if part is None or min(part) < 0:
            continue
        cost = dict(zip(chosen, part, strict=True))
        # What a least squares solution takes off the squares is its product with the right side.
        gain = sum(value * right[i] for i, value in cost.items())
        if gain > best_gain:
            best, best_gain = (cost.get(0, 0.0), cost.get(1, 0.0), cost.get(2, 0.0)), gain
    return best


def _grouped(calls: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """For each short length its median, drawn a little to the formula where it stands on one call alone.

    Not where it is plainly another kernel: twice as slow or as fast is no noise.
    """
    groups: list[list[tuple[float, float]]] = []
    for length, off in sorted(calls):
        if groups and length <= 1.5 * groups[-1][0][0] + 1:
            groups[-1].append((length, off))
        else:
            groups.append([(length, off)])
    found = []
    for group in groups:
        off = median(y for _, y in group)
        drawn = off * len(group) / (len(group) + 0.5)
        found.append((median(x for x, _ in group), off if abs(off) > _OTHER_KERNEL else drawn))
    return found
