"""Ollama's MLX runner, 0.16 and later: total, matched, cached and left tokens of each prompt, at info level.

Its first versions wrote ``Cache hit`` and ``Cache miss`` with fewer values, the later ones both in small letters.
"""

from __future__ import annotations

from collections.abc import Sequence

from promptorder.model.serverlog import CacheChange, LoggedChange, LoggedRequest
from promptorder.serverlog import _slog
from promptorder.serverlog._ledger import Ledger
from promptorder.serverlog._lines import stamp

SUMMARY = "Ollama's MLX runner"
_NAME = "mlx"

_TRIGGERS = (
    'msg="cache hit"',
    'msg="cache miss"',
    'msg="Cache hit"',
    'msg="Cache miss"',
    "freeing all caches",
)
_SIGNS = (*_TRIGGERS, 'msg="MLX engine initialized"', 'msg="starting mlx runner subprocess"')


def recognise(lines: Sequence[str]) -> float:
    """Sure where the engine starts or a prompt meets the cache."""
    return 1.0 if any(sign in line and _slog.parse(line) for line in lines for sign in _SIGNS) else 0.0


class Reader:
    """One line tells all of a request; its times are not in the log."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        parsed = _slog.parse_any(line, _TRIGGERS)
        if parsed is None:
            return
        message, values = parsed
        if message.endswith("freeing all caches"):
            self._ledger.add(LoggedChange(number, _NAME, CacheChange.SLOT_CLEARED, stamp(line)))
        elif message.lower() in ("cache hit", "cache miss"):
            self._request(number, line, values)

    def _request(self, number: int, line: str, values: dict[str, str]) -> None:
        left = _slog.whole(values, "left")
        if left is None:
            return
        # The first versions named neither on a miss, when all was left to read.
        cached = _slog.whole(values, "cached") or 0
        total = _slog.whole(values, "total")
        prompt = cached + left if total is None else total
        if cached > prompt:
            return
        if values.get("reason"):
            self._ledger.add(LoggedChange(number, _NAME, CacheChange.NO_CACHE_DATA, stamp(line)))
        self._ledger.add(
            LoggedRequest(number, _NAME, stamp(line), prompt_tokens=prompt, cached_tokens=cached)
        )
