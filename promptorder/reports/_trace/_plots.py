"""Lines over requests and over sizes, as figures for a drawing: shares from 0 to 1 upwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from promptorder.model.trace_result import PolicyResult, TraceResult
from promptorder.reports._page import short
from promptorder.reports._trace._words import OBSERVED, about, names_of, share, whole
from promptorder.reports._words import count

MOST_SERIES = 6
"""More lines than these cannot be told apart; tables have them all."""
_HEIGHT, _TOP = 200, 8
"""Pixels."""
_DOTS_UP_TO = 12

_OBSERVED_NUMBER = MOST_SERIES


class _Series(NamedTuple):
    """A line: ``number``, from 1, is its look; points are shares of the width and the height."""

    number: int
    name: str
    points: Sequence[tuple[float, float]]


def over_time(result: TraceResult) -> dict[str, Any] | None:
    """The share of tokens reused along the trace; None where there is nothing to see."""
    rows = [(number, name, each.windows) for number, name, each in _numbered(result) if len(each.windows) > 1]
    observed = result.observed
    # Of some requests only, it would stand at other places than the rest.
    if observed is not None and observed.rates.requests == result.requests and len(observed.windows) > 1:
        rows.insert(0, (_OBSERVED_NUMBER, OBSERVED, observed.windows))
    rows = rows[:MOST_SERIES]
    if not rows:
        return None
    last = max(max(window.first_index for window in windows) for _, _, windows in rows)
    series = [
        _Series(
            number,
            name,
            [(w.first_index / last, w.hit_rate_tokens) for w in windows if w.hit_rate_tokens is not None],
        )
        for number, name, windows in rows
    ]
    firsts = sorted({window.first_index for _, _, windows in rows for window in windows})
    by_first = [{window.first_index: window.hit_rate_tokens for window in windows} for _, _, windows in rows]
    chart = _chart(series, [(0.0, "request 1"), (1.0, f"request {last + 1:,}")])
    return {
        **chart,
        "step": count(rows[0][2][0].requests, "request"),
        "table": [
            {"head": whole(first + 1), "cells": [share(shares.get(first)) for shares in by_first]}
            for first in firsts
        ],
    }


def curve(result: TraceResult) -> dict[str, Any] | None:
    """The share of tokens reused by the size of the cache, on a scale of doublings; None without a curve."""
    policies = [row for row in _numbered(result) if row[2].curve]
    sizes = [point.size_tokens for _, _, policy in policies for point in policy.curve]
    if not sizes:
        return None
    low, high = math.log2(min(sizes)), math.log2(max(sizes))

    def x(size_tokens: int) -> float:
        return (math.log2(size_tokens) - low) / (high - low) if high > low else 0.5

    series = [
        _Series(
            number,
            name,
            [(x(p.size_tokens), p.hit_rate_tokens) for p in each.curve if p.hit_rate_tokens is not None],
        )
        for number, name, each in policies[:MOST_SERIES]
    ]
    ticks = (
        [(0.0, f"{about(min(sizes))} tokens"), (1.0, about(max(sizes)))]
        if high > low
        else [(0.5, about(sizes[0]))]
    )
    return {
        **_chart(series, ticks),
        "table": [
            {
                "head": name,
                "cells": [
                    f"{each.size_option} {whole(point.size)}",
                    whole(point.size_tokens),
                    share(point.hit_rate_tokens),
                ],
            }
            for _, name, each in policies
            for point in each.curve
        ],
    }


def _numbered(result: TraceResult) -> list[tuple[int, str, PolicyResult]]:
    """The policies with the look that each keeps in all charts."""
    return [
        (1 + place % MOST_SERIES, name, policy)
        for place, (name, policy) in enumerate(zip(names_of(result), result.policies, strict=True))
    ]


def _chart(series: Sequence[_Series], ticks: Sequence[tuple[float, str]]) -> dict[str, Any]:
    return {
        "height": _HEIGHT,
        "series": [
            {
                "name": short(each.name, 120),
                "number": each.number,
                "points": " ".join(f"{1000 * px:.1f},{1000 * (1 - py):.1f}" for px, py in each.points),
                "dots": [
                    {"x": f"{100 * px:.2f}", "y": f"{_TOP + _HEIGHT * (1 - py):.1f}"}
                    for px, py in each.points
                    if len(each.points) <= _DOTS_UP_TO
                ],
            }
            for each in series
        ],
        "ticks_y": [
            {"at": _TOP + _HEIGHT * (100 - of_100) // 100, "text": f"{of_100} %"}
            for of_100 in (0, 25, 50, 75, 100)
        ],
        "ticks_x": [
            {
                "at": f"{100 * at:.2f}",
                "text": text,
                "anchor": "start" if at == 0 else "end" if at == 1 else "middle",
            }
            for at, text in ticks
        ],
    }
