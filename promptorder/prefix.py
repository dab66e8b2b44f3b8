"""The start that two texts share: what a server can reuse of a prompt. Pure."""

from __future__ import annotations

from typing import Any, TypeVar

_Sliced = TypeVar("_Sliced", str, bytes, list[Any])


def common_start(a: _Sliced, b: _Sliced) -> int:
    """How many characters (bytes, items) two texts share from their start; slices are compared, far faster than a loop."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    step = 64
    while low + step < high and a[low : low + step] == b[low : low + step]:
        low += step
        step *= 2
    high = min(high, low + step)
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
