"""From the duration of a prefill to the number of tokens that were reused. Pure: numbers in, numbers out.

Two anchors of the same block calibrate it: the cold call, which read all of its tokens, and the warm
repeat, which read one. Between them the time of reading the last m of n tokens is

    t = t_warm + (t_cold - t_warm) * (x + w * x * (1 - x)),   x = m / n

where w is the share of attention in a cold prefill: attention costs (n^2 - (n - m)^2) / 2, everything
else costs m. With w = 0 time is proportional to tokens, with w = 1 it is attention alone. w is not known
from two anchors, so the estimate takes w = 1/2 and the band covers 0 to 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from promptorder.model.comparison import UNKNOWN, Estimate

NOISE = 0.25
"""Relative spread of equal calls that the band allows for: 8-20 % were seen on shared CPU cores."""
MIN_CONTRAST = 1.5
"""Below this ratio of cold to warm the anchors do not tell reading from reusing."""
_BOUNDARY_TOKENS = 2
"""A shared text may end inside a token, and a template may add one at the start."""


class Anchors(NamedTuple):
    """Prefill times of one block: ``cold_ns`` read ``cold_tokens`` tokens, ``warm_ns`` a single one."""

    cold_ns: float
    cold_tokens: int
    warm_ns: float


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
