"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from promptorder.model.comparison import Estimate


def seconds(ns: float | None) -> str:
    """Three significant digits or so: 0.004, 0.17, 6.30, 42.1, 185."""
    if ns is None:
        return "-"
    s = ns / 1e9
    if s < 0.00995:
        return f"{s:.4f}"
    if s < 0.0995:
        return f"{s:.3f}"
    return f"{s:.2f}" if s < 9.995 else f"{s:.1f}" if s < 99.95 else f"{s:.0f}"


def percent(value: float | None) -> str:
    """Shares near 0 and 1 keep a digit more: there it tells tokens apart."""
    if value is None:
        return "?"
    shown = 100 * value
    if 0 < shown < 10 or 90 < shown < 100:
        # 99.96 must not become a round 100: something was read.
        return f"{min(99.9, shown) if shown > 90 else max(0.1, shown):.1f} %"
    return f"{shown:.0f} %"


def band(estimate: Estimate) -> str:
    """Both ends of a share in percent: ``98.6-99.2``, one figure where they agree, ``-`` where unknown."""
    if estimate.low is None or estimate.high is None:
        return "-"
    low, high = (percent(end).removesuffix(" %") for end in (estimate.low, estimate.high))
    return low if low == high else f"{low}-{high}"


def times(first_ns: float | None, later_ns: float | None) -> str:
    """How many times as fast a follow-up is as the first call."""
    if not first_ns or not later_ns:
        return "-"
    return ratio(first_ns / later_ns)


def ratio(value: float | None) -> str:
    """``1.1x``, ``33x``, ``-`` where it is unknown."""
    if value is None:
        return "-"
    return f"{value:.1f}x" if value < 9.95 else f"{value:,.0f}x"


def amount(value: float) -> str:
    """Three significant digits or so of any quantity: 0.004, 1.52, 16.6, 1,240."""
    if value < 0.1:
        return f"{value:.3f}"
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 layout``, ``3 layouts``, ``2,861 tokens``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; there is at least one."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
