"""From the duration of a prefill to the number of tokens that were reused. Pure: numbers in, numbers out.

With a curve of calibration calls (see calibration.py), every number of read tokens that the time is
consistent with is in the band, and the likeliest is the value.

Without one, as in runs of older versions, two anchors of the same block have to do: the cold call, which read all
of its tokens, and the warm repeat, which read one. Between them the time of reading the last m of n tokens is

    t = t_warm + (t_cold - t_warm) * (x + w * x * (1 - x)),   x = m / n

where w is the share of attention in a cold prefill: attention costs (n^2 - (n - m)^2) / 2, everything
else costs m. With w = 0 time is proportional to tokens, with w = 1 it is attention alone. w is not known
from two anchors, so the estimate takes w = 1/2 and the band covers 0 to 1.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import NamedTuple

from promptorder.measure.calibration import FLOOR, BlockKey, Curve
from promptorder.model.comparison import UNKNOWN, Estimate

NOISE = 0.25
"""Relative spread of equal calls that the two anchors' band allows for: 8-20 % were seen on shared CPU cores."""
MIN_CONTRAST = 1.5
"""Below this ratio of cold to warm the calls of known reuse do not tell reading from reusing."""
_BOUNDARY_TOKENS = 2
"""A shared text may end inside a token, and a template may add one at the start."""
_DEVIATIONS = 2.2
"""Standard deviations of a band of 95 %: more than of a normal law, as a shared machine has long tails."""
_HELD_UP = 1.15
"""Calls are held up more easily than they are hurried: the band is so much wider for what was slow."""
_STEPS = 1500
"""So many lengths are tried before the exact ones between two of them."""
_CLIFF = 3.0
"""Two neighbouring short lengths further apart than so many deviations: between them the time may jump."""


class Anchors(NamedTuple):
    """Prefill times of one block: ``cold_ns`` read ``cold_tokens`` tokens, ``warm_ns`` a single one."""

    cold_ns: float
    cold_tokens: int
    warm_ns: float


