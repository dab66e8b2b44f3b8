"""What stands behind a value that changes, and so loses its reuse; summed up once a prompt, however many values it has."""

from __future__ import annotations

from typing import NamedTuple

from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC, Prompt, Segment

DOCUMENT_TOKENS = 200
"""What a document behind a question is taken to have at least: its placeholder does not tell."""
STATIC_PART_TOKENS = 60
"""What an included file, or a placeholder for rules or tools, is taken to have at least."""


class Stranded(NamedTuple):
    """What stands behind a value that changes: its size, whether a chat history is in it, where its text is."""

    tokens: int
    history: bool
    start: int
    end: int


_NOTHING = Stranded(0, False, -1, -1)


class Behind:
    """A prompt, asked for what stands behind the places in it."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        segments = prompt.segments
        roles = [segment.role for segment in segments]
        self._last_other = max((i for i, role in enumerate(roles) if role != "user"), default=-1)
        self._first_turn = next(
            (i for i, role in enumerate(roles) if role in ("system", "assistant", "history")), len(roles)
        )
        self._from = [_NOTHING] * (len(segments) + 1)
        for index in range(len(segments) - 1, -1, -1):
            self._from[index] = _sum(self._of_segment(index), self._from[index + 1])

    def at(self, segment: int, after: int) -> Stranded:
        """Static text behind ``after`` in a segment and in all later ones; a log has none of its own."""
        if segment >= len(self.prompt.segments):
            return _NOTHING
        own = self.prompt.segments[segment]
        later = self._from[segment + 1]
        return _sum(_static(own, after), later) if own.origin == STATIC else later

    def _of_segment(self, index: int) -> Stranded:
        """What one segment adds where it stands behind a value."""
        each = self.prompt.segments[index]
        history = each.role in ("history", "assistant")
        if each.origin == STATIC:
            # The last message of a chat is the new one: nobody can have read it before.
            found = _NOTHING if self._is_new_turn(index) else _static(each, 0)
            return found._replace(history=history)
        kind = each.kind or kind_of_name(each.name)
        by_name = kind_of_name(each.name)
        if "scratchpad" in each.name.lower():
            return _NOTHING  # the steps of the present turn, which rightly come last
        if by_name in ("document-first", "history"):
            return Stranded(DOCUMENT_TOKENS, history or by_name == "history", each.start, each.end)
        if kind == "static-part":
            return Stranded(STATIC_PART_TOKENS, history, each.start, each.end)
        return _NOTHING._replace(history=history)

    def _is_new_turn(self, index: int) -> bool:
        """Whether a segment belongs to the last user message of a prompt that is divided into messages."""
        segment = self.prompt.segments[index]
        # What a program says as a constant is in each turn again, so it has been read before.
        if segment.role != "user" or segment.kind == "fixed":
            return False
        return index > self._last_other and self._first_turn < index


def estimate_tokens(text: str) -> int:
    """About a token for four bytes of UTF-8: English has 4 to 4.5, Chinese and Japanese 3 to 4."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _static(segment: Segment, begin: int) -> Stranded:
    text = segment.text[begin:]
    stripped = text.lstrip()
    if not stripped:
        return _NOTHING
    start = segment.place(begin + len(text) - len(stripped))
    end = segment.place(len(segment.text.rstrip()) - 1) + 1
    return Stranded(estimate_tokens(text), False, start, end)


def _sum(first: Stranded, later: Stranded) -> Stranded:
    return Stranded(
        first.tokens + later.tokens,
        first.history or later.history,
        first.start if first.start >= 0 else later.start,
        max(first.end, later.end),
    )
