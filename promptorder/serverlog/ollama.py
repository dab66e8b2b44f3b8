"""Ollama's own lines, whichever engine it runs: loading, unloading, cut prompts. They hold no prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from promptorder.model.serverlog import CacheChange, LoggedChange
from promptorder.serverlog import _slog
from promptorder.serverlog._ledger import Ledger
from promptorder.serverlog._lines import PREFIX, stamp

SUMMARY = "Ollama: loading, unloading and cut prompts, whichever engine runs"
_NAME = "ollama"

_CHANGES = {
    # That a llama-server is loaded it says itself.
    "starting llama server": CacheChange.LOADED,
    "starting runner": CacheChange.LOADED,
    "starting mlx runner subprocess": CacheChange.LOADED,
    "llama-server stopped": CacheChange.UNLOADED,
    "llama server stopped": CacheChange.UNLOADED,
    "stopping mlx runner subprocess": CacheChange.UNLOADED,
}
_CUT = "truncating input prompt"
_CAME = "llama-server completion request"
_TRIGGERS = ('msg="starting ', ' stopped"', 'msg="stopping mlx', f'msg="{_CUT}"', f'msg="{_CAME}"')
_OWN_LINE = re.compile(PREFIX + r"time=\S+ level=\w+ source=[\w.]+\.go:\d+ msg=")


def recognise(lines: Sequence[str]) -> float:
    """Half sure: the engine's lines, if there are any, say more."""
    return 0.5 if any("source=" in line and _OWN_LINE.match(line) for line in lines) else 0.0


class Reader:
    """Changes of the caches, and when a request came in."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        parsed = _slog.parse_any(line, _TRIGGERS)
        if parsed is None:
            return
        message, values = parsed
        if message == _CAME:
            self._ledger.announced = stamp(line)
        elif message == _CUT:
            left = _slog.whole(values, "new")
            self._ledger.add(LoggedChange(number, _NAME, CacheChange.TRUNCATED, stamp(line), tokens=left))
        elif change := _CHANGES.get(message):
            self._ledger.add(LoggedChange(number, _NAME, change, stamp(line)))
