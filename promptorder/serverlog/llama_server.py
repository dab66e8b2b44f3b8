"""llama-server of llama.cpp, alone or inside Ollama 0.30 and later, from the builds of autumn 2024 on.

A line reads ``slot <function>: id <slot> | task <task> | <message>``. A prompt begins with ``processing task`` and
``new prompt, ... n_tokens``; the first ``memory_seq_rm`` (once ``kv cache rm``) after it tells what was kept, the later ones are its
batches; ``prompt eval time`` counts what was read; ``stop processing`` ends it. Newer builds write only the outer ones
of these below ``-lv 4``: then the prompt is what the slot held at the end without the answer, as long as nothing was shifted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar

from promptorder.model.serverlog import CacheChange, LoggedChange, SlotChoice
from promptorder.serverlog._ledger import Draft, Ledger
from promptorder.serverlog._lines import PREFIX, plain, stamp

SUMMARY = "llama-server, alone or inside Ollama 0.30 and later"
_NAME = "llama-server"

_CLOCK = r"\d+\.\d\d\.\d{3}\.\d{3}\s+"
_OWN_PREFIX = rf"(?:{_CLOCK})?(?:[IWED] )?"
_SLOT = re.compile(PREFIX + _OWN_PREFIX + r"slot\s+\S+\s+id\s+(\d{1,6})")
# Two threads may write into one line; but a prompt in a debug line, which can hold anything, is quoted JSON.
_GLUED_SLOT = re.compile(rf'[^"{{]{{0,200}}?{_CLOCK}[IWED] slot\s+\S+\s+id\s+(\d{{1,6}})')
_SERVER = re.compile(PREFIX + _OWN_PREFIX + r"srv\s+\S+?:\s+(?:- )?(.*)", re.DOTALL)
_TIMES = re.compile(PREFIX + _OWN_PREFIX + r"\s*((?:prompt )?eval time\s+=.*)", re.DOTALL)

_MOST_OPEN = 5000
"""Requests of which no end was seen; beyond so many the eldest is given up."""

_NEW_PROMPT = re.compile(r"new prompt, .*\bn(?:_prompt)?_tokens = (\d{1,11})")
_KEPT = re.compile(r"(?:n_tokens|n_past) = (\d{1,11}), memory_seq_rm \[|kv cache rm \[(\d{1,11}), end\)")
_TIMING = re.compile(r"(prompt )?eval time\s+=\s+(\d{1,12}(?:\.\d+)?) ms /\s+(\d{1,11}) (?:tokens|runs)")
_RELEASED = re.compile(r"stop processing: n_(?:tokens|past) = (\d{1,11}), truncated = (\d)")
_SIMILARITY = re.compile(r"(?:sim_best|similarity) = (\d\.\d+)")
_N_TOKENS = re.compile(r"n_tokens = (\d{1,11})")
_DISCARDED = re.compile(r"n_discard = (\d{1,11})")
_CHUNK = re.compile(r"size (\d{1,11})")
_CUT = re.compile(r"n_prompt_tokens = (\d{1,11})")
_CLEARED = re.compile(r"with (\d{1,11}) tokens")

_SIGNS = re.compile(
    PREFIX
    + _OWN_PREFIX
    + r"(?:build: \d+ \([0-9a-f]+\)|srv\s+\S+?: |slot\s+\S+\s+id\s+\d+ \||main: server is listening)"
)


def recognise(lines: Sequence[str]) -> float:
    """Sure where a slot or the server itself speaks."""
    return 0.95 if any(_SIGNS.match(plain(line)) for line in lines) else 0.0


class Reader:
    """Requests are kept apart by slot and task, so they may run side by side."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[tuple[int, int], Draft] = {}
        self._late: set[tuple[int, int]] = set()
        self._children: set[tuple[int, int]] = set()
        self._chosen: dict[int, tuple[SlotChoice, float | None]] = {}
        self._last_chosen: int | None = None
        self._timed: tuple[int, int] | None = None

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        if " | task " in line:
            self._slot_line(number, line)
        elif "eval time" in line:
            if self._timed is not None and (times := _TIMES.match(plain(line))):
                self._timing(number, line, self._timed, times[1])
        elif "srv " in line:
            self._server_line(number, line)

    def _slot_line(self, number: int, line: str) -> None:
        head, _, rest = line.partition(" | task ")
        task, _, message = rest.partition(" |")
        message = message.strip()
        handler = self._HANDLERS.get(message[:8])
        if handler is None:
            # Older builds write the times of a task below such a line.
            if not message and "print_timing" in head:
                self._timed = self._key(head, task)
            return
        key = self._key(head, task)
        if key is not None:
            handler(self, number, line, key, message)

    def _key(self, head: str, task: str) -> tuple[int, int] | None:
        head = plain(head)
        found = _SLOT.fullmatch(head) or _GLUED_SLOT.fullmatch(head)
        digits = task.removeprefix("-")
        if found is None or not (digits.isascii() and digits.isdigit() and len(digits) < 12):
            return None
        return int(found[1]), int(task)

    def _selected(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        slot = key[0]
        if "by lcp similarity" in message or "by LCP similarity" in message:
            found = _SIMILARITY.search(message)
            self._chosen[slot] = SlotChoice.LCP_SIMILARITY, float(found[1]) if found else None
        elif "by LRU" in message or "by lru" in message:
            self._chosen[slot] = SlotChoice.LRU, None
        elif "by id" in message:
            self._chosen[slot] = SlotChoice.BY_ID, None
        else:
            return
        self._last_chosen = slot

    def _processing(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        if not message.startswith("processing task"):
            return
        if message.endswith("is_child = 1"):  # it copies its parent's slot and reads nothing
            if len(self._children) > _MOST_OPEN:
                self._children.clear()
            self._children.add(key)
            return
        self._children.discard(key)
        self._begin(number, line, key)

    def _new_prompt(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        found = _NEW_PROMPT.match(message)
        if found is None or key in self._children:
            return
        draft = self._open.get(key)
        if draft is None or draft.prompt_tokens is not None:
            draft = self._begin(number, line, key)
        draft.prompt_tokens = int(found[1])

    def _begin(self, number: int, line: str, key: tuple[int, int]) -> Draft:
        while self._late:
            self._end(self._late.pop())
        if (before := self._open.pop(key, None)) is not None:
            before.done = True  # the numbers began anew: another process, or its end is not in the log
        draft = self._open[key] = Draft(number, _NAME, *key, self._when(line))
        draft.why, draft.similarity = self._chosen.pop(key[0], (None, None))
        self._ledger.add(draft)
        if len(self._open) > _MOST_OPEN:
            self._end(next(iter(self._open)))
        return draft

    def _when(self, line: str) -> datetime | None:
        announced, self._ledger.announced = self._ledger.announced, None
        return stamp(line) or announced

    def _kept(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        draft, found = self._open.get(key), _KEPT.search(message)
        if draft is not None and found is not None and draft.cached_tokens is None:
            draft.cached_tokens = int(found[1] or found[2])

    def _failed(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        if message.startswith("failed to truncate tokens"):
            if (draft := self._open.get(key)) is not None:
                draft.cached_tokens = 0
            self._change(number, line, CacheChange.SLOT_CLEARED, key)

    def _timing(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        draft, found = self._open.get(key), _TIMING.match(message)
        if draft is None or found is None:
            return
        nanoseconds, tokens = round(float(found[2]) * 1e6), int(found[3])
        if found[1]:
            draft.prefill_ns, draft.read_tokens = nanoseconds, tokens
        else:
            draft.decode_ns, draft.decode_tokens = nanoseconds, tokens
            self._timed = None
            if key in self._late:
                self._late.discard(key)
                self._end(key)

    def _released(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        draft, found = self._open.get(key), _RELEASED.match(message)
        self._children.discard(key)
        if draft is None:
            return
        if found is not None and found[2] == "0":
            draft.slot_tokens = int(found[1])
        if draft.prefill_ns is None:
            self._late.add(key)  # older builds write the times behind this line
        else:
            self._end(key)

    def _end(self, key: tuple[int, int]) -> None:
        self._open.pop(key).done = True

    def _shifted(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        self._change(number, line, CacheChange.CONTEXT_SHIFT, key, _DISCARDED.search(message))

    def _no_data(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        if message.startswith("forcing full prompt re-processing"):
            self._change(number, line, CacheChange.NO_CACHE_DATA, key)

    def _restored(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        if "checkpoint" in message:
            self._change(number, line, CacheChange.CHECKPOINT_RESTORED, key, _N_TOKENS.search(message))

    def _erased(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        if "context checkpoint" in message:
            self._change(number, line, CacheChange.CHECKPOINT_ERASED, key, _N_TOKENS.search(message))

    def _reused(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        if message.startswith("reusing chunk"):
            self._change(number, line, CacheChange.CHUNK_REUSED, key, _CHUNK.search(message))

    def _clearing(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        self._change(number, line, CacheChange.SLOT_CLEARED, key, _CLEARED.search(message))

    def _input_cut(self, number: int, line: str, key: tuple[int, int], message: str) -> None:
        if message.startswith("input truncated"):
            found = _CUT.search(message)
            if found is not None and (draft := self._open.get(key)) is not None:
                draft.prompt_tokens = int(found[1])
            self._change(number, line, CacheChange.TRUNCATED, key, found)

    def _change(
        self,
        number: int,
        line: str,
        change: CacheChange,
        key: tuple[int, int] | None = None,
        tokens: re.Match[str] | None = None,
    ) -> None:
        slot, task = key if key is not None else (None, None)
        many = int(tokens[1]) if tokens else None
        self._ledger.add(
            LoggedChange(number, _NAME, change, stamp(line), slot, task if task != -1 else None, many)
        )

    def _server_line(self, number: int, line: str) -> None:
        found = _SERVER.match(plain(line))
        if found is None:
            return
        message = found[1]
        if message.startswith("found better prompt") and self._last_chosen is not None:
            self._chosen[self._last_chosen] = SlotChoice.HOST_CACHE, None
        elif message.startswith(("initializing, n_slots", "initializing slots, n_slots")):
            self._change(number, line, CacheChange.LOADED)
        elif "removing oldest entry" in message:
            self._change(number, line, CacheChange.HOST_CACHE_EVICTED)
        elif "exceeds cache size limit" in message:
            self._change(number, line, CacheChange.HOST_CACHE_SKIPPED)
        elif message.startswith("purging slot "):
            slot = re.match(r"purging slot (\d{1,6}) ", message)
            key = (int(slot[1]), -1) if slot else None
            self._change(number, line, CacheChange.SLOT_CLEARED, key, _CLEARED.search(message))
        elif "cleaning up before exit" in message:
            self._change(number, line, CacheChange.UNLOADED)

    _HANDLERS: ClassVar[dict[str, Callable[[Reader, int, str, tuple[int, int], str], None]]] = {
        "selected": _selected,
        "processi": _processing,
        "new prom": _new_prompt,
        "cached n": _kept,
        "n_tokens": _kept,
        "n_past =": _kept,
        "kv cache": _kept,
        "failed t": _failed,
        "prompt e": _timing,
        "eval tim": _timing,
        "stop pro": _released,
        "slot con": _shifted,
        "forcing ": _no_data,
        "restored": _restored,
        "erased i": _erased,
        "erasing ": _erased,
        "reusing ": _reused,
        "clearing": _clearing,
        "input tr": _input_cut,
    }
    """By the first eight letters of a message: most lines need no more of a look than this."""