def infer_from_curve(
    prefill_ns: float, prompt_tokens: int, curve: Curve, block: BlockKey, shared_tokens: int | None = None
) -> tuple[Estimate, bool]:
    """As infer_reused, from a curve of calibration calls instead of two anchors."""
    if prompt_tokens < 2:
        return UNKNOWN, True
    times = _Times(curve, prompt_tokens)
    if times.centre(prompt_tokens) < MIN_CONTRAST * times.shortest_ns:
        return UNKNOWN, True
    # A call that is slower than reading all was held up: it tells no more than one that read all.
    time = math.log(max(1.0, prefill_ns)) - curve.drift.get(block, 0.0)
    time = min(max(time, math.log(times.shortest_ns)), math.log(times.centre(prompt_tokens)))

    def off(read: int) -> float:
        """How far the time is from what calibration allows, in parts of the spread."""
        low, high = times.range(read)
        return max(0.0, math.log(low) - time, (time - math.log(high)) / _HELD_UP) / times.spread(read)

    step = max(1, prompt_tokens // _STEPS)
    coarse = [*range(1, prompt_tokens, step), prompt_tokens]
    near = min(coarse, key=off)
    best = min(range(max(1, near - step), min(prompt_tokens, near + step) + 1), key=off)
    consistent = [read for read in coarse if off(read) <= 1]
    fewest, most = (consistent[0], consistent[-1]) if consistent else (best, best)
    fewest = next((r for r in range(max(1, fewest - step), fewest) if off(r) <= 1), fewest)
    most = next((r for r in range(min(prompt_tokens, most + step), most, -1) if off(r) <= 1), most)
    low, value, high = (prompt_tokens - read for read in (max(most, best), best, min(fewest, best)))
    return _bounded(low, value, high, prompt_tokens, shared_tokens)


class _Times:
    """What reading the last tokens of a prompt takes, in ns, by a curve."""

    def __init__(self, curve: Curve, prompt_tokens: int) -> None:
        self._curve, self._prompt_tokens = curve, prompt_tokens
        self._lengths = [length for length, _ in curve.short]
        self._offs = [off for _, off in curve.short]
        if curve.short:
            # Beyond the longest short tail the formula has it again, by twice its length.
            self._lengths.append(2 * self._lengths[-1])
            self._offs.append(0.0)
        self.shortest_ns = self.centre(1)

    def centre(self, read: float) -> float:
        """The likely time."""
        return self._curve.formula_ns(self._prompt_tokens, read) * math.exp(self._off(read))

    def range(self, read: float) -> tuple[float, float]:
        """The lowest and highest time that calibration allows, but for noise."""
        centre = self.centre(read)
        right = bisect_left(self._lengths, read)
        if not 0 < right < len(self._lengths):
            return centre, centre
        offs = self._offs[right - 1], self._offs[right]
        if abs(offs[1] - offs[0]) < _CLIFF * self._curve.noise:
            return centre, centre
        # Somewhere between these lengths the time jumps.
        formula = self._curve.formula_ns(self._prompt_tokens, read)
        low, high = formula * math.exp(min(offs)), formula * math.exp(max(offs))
        if right > 1:
            # Row by row up to the next size of a batch: as steep as before.
            before, left = self._lengths[right - 2], self._lengths[right - 1]
            slope = (self.centre(left) - self.centre(before)) / (left - before)
            high = max(high, self.centre(left) + slope * (read - left))
        return low, high

    def spread(self, read: float) -> float:
        """Half of the band of the time's logarithm: a call's noise, and what is uncertain of the curve."""
        curve, n = self._curve, self._prompt_tokens
        flat = FLOOR * self.shortest_ns / curve.formula_ns(n, read)
        return _DEVIATIONS * math.sqrt(curve.noise**2 + min(1.0, curve.uncertainty(n, read)) + flat**2)

    def _off(self, read: float) -> float:
        lengths, offs = self._lengths, self._offs
        if not lengths:
            return 0.0
        right = bisect_left(lengths, read)
        if right == 0:
            return offs[0]
        if right == len(lengths):
            return 0.0
        share = (read - lengths[right - 1]) / (lengths[right] - lengths[right - 1])
        return offs[right - 1] + share * (offs[right] - offs[right - 1])


def infer_reused(
    prefill_ns: float, prompt_tokens: int, anchors: Anchors, shared_tokens: int | None = None
) -> tuple[Estimate, bool]:
    """Reused tokens of a prompt, and whether the time agrees with what the prompts share.

    ``shared_tokens`` is the longest start that the prompt has in common with what the server has read
    since it was cold: nothing beyond it can be reused, so it bounds the estimate from above where the
    time does not contradict it. A contradiction leaves the estimate as the time gives it and returns
    False. The estimate is unknown where the anchors lie too close together.
    """
    if anchors.cold_tokens < 2:
        return UNKNOWN, True
    # The cold anchor belongs to a prompt of nearly the same length; scale it to this one's.
    cold_ns = anchors.cold_ns * prompt_tokens / anchors.cold_tokens
    if min(cold_ns, anchors.cold_ns) < MIN_CONTRAST * anchors.warm_ns or cold_ns <= anchors.warm_ns:
        return UNKNOWN, True
    span_ns = cold_ns - anchors.warm_ns

    def read(time_ns: float, attention: float) -> float:
        share = min(1.0, max(0.0, (time_ns - anchors.warm_ns) / span_ns))
        return prompt_tokens * _invert(share, attention)

    spread = math.exp(NOISE)
    most = prompt_tokens - 1
    value = most - min(most, read(prefill_ns, 0.5))
    low = most - min(most, read(prefill_ns * spread, 0.0))
    high = most - min(most, read(prefill_ns / spread, 1.0))
    return _bounded(low, value, high, prompt_tokens, shared_tokens)


def _bounded(
    low: float, value: float, high: float, prompt_tokens: int, shared_tokens: int | None
) -> tuple[Estimate, bool]:
    most = prompt_tokens - 1
    if shared_tokens is None:
        return Estimate(round(value), round(low), round(high), "inferred"), True
    tolerance = max(32, 0.05 * prompt_tokens)
    bound = min(most, shared_tokens + _BOUNDARY_TOKENS)
    if low > bound + tolerance:
        return Estimate(round(value), round(low), round(high), "inferred"), False
    agrees = high >= min(most, shared_tokens) - tolerance
    low, value, high = (min(each, bound) for each in (low, value, high))
    return Estimate(round(value), round(low), round(high), "inferred"), agrees


def _invert(share: float, w: float) -> float:
    """Solve share = x + w * x * (1 - x) for x in [0, 1]."""
    if w == 0:
        return share
    return ((1 + w) - math.sqrt(max(0.0, (1 + w) ** 2 - 4 * w * share))) / (2 * w)
