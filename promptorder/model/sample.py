"""What one call to an engine gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


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
    CONTROL = "control"
    """No layout's: one start with different ends, to see what this server and model can reuse at all."""
    CHECK = "check"
    """A follow-up asked again cold, to compare the answers."""


ControlKind = Literal["long", "short", "other-tail", "repeat", "between", "back"]
"""In the order of the calls: a start with a long tail; with a short one; with another; the same again;
another text; and the start with a third short tail."""


@dataclass(frozen=True, slots=True)
class Control:
    """Which control call a sample is. ``shared_characters`` is how much of its start stood at that of an earlier one."""

    kind: ControlKind
    characters: int
    shared_characters: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two answers part, counted from 0: the character, and the token where the engine's pieces tell it."""

    character: int
    token: int | None


@dataclass(frozen=True, slots=True)
class Check:
    """What asking again cold came to: the answers' first difference, None where they are the same."""

    difference: Difference | None


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
    pieces: tuple[str, ...] | None = field(default=None, repr=False)
    """The answer as it came, a piece a token where the engine sends them singly; not kept in files."""

    @property
    def waited_ns(self) -> int | None:
        """What is left of the engine's total beside loading, prefill and decode; None where a part is not known."""
        total, load, prefill, decode = self.total_ns, self.load_ns, self.prefill_ns, self.decode_ns
        if total is None or load is None or prefill is None or decode is None:
            return None
        return max(0, total - load - prefill - decode)


@dataclass(frozen=True, slots=True)
class Sample:
    """One call of a run.

    ``block`` is (layout, repeat); ``question`` and ``repeat`` count from 1. ``started_at`` is ISO 8601
    in UTC. Exactly one of ``reply`` and ``failure`` is set. A control call belongs to no layout: its
    ``layout`` is empty, its ``question`` its number. ``control`` and ``check`` are set in their phases alone.
    """

    layout: str
    repeat: int
    question: int
    phase: Phase
    prompt_sha256: str
    started_at: str
    reply: Reply | None = None
    failure: str | None = None
    control: Control | None = None
    check: Check | None = None

    @property
    def block(self) -> tuple[str, int]:
        """The unit that is measured, and resumed, as a whole."""
        return (self.layout, self.repeat)
