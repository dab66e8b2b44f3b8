"""Numbers as people read them."""

from __future__ import annotations

import math


def size(number: int) -> str:
    """Bytes as ``98 MB`` or ``4.7 GB``."""
    if number < 1e9:
        return f"{max(1, round(number / 1e6)):,} MB"
    return f"{number / 1e9:.1f} GB"


def lasting(seconds: float) -> str:
    """``5 min``, ``for ever``."""
    if math.isinf(seconds):
        return "for ever"
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def listed(names: tuple[str, ...], most: int = 4) -> str:
    """Names with commas; the rest of many as a number."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
