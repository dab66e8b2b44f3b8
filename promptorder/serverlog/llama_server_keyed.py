"""llama-server before autumn 2024, Ollama before 0.4, and ik_llama.cpp: a message and named values.

A line is ``INFO [  update_slots] kv cache rm [p0, end) | tid="..." timestamp=... id_slot=0 id_task=7 p0=29`` or the same as a
JSON object. The first ``p0`` of a task is what was kept, the later ones are its batches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from promptorder.serverlog._ledger import Draft, Ledger
from promptorder.serverlog._lines import PREFIX, plain

SUMMARY = "llama-server before autumn 2024, Ollama before 0.4, ik_llama.cpp"
_NAME = "llama-server-keyed"

_TRIGGERS = ("slot is processing task", "kv cache rm [p0", "eval time ", "slot released")
_TEXT = re.compile(PREFIX + r"[A-Z]{4,7} +\[\s*\w+\] (?P<msg>[^|]*?) +\| (?P<rest>.*)", re.DOTALL)
_JSON = re.compile(PREFIX + r"(?P<object>\{.*\})\s*", re.DOTALL)
_PAIR = re.compile(r'(\w+)=(?:"[^"]*"|([-\w.]+))')


def recognise(lines: Sequence[str]) -> float:
    """Sure where a slot speaks."""
    return 1.0 if any(_parse(line) for line in lines if any(t in line for t in _TRIGGERS)) else 0.0


def _parse(line: str) -> tuple[str, Mapping[str, Any]] | None:
    line = plain(line)
    if found := _TEXT.match(line):
        return found["msg"], {key: value for key, value in _PAIR.findall(found["rest"]) if value}
    if not (found := _JSON.match(line)):
        return None
    try:
        values = json.loads(found["object"])
    except (ValueError, RecursionError):
        return None
    message = values.get("msg", values.get("message"))
    return (message, values) if isinstance(message, str) else None


def _number(values: Mapping[str, Any], *keys: str) -> float | None:
    for key in keys:
        value = values.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            try:
                number = float(value)
            except (ValueError, OverflowError):
                continue
            if 0 <= number < 1e12:
                return number
    return None


def _whole(values: Mapping[str, Any], *keys: str) -> int | None:
    number = _number(values, *keys)
    return None if number is None else int(number)


class Reader:
    """Requests are kept apart by slot and task."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[tuple[int, int], Draft] = {}

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        if "slot_id" not in line and "id_slot" not in line:
            return
        if not any(trigger in line for trigger in _TRIGGERS):
            return
        parsed = _parse(line)
        if parsed is None:
            return
        message, values = parsed
        slot, task = _whole(values, "id_slot", "slot_id"), _whole(values, "id_task", "task_id")
        if slot is None or task is None:
            return
        if message.startswith("slot is processing task"):
            self._begin(number, (slot, task), values)
        elif (draft := self._open.get((slot, task))) is not None:
            for opening, tell in self._TELLING.items():
                if message.startswith(opening):
                    tell(draft, values)
            if draft.done:
                del self._open[slot, task]

    def _begin(self, number: int, key: tuple[int, int], values: Mapping[str, Any]) -> None:
        if (before := self._open.pop(key, None)) is not None:
            before.done = True
        seconds = _number(values, "timestamp")
        at = None if not seconds or seconds > 4e9 else datetime.fromtimestamp(seconds, UTC)
        draft = self._open[key] = Draft(number, _NAME, *key, at)
        self._ledger.add(draft)
        if len(self._open) > 5000:
            self._open.pop(next(iter(self._open))).done = True

    @staticmethod
    def _kept(draft: Draft, values: Mapping[str, Any]) -> None:
        if draft.cached_tokens is None:
            draft.cached_tokens = _whole(values, "p0")

    @staticmethod
    def _prefill(draft: Draft, values: Mapping[str, Any]) -> None:
        milliseconds = _number(values, "t_prompt_processing")
        draft.prefill_ns = None if milliseconds is None else round(milliseconds * 1e6)
        draft.read_tokens = _whole(values, "n_prompt_tokens_processed", "num_prompt_tokens_processed")

    @staticmethod
    def _decode(draft: Draft, values: Mapping[str, Any]) -> None:
        milliseconds = _number(values, "t_token_generation")
        draft.decode_ns = None if milliseconds is None else round(milliseconds * 1e6)
        draft.decode_tokens = _whole(values, "n_decoded")

    @staticmethod
    def _released(draft: Draft, values: Mapping[str, Any]) -> None:
        draft.done = True

    _TELLING: ClassVar[dict[str, Callable[[Draft, Mapping[str, Any]], None]]] = {
        "kv cache rm": _kept,
        "prompt eval time": _prefill,
        "generation eval time": _decode,
        "slot released": _released,
    }
