"""Medians and bands of small sets of samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from promptorder.model.comparison import UNKNOWN, Estimate, Method

# From the surest to the least sure; a set is only as sure as its least sure member.
_METHODS: tuple[Method, ...] = ("counted", "logged", "inferred", "unknown")


def median_whole(values: Iterable[int | None]) -> int | None:
    """The median, rounded to a whole number, of the values that are known, None where none is."""
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def spread(values: Iterable[int | None]) -> tuple[int, int] | None:
    """The lowest and highest of the values that are known."""
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def median_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """The median of estimates with a band that comes from their method.

    Counts are exact, so their band is their range. Inferred values share the error of their anchors,
    which a median does not average away: their band is the median of their bands.
    """
    known = [e for e in estimates if e.value is not None and e.low is not None and e.high is not None]
    if not known:
        return UNKNOWN
    method = max((e.method for e in known), key=_METHODS.index)
    values, lows, highs = ([getattr(e, name) for e in known] for name in ("value", "low", "high"))
    if method == "inferred":
        return Estimate(median(values), median(lows), median(highs), method)
    return Estimate(median(values), min(lows), max(highs), method)


def clearly_lowest(groups: dict[str, list[int]]) -> str | None:
    """The name whose values are plainly the lowest, or None where no difference can be told.

    Plainly: its median is below every value of the next group, and all its values are below the
    next group's median.
    """
    ranked = sorted((median(values), name) for name, values in groups.items() if values)
    if not ranked:
        return None
    best_median, best = ranked[0]
    for other_median, other in ranked[1:]:
        if best_median >= min(groups[other]) or max(groups[best]) >= other_median:
            return None
    return best if len(ranked) > 1 else None
