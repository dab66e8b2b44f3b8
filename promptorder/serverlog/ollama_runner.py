"""Ollama's own runners, 0.4 to 0.24: what a slot held and a prompt used of it. At debug level only."""

from __future__ import annotations

from collections.abc import Sequence

from promptorder.model.serverlog import CacheChange, LoggedChange, LoggedRequest, SlotChoice
from promptorder.serverlog import _slog
from promptorder.serverlog._ledger import Ledger
from promptorder.serverlog._lines import stamp

SUMMARY = "Ollama 0.4 to 0.24 with OLLAMA_DEBUG=1: its own runners"
_NAME = "ollama-runner"

_LOADING = "loading cache slot"
_FORKING = "forking cache slot"
_EVICTING = "evicting cache slot"
_SHIFTING = "context limit hit - shifting"
_CANNOT_SHIFT = ("kv cache removal unsupported", "kv cache removal not supported", "kv cache cannot shift")
_TRIGGERS = (' cache slot"', 'msg="context limit hit', 'msg="kv cache ')
_SIGNS = ('msg="starting go runner"', 'msg="starting ollama engine"', f'msg="{_LOADING}"')


def recognise(lines: Sequence[str]) -> float:
    """Sure where a runner starts or a slot is loaded."""
    found = any(sign in line and _slog.parse(line) for line in lines for sign in _SIGNS)
    return 0.9 if found else 0.0


class Reader:
    """One line tells all of a request; its times are not in the log."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._forked: int | None = None

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        parsed = _slog.parse_any(line, _TRIGGERS)
        if parsed is None:
            return
        message, values = parsed
        if message == _LOADING:
            self._loading(number, line, values)
        elif message == _FORKING:
            self._forked = _slog.whole(values, "dst")
        elif message == _EVICTING:
            self._change(number, line, CacheChange.SLOT_EVICTED, values, "inputs")
        elif message == _SHIFTING:
            self._change(number, line, CacheChange.CONTEXT_SHIFT, values, "discard")
        elif message.startswith(_CANNOT_SHIFT):
            self._change(number, line, CacheChange.SLOT_CLEARED, values, "")

    def _loading(self, number: int, line: str, values: dict[str, str]) -> None:
        slot, prompt, used = (_slog.whole(values, key) for key in ("id", "prompt", "used"))
        if slot is None or prompt is None or used is None or used > prompt:
            return
        why = SlotChoice.FORK if self._forked == slot else None
        self._forked = None
        self._ledger.add(
            LoggedRequest(
                number, _NAME, stamp(line), slot=slot, prompt_tokens=prompt, cached_tokens=used, why=why
            )
        )

    def _change(
        self, number: int, line: str, change: CacheChange, values: dict[str, str], tokens: str
    ) -> None:
        slot, many = _slog.whole(values, "id"), _slog.whole(values, tokens)
        self._ledger.add(LoggedChange(number, _NAME, change, stamp(line), slot=slot, tokens=many))
