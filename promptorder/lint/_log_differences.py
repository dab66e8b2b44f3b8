"""Differences of a log in words: one for each cause in each session, for the rules and for a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from promptorder.difference.changes import Change
from promptorder.lint._earlier import Earlier, Group
from promptorder.model.lint import Hit

_SHOWN = 4000
_SEVERITIES = dict.fromkeys(("date", "question", "memory", "text", "session"), "warning")
"""What changes seldom, or may be meant, is no error."""
_CHANGES = {"date": "day", "environment": "checkout", "session": "session"}


class Difference(NamedTuple):
    """One cause in one session: what the first request that lost by it says. ``line`` counts from 1.

    ``start`` and ``end`` are offsets in the line, ``offset`` is where the line begins in the file, -1 in a stream.
    """

    cause: str
    line: int
    offset: int
    start: int
    end: int
    message: str
    severity: str
    changes: str
    lost_tokens: int
    occurrences: int
    earlier_line: int
    earlier_offset: int
    line_text: str

    @property
    def could_reuse(self) -> str:
        """What is to be said of the earlier line."""
        return f"about {self.lost_tokens:,} tokens of this request could have been reused"


class Log(NamedTuple):
    """The differences of a log by cause, as the rules for logs ask for them."""

    by_cause: dict[str, list[Difference]]

    def hits(self, cause: str) -> Iterator[Hit]:
        """What a rule reports."""
        for each in self.by_cause.get(cause, ()):
            place, earlier = each.offset + each.start, each.earlier_offset
            yield Hit(
                place,
                each.offset + each.end,
                0,
                0,
                each.changes,
                message=each.message,
                severity=each.severity,
                worth=0,
                occurrences=each.occurrences,
                related=((earlier, earlier + 1, each.could_reuse),),
                stranded_tokens=each.lost_tokens,
            )


class Record:
    """A cause in a group: the first change by it, and how many came after it."""

    __slots__ = ("change", "count", "group", "others", "place", "text", "where")

    def __init__(self, change: Change, now: Earlier, was: Earlier, raw: str) -> None:
        self.change = change
        self.group: Group = now.group
        self.where = (now.line, now.offset, was.line, was.offset)
        text = now.parts[change.part].text if 0 <= change.part < len(now.parts) else ""
        self.place = _locate(raw, text, change.start, change.end)
        self.text = raw[:_SHOWN]
        self.count, self.others = 1, 0

    def difference(self) -> Difference:
        """The record in words."""
        change = self.change
        line, offset, earlier_line, earlier_offset = self.where
        tokens = change.lost // 4
        amount = f"about {tokens:,} tokens" if tokens else "what comes behind it"
        message = f"{change.what}: {amount} that line {earlier_line} had sent {'are' if tokens else 'is'} read again"
        if change.history:
            message += ", turns of the chat among them"
        if self.others:
            message += f"; so in {self.others} more sessions"
        # What is deliberate happens once; what a program does comes again and again.
        seldom = change.weak and (self.count < 2 or 2 * self.count < self.group.requests - 1)
        severity = "info" if change.note or seldom else _SEVERITIES.get(change.kind, "")
        changes = _CHANGES.get(change.kind, "")
        return Difference(
            change.cause, line, offset, *self.place, message, severity, changes, tokens, self.count, earlier_line,
            earlier_offset, self.text,
        )  # fmt: skip


def _locate(raw: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Where a place in a part's text stands in the line; its first character where it is not found."""
    import json

    if not raw or not text:
        return 0, 1
    for ascii_only in (False, True):
        before, word = (
            json.dumps(piece, ensure_ascii=ascii_only)[1:-1]
            for piece in (text[max(0, start - 24) : start], text[start:end])
        )
        at = raw.find(before + word)
        if at >= 0:
            return at + len(before), at + len(before) + max(1, len(word))
    return 0, 1
