"""From the duration of a prefill to the number of tokens that were reused. Pure: numbers in, numbers out.

With a curve through calls of known reuse (see curve.py), every number of read tokens that the time is
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

from promptorder.measure.curve import Curve, Moment
from promptorder.model.comparison import UNKNOWN, Estimate

NOISE = 0.25
"""Relative spread of equal calls that the two anchors' band allows for: 8-20 % were seen on shared CPU cores."""
MIN_CONTRAST = 1.5
"""Below this ratio of cold to warm the calls of known reuse do not tell reading from reusing."""
_BOUNDARY_TOKENS = 2
"""A shared text may end inside a token, and a template may add one at the start."""
HELD_UP = 1.15
"""Calls are held up more easily than they are hurried: the band is so much wider for what was slow."""
_STEPS = 300
"""So many lengths are tried before the exact ones between two of them."""
_CLIFF = 1.5
"""Two neighbouring short lengths further apart than so many half bands: between them the time may jump."""


class Anchors(NamedTuple):
    """Prefill times of one block: ``cold_ns`` read ``cold_tokens`` tokens, ``warm_ns`` a single one."""

    cold_ns: float
    cold_tokens: int
    warm_ns: float


def infer_from_curve(
    prefill_ns: float, prompt_tokens: int, curve: Curve, at_s: float, shared_tokens: int | None = None
) -> tuple[Estimate, bool]:
    """As infer_reused, from a curve through calls of known reuse; the call began at ``at_s`` (epoch seconds)."""
    if prompt_tokens < 2:
        return UNKNOWN, True
    times = Times(curve, prompt_tokens, at_s)
    if times.centre(prompt_tokens) < MIN_CONTRAST * times.shortest_ns:
        return UNKNOWN, True
    # A call that is slower than reading all was held up: it tells no more than one that read all.
    time = min(max(prefill_ns, times.shortest_ns), times.centre(prompt_tokens))

    def off(read: int) -> float:
        return times.off(time, read)

    step = max(1, prompt_tokens // _STEPS)
    coarse = [*range(1, prompt_tokens, step), prompt_tokens]
    offs = {read: off(read) for read in coarse}
    near = min(coarse, key=offs.__getitem__)
    best = min(range(max(1, near - step), min(prompt_tokens, near + step) + 1), key=off)
    consistent = [read for read in coarse if offs[read] <= 1]
    fewest, most = (consistent[0], consistent[-1]) if consistent else (best, best)
    fewest = next((r for r in range(max(1, fewest - step), fewest) if off(r) <= 1), fewest)
    most = next((r for r in range(min(prompt_tokens, most + step), most, -1) if off(r) <= 1), most)
    low, value, high = (prompt_tokens - read for read in (max(most, best), best, min(fewest, best)))
    return _bounded(low, value, high, prompt_tokens, shared_tokens)


class Times:
    """What reading the last tokens of a prompt takes at one time, in ns, by a curve."""

    def __init__(self, curve: Curve, prompt_tokens: int, at_s: float) -> None:
        self._curve, self._prompt_tokens = curve, prompt_tokens
        self._moment: Moment = curve.at(at_s)
        self._pace = math.exp(self._moment.slower)
        self._deviations = _student(curve.freedom)
        self._lengths = [length for length, _ in curve.short]
        self._offs = [off for _, off in curve.short]
        if curve.short:
            # Beyond the longest short tail the formula has it again, by twice its length.
            self._lengths.append(2 * self._lengths[-1])
            self._offs.append(0.0)
        self.shortest_ns = self.centre(1)

    def centre(self, read: float) -> float:
        """The likely time."""
        return self._formula_ns(read) * math.exp(self._off(read))

    def off(self, prefill_ns: float, read: float) -> float:
        """How far a time is from what calibration allows for it, as a part of half of the 95 % band."""
        low, high = self.range(read)
        time = math.log(prefill_ns)
        return max(0.0, math.log(low) - time, (time - math.log(high)) / HELD_UP) / self.spread(read)

    def range(self, read: float) -> tuple[float, float]:
        """The lowest and highest time that calibration allows, but for noise."""
        centre = self.centre(read)
        right = bisect_left(self._lengths, read)
        if not 0 < right < len(self._lengths):
            return centre, centre
        offs = self._offs[right - 1], self._offs[right]
        if abs(offs[1] - offs[0]) < _CLIFF * self.spread(read):
            return centre, centre
        # Somewhere between these lengths the time jumps.
        formula = self._formula_ns(read)
        low, high = formula * math.exp(min(offs)), formula * math.exp(max(offs))
        if right > 1:
            # Row by row up to the next size of a batch: as steep as before.
            before, left = self._lengths[right - 2], self._lengths[right - 1]
            slope = (self.centre(left) - self.centre(before)) / (left - before)
            high = max(high, self.centre(left) + slope * (read - left))
        return low, high

    def spread(self, read: float) -> float:
        """Half of the 95 % band of the time's logarithm."""
        return self._deviations * math.sqrt(self._curve.variance(self._prompt_tokens, read, self._moment))

    def _formula_ns(self, read: float) -> float:
        return self._curve.formula_ns(self._prompt_tokens, read) * self._pace

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


def _student(freedom: float) -> float:
    """The 97.5 % quantile of Student's distribution, to a hundredth from 4 degrees of freedom on."""
    return 1.96 + 2.4 / freedom + 2.9 / freedom**2


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
