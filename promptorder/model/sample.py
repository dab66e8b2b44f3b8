"""What one call to an engine gave."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Why a call was made."""

    LOAD = "load"
    """Loads the model; not measured."""
    FIRST = "first"
    """The first question of a block: nothing of its prompt was read before."""
    FOLLOW_UP = "follow-up"
    """A later question of the block: what the layout is judged by."""
    WARM_REPEAT = "warm-repeat"
    """The last prompt once more, unchanged: how fast a call is when all can be reused."""
    CALIBRATION = "calibration"
    """The last prompt with another end: a call of known reuse, where the engine does not count."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An engine's answer and its own figures; what it did not tell is None, never 0.

    ``prompt_tokens`` is the whole prompt, ``cached_tokens`` the part of it that was not read again,
    ``read_tokens`` the part that was, for engines that count only this. ``prefill_ns``, ``decode_ns``,
    ``load_ns`` and ``total_ns`` are the engine's; ``first_token_ns`` and ``elapsed_ns`` are the client's.
    """

    answer: str
    thinking: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    read_tokens: int | None = None
    output_tokens: int | None = None
    prefill_ns: int | None = None
    decode_ns: int | None = None
    load_ns: int | None = None
    total_ns: int | None = None
    first_token_ns: int | None = None
    elapsed_ns: int | None = None
    done_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One call of a run.

    ``block`` is (layout, repeat); ``question`` and ``repeat`` count from 1. ``started_at`` is ISO 8601
    in UTC. Exactly one of ``reply`` and ``failure`` is set.
    """

    layout: str
    repeat: int
    question: int
    phase: Phase
    prompt_sha256: str
    started_at: str
    reply: Reply | None = None
    failure: str | None = None

    @property
    def block(self) -> tuple[str, int]:
        """The unit that is measured, and resumed, as a whole."""
        return (self.layout, self.repeat)
