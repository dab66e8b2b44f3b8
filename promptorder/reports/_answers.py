"""Answers that were asked again cold: whether reuse changed them."""

from __future__ import annotations

from promptorder.model.comparison import AnswerCheck, Comparison

_BEFORE, _BEHIND = 20, 24
"""Characters of an answer that are shown where it parts from another one."""


def checked_answers(comparison: Comparison) -> tuple[str, ...]:
    """Whether reuse changed an answer, a sentence for each that was asked again cold."""
    return tuple(_checked(check) for check in comparison.answers_checked)


def _checked(check: AnswerCheck) -> str:
    start = f"{check.layout}, question {check.question}"
    if check.failure is not None:
        return f"{start}: the second answer did not come whole ({check.failure}), so nothing was compared."
    reused = f" with {check.reused_tokens:,} tokens reused" if check.reused_tokens is not None else ""
    if check.difference is None:
        return f"{start}: the answer{reused} is the same as the cold one, to the character."
    at = check.difference
    token = f" (token {at.token + 1})" if at.token is not None else ""
    return (
        f"{start}: the answer{reused} is another than the cold one from character {at.character + 1}{token} on: "
        f'"{_around(check.answer, at.character)}", cold "{_around(check.cold_answer, at.character)}".'
    )


def _around(answer: str, character: int) -> str:
    """The words where two answers part, on one line."""
    start, end = max(0, character - _BEFORE), character + _BEHIND
    cut = " ".join(answer[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(answer) else ''}"
