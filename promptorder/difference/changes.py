"""Two requests, one after the other: the first difference between them, its cause, and what was lost behind it.

What is lost is what both requests hold behind the difference: it had been read and was read again. So another question
at the end, another conversation under the same system text, or a chat that only grows lose nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from promptorder.difference import drift as drifts
from promptorder.difference.drift import QUESTION, VOLATILE, Drift, drift
from promptorder.forms._requests import Part
from promptorder.prefix import common_start

HEAD, TOOL_ORDER, TOOL_CHANGED = "prompt-head-changed", "tool-order", "tool-changed"
IN_FORM = frozenset((drifts.WHITESPACE, drifts.ENCODING, drifts.JSON_ORDER, drifts.FEWSHOT, drifts.LINES))
"""Kinds of change that are a rule of their own, wherever in the prompt they stand."""
TURNS = ("assistant", "history")
WORTH, WORTH_OF_TEXT = 160, 320
"""Characters that must be lost behind a clock or the like, and behind other words: 40 and 80 tokens."""
_PICTURE_CHARACTERS = 1000
"""What a picture counts for: servers make some hundred tokens of one."""


class Change(NamedTuple):
    """What became of a prompt. ``part`` is the index in the later request, ``start`` to ``end`` the place in its text.

    ``lost`` are characters, ``history`` whether turns of a chat are among them. ``weak`` changes are deliberate if they
    happen once, such as a new version of the rules; a ``note`` is no more than that.
    """

    cause: str
    kind: str
    what: str
    lost: int
    history: bool = False
    part: int = -1
    start: int = 0
    end: int = 1
    weak: bool = False
    note: bool = False


def compare(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """The change at part ``k``, the first that differs; None where nothing that matters was lost."""
    if k >= len(was) or k >= len(now):
        return None
    old, new = was[k], now[k]
    if old.role in ("tools", "schema") or new.role in ("tools", "schema"):
        return _of_tools(was, now, k, same_session)
    if old.role == new.role and old.kind == new.kind == "text":
        if new.text.startswith(old.text) and k == len(was) - 1 and len(now) == k + 1:
            return None  # a raw prompt that grows
        if old.text.startswith(new.text) and k == len(now) - 1:
            return None
    is_head = not any(part.role in TURNS for part in was[:k])
    if is_head and ({old.role, new.role} & {"system", "prompt"} or _is_single(was, now)):
        return _of_head(was, now, k, same_session)
    return _of_turns(was, now, k, same_session)


def _of_turns(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    from promptorder.difference.history import of_history

    return of_history(was, now, k, same_session)


def size(parts: Sequence[Part]) -> int:
    """Characters that parts stand for."""
    return sum(_PICTURE_CHARACTERS if part.kind == "image" else len(part.text) for part in parts)


def kept_parts(was: Sequence[Part], now: Sequence[Part], k: int) -> tuple[int, bool]:
    """Characters of whole parts behind ``k`` that both requests hold, and whether turns of a chat are among them."""
    known = {part[:3] for part in was[k + 1 :]}
    both = [part for part in now[k + 1 :] if part[:3] in known]
    turns = ("user", *TURNS) if len(now) > len(was) else TURNS
    return size(both), any(part.role in turns for part in both)


def has(parts: Sequence[Part], part: Part) -> bool:
    """Whether a part stands among others, wherever in the body."""
    return any(part[:3] == other[:3] for other in parts)


def is_tail(was: Sequence[Part], now: Sequence[Part], k: int) -> bool:
    """Whether what stood last still stands last, behind the new turns: a reminder that always comes at the end."""
    tail = [part[:3] for part in was[k:]]
    return (
        not any(part.role in TURNS for part in was[k:]) and [part[:3] for part in now[-len(tail) :]] == tail
    )


def became(found: Drift) -> str:
    """The words before and after."""
    return f"{short(found.was) or 'nothing'} became {short(found.now) or 'nothing'}"


def short(text: str) -> str:
    """A text on one line, cut where it is long."""
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    return text if len(text) <= 40 else text[:39] + "…"


def as_json(text: str) -> object:
    """The value of a JSON text, or None."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _is_single(was: Sequence[Part], now: Sequence[Part]) -> bool:
    """Whether both prompts are one turn: then the user's message is a prompt that a program has built."""
    return not any(part.role in TURNS for parts in (was, now) for part in parts)


