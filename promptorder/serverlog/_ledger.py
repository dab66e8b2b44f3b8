"""The order of prompts: a request is told only when it has ended, but in its place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import datetime

from promptorder.model.serverlog import LogEntry, LoggedRequest, SlotChoice

MOST_WAITING = 2000
"""So many entries wait at most for a request before them to end: one whose end is missing must not hold up all."""


class Draft:
    """A request of which more may be heard."""

    __slots__ = (
        "at",
        "cached_tokens",
        "decode_ns",
        "decode_tokens",
        "dialect",
        "done",
        "line",
        "prefill_ns",
        "prompt_tokens",
        "read_tokens",
        "similarity",
        "slot",
        "slot_tokens",
        "task",
        "why",
    )

    def __init__(self, line: int, dialect: str, slot: int, task: int, at: datetime | None) -> None:
        self.line = line
        self.dialect = dialect
        self.slot = slot
        self.task = task
        self.at = at
        self.prompt_tokens: int | None = None
        self.cached_tokens: int | None = None
        self.read_tokens: int | None = None
        self.slot_tokens: int | None = None
        self.prefill_ns: int | None = None
        self.decode_tokens: int | None = None
        self.decode_ns: int | None = None
        self.why: SlotChoice | None = None
        self.similarity: float | None = None
        self.done = False

    def entry(self) -> LoggedRequest:
        """The request as far as it is known; what follows from the rest is worked out."""
        prompt, cached, read = self.prompt_tokens, self.cached_tokens, self.read_tokens
        derived = False
        if prompt is None and read is not None and cached is not None:
            prompt = cached + read
        elif prompt is None and read is not None and None not in (self.slot_tokens, self.decode_tokens):
            # A slot ends with the prompt and the answer in it, but for the last token: nobody read that one.
            assert self.slot_tokens is not None
            assert self.decode_tokens is not None
            held = self.slot_tokens - max(self.decode_tokens - 1, 0)
            prompt, derived = (held, True) if held >= read else (None, False)
        if cached is None and prompt is not None and read is not None and prompt >= read:
            cached = prompt - read
        return LoggedRequest(
            line=self.line,
            dialect=self.dialect,
            at=self.at,
            slot=self.slot,
            task=self.task,
            prompt_tokens=prompt,
            cached_tokens=cached,
            prefill_ns=self.prefill_ns,
            decode_tokens=self.decode_tokens,
            decode_ns=self.decode_ns,
            why=self.why,
            similarity=self.similarity,
            derived=derived,
        )


class Ledger:
    """Entries in the order in which they began; ``announced`` is when a request came in that no slot has yet."""

    def __init__(self) -> None:
        self.waiting: deque[Draft | LogEntry] = deque()
        self.announced: datetime | None = None

    def add(self, entry: Draft | LogEntry) -> None:
        """Put an entry, or the start of one, behind all others."""
        self.waiting.append(entry)

    def finished(self) -> Iterator[LogEntry]:
        """Take out what stands in front and has ended, or must not wait any longer."""
        waiting = self.waiting
        while waiting:
            first = waiting[0]
            if not isinstance(first, Draft):
                yield first
            elif first.done or len(waiting) > MOST_WAITING:
                yield first.entry()
            else:
                return
            waiting.popleft()

    def rest(self) -> Iterator[LogEntry]:
        """Take out all, ended or not."""
        while self.waiting:
            entry = self.waiting.popleft()
            yield entry.entry() if isinstance(entry, Draft) else entry
