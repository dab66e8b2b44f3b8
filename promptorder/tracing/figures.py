"""From counts to figures: rates by every definition, losses by cause, windows along the trace, sizes of a curve."""

from __future__ import annotations

from collections.abc import Sequence

from promptorder.model.trace_result import Loss, Rates, Window
from promptorder.replay import CAUSES, Tally

MOST_WINDOWS = 40
_CURVE_POINTS = 7


def rates(prompt_tokens: Sequence[int], cached_tokens: Sequence[int]) -> Rates:
    """All definitions of how much was reused, of one prompt and one reused count a request."""
    half = len(prompt_tokens) // 2
    total, cached = sum(prompt_tokens), sum(cached_tokens)
    shares = [c / p for c, p in zip(cached_tokens, prompt_tokens, strict=True) if p]
    return Rates(
        requests=len(prompt_tokens),
        input_tokens=total,
        cached_tokens=cached,
        hit_rate_tokens=_share(cached, total),
        hit_rate_requests_mean=_share(sum(shares), len(shares)),
        last_half_hit_rate_tokens=_share(sum(cached_tokens[half:]), sum(prompt_tokens[half:])),
        requests_with_hit=sum(1 for each in cached_tokens if each),
    )


def losses(tally: Tally) -> tuple[Loss, ...]:
    """Every cause that occurred, most lost tokens first."""
    counts = [0] * len(CAUSES)
    for number in tally.causes:
        counts[number] += 1
    found = [
        Loss(cause, counts[number], tally.lost_tokens[cause])
        for number, cause in enumerate(CAUSES)
        if counts[number] or tally.lost_tokens[cause]
    ]
    return tuple(sorted(found, key=lambda loss: (-loss.lost_tokens, -loss.requests, loss.cause)))


def windows(prompt_tokens: Sequence[int], cached_tokens: Sequence[int]) -> tuple[Window, ...]:
    """The rate by tokens over at most ``MOST_WINDOWS`` parts of the trace, each of as many requests."""
    number = len(prompt_tokens)
    step = max(1, -(-number // MOST_WINDOWS))
    return tuple(
        Window(
            first,
            min(step, number - first),
            _share(sum(cached_tokens[first : first + step]), sum(prompt_tokens[first : first + step])),
        )
        for first in range(0, number, step)
    )


def curve_sizes_tokens(distinct_tokens: int) -> list[int]:
    """Sizes from a 64th of all distinct tokens to all of them, each twice the one before."""
    return sorted({max(1, distinct_tokens >> shift) for shift in range(_CURVE_POINTS)})


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