def _of_tools(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    change = of_tools(was, now, k, same_session)
    return change if change.history or kept_parts(was, now, k - 1)[0] >= WORTH else None


def of_tools(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change:
    """The change at part ``k``, which is a tool or a schema in one of the requests, whatever it costs."""
    kept, history = kept_parts(was, now, k - 1)
    old = [part for part in was if part.role in ("tools", "schema")]
    new = [part for part in now if part.role in ("tools", "schema")]
    at = k if now[k].role in ("tools", "schema") else -1
    names, others = (sorted(map(tool_name, parts)) for parts in (old, new))
    both_tools = was[k].role == now[k].role == "tools"
    if both_tools and tool_name(was[k]) == tool_name(now[k]):
        return _of_one_tool(was[k], now[k], k, kept, history)
    if both_tools and names == others:
        what = f"the tools come in another order, from {tool_name(now[k])} on"
        return Change(TOOL_ORDER, "tool-order", what, kept, history, at)
    if was[k].role == now[k].role == "schema":
        what = "the schema of the answer is another one"
        return Change(TOOL_CHANGED, "schema", what, kept, history, at, weak=not same_session)
    gone, come = (len({p.text for p in a} - {p.text for p in b}) for a, b in ((old, new), (new, old)))
    what = f"the list of tools changed ({come} new, {gone} gone)"
    return Change(TOOL_CHANGED, "tools", what, kept, history, at, weak=not (same_session and history))


def _of_one_tool(old: Part, new: Part, k: int, kept: int, history: bool) -> Change:
    name = tool_name(new)
    if as_json(old.text) == as_json(new.text):
        what = f"the keys of the tool {name} come in another order"
        return Change(drifts.JSON_ORDER, "json-order", what, kept, history, k)
    found = drift(old.text, new.text)
    cause = found.kind if found.kind in IN_FORM else TOOL_CHANGED
    what = f"the definition of the tool {name} changed: {became(found)}"
    weak = found.kind == drifts.TEXT
    return Change(cause, found.kind, what, kept + found.kept, history, k, found.start, found.end, weak)


def _of_head(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """The system text, or a prompt that is one text, is another one."""
    old, new = was[k], now[k]
    if old.role != new.role or old.kind != "text" or new.kind != "text":
        return _of_moved_head(was, now, k, same_session)
    kept, history = kept_parts(was, now, k)
    if not history and kept + min(len(old.text), len(new.text)) - common_start(old.text, new.text) < WORTH:
        return None  # nothing of size stands behind, the usual case: another question at the end
    found = drift(old.text, new.text)
    kept += found.kept
    where = "the system text" if new.role == "system" else "the prompt"
    volatile = found.kind in VOLATILE or found.kind in IN_FORM
    if not history and kept < (WORTH if volatile else WORTH_OF_TEXT):
        return None
    cause = found.kind if found.kind in IN_FORM else HEAD
    plain = found.kind in (drifts.TEXT, drifts.MEMORY)
    is_all = new.role == "prompt" or (new.role == "user" and k == 0)
    if (
        plain
        and is_all
        and 2 * found.kept < min(len(old.text), len(new.text)) - common_start(old.text, new.text)
    ):
        return None  # passages of one document that were found for two questions
    # Words that change once are a new version of the rules; in the middle of a chat they are memory or state.
    weak = not volatile and found.kind != QUESTION and new.role != "prompt" and not (same_session and history)
    # Behind a system text a message is the right place for what a person edits, or a search finds.
    note = new.role == "user" and (plain or found.kind == drifts.LINES) and (same_session or not is_all)
    what = f"{KIND_WORDS[found.kind]} in {where}: {became(found)}"
    return Change(cause, found.kind, what, kept, history, k, found.start, found.end, weak, note)


def _of_moved_head(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """A system text more or less than before."""
    if is_tail(was, now, k):
        return None
    kept, history = kept_parts(was, now, k - 1)
    if not history and kept < WORTH_OF_TEXT:
        return None
    if now[k].role == "system" and was[k].role != "system" and not has(now[k + 1 :], was[k]):
        return _of_turns(was, now, k, same_session)  # a note in the place of turns
    what = "a system text was put in" if now[k].role == "system" else "a system text is gone"
    return Change(HEAD, drifts.TEXT, what, kept, history, k, weak=not (same_session and history))


def tool_name(part: Part) -> str:
    """What a tool is called."""
    value = as_json(part.text) if part.kind == "tool" else None
    if isinstance(value, dict):
        inner = value.get("function")
        name = value.get("name") or (inner.get("name") if isinstance(inner, dict) else None)
        return short(str(name or value.get("type") or "?"))
    return "?"


KIND_WORDS = {
    drifts.WHITESPACE: "white space changed",
    drifts.ENCODING: "the same words come in other characters",
    drifts.JSON_ORDER: "the keys of JSON come in another order",
    drifts.FEWSHOT: "the examples are others or come in another order",
    drifts.LINES: "the same words come in another order",
    drifts.TIMESTAMP: "a clock",
    drifts.DATE: "a date",
    drifts.ID: "an id",
    drifts.COUNTER: "a counter",
    drifts.PLACE: "a folder, branch or machine",
    drifts.QUESTION: "the question stands before static text",
    drifts.MEMORY: "memory or retrieved text",
    drifts.TEXT: "other words",
}
