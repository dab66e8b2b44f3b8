"""What ``promptorder diff`` says of two prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["counted", "estimated"]
"""Counted by the model's own tokenizer on the text that it reads, or estimated."""

Relation = Literal["same", "differs", "appended", "shortened"]


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """Where two prompts part.

    ``path`` leads to the value in a request's body (``$.messages[0].content``), None in a text. ``line`` and ``column``
    count from 1 in that value, in code points. ``a`` and ``b`` are the words there, empty where one ends. ``kind`` is one
    of ``promptorder.difference.kinds``, ``what`` the same in words.
    ``a_line`` and ``b_line`` are the lines around the place and ``offset`` is where in both it stands.
    """

    path: str | None
    line: int
    column: int
    a: str
    b: str
    kind: str
    what: str
    a_line: str = ""
    b_line: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class LostBlock:
    """Something behind the difference that both prompts hold: it had been read and is read again.

    ``line`` and ``end_line`` are places in the value at ``path`` of the later prompt; ``begins`` are its first words.
    """

    what: str
    path: str | None
    line: int
    end_line: int
    tokens: int
    begins: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change of order that was tried on both prompts; ``shared_tokens`` is what they would share then.

    ``action`` is ``move`` (``block`` behind ``behind``), ``sort`` (tools or keys) or ``keep`` (write it the same way).
    """

    action: Literal["move", "sort", "keep"]
    text: str
    block: str
    behind: str | None
    shared_tokens: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two prompts side by side.

    ``shared_tokens`` is the start that both have. ``first_difference`` is None where neither says anything else than the
    other; ``relation`` tells then whether the one goes on where the other ends. ``other_cache`` is what keeps a server from
    reusing anything of ``a`` for ``b``: another model, adapter, cache key, or options with which it is loaded again.
    ``rendering`` says how requests became texts. ``lost_tokens`` are those of ``lost``.
    """

    a: str
    b: str
    shared_tokens: int
    a_tokens: int
    b_tokens: int
    tokenizer: str
    method: Method
    rendering: str
    relation: Relation
    first_difference: FirstDifference | None
    other_cache: FirstDifference | None = None
    lost: tuple[LostBlock, ...] = ()
    lost_tokens: int = 0
    suggestion: Suggestion | None = None
    advice: str = ""
    notes: tuple[str, ...] = ()

    @property
    def percent(self) -> float:
        """The shared start, of ``b``."""
        return 100.0 * self.shared_tokens / self.b_tokens if self.b_tokens else 100.0

    @property
    def reusable_tokens(self) -> int:
        """What a server can reuse of ``b`` after ``a``."""
        return 0 if self.other_cache is not None else self.shared_tokens


@dataclass(frozen=True, slots=True)
class Diff:
    """The consecutive pairs of the prompts that were given."""

    pairs: tuple[Pair, ...]
