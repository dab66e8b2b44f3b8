"""Two requests, one after the other: the first difference between them, its cause, and what was lost behind it.

What is lost is what both requests hold behind the difference: it had been read and was read again. So another question
at the end, another conversation under the same system text, or a chat that only grows lose nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from promptorder.forms._requests import Part
from promptorder.lint import _drift
from promptorder.lint._drift import QUESTION, VOLATILE, Drift, common_start, drift

HEAD, TOOL_ORDER, TOOL_CHANGED = "prompt-head-changed", "tool-order", "tool-changed"
REWRITTEN, DROPPED, STRIPPED, IMAGE = "history-rewritten", "history-dropped", "reasoning-stripped", "image-reencoded"
_FORM = frozenset(
    (_drift.WHITESPACE, _drift.ENCODING, _drift.JSON_ORDER, _drift.FEWSHOT, _drift.LINES)
)
_PICTURE_CHARACTERS = 1000
"""What a picture counts for: servers make some hundred tokens of one."""
_WORTH, _WORTH_OF_TEXT = 160, 320
"""Characters that must be lost behind a clock or the like, and behind other words: 40 and 80 tokens."""
_INJECTED = 80
"""Characters by which a message must have shrunk or grown for a program, not a person, to have done it."""
_TURNS = ("assistant", "history")


class Change(NamedTuple):
    """What became of a prompt. ``part`` is the index in the later request, ``start`` to ``end`` the place in its text.

    ``weak`` changes are deliberate if they happen once, such as a new version of the rules.
    """

    cause: str
    kind: str
    part: int
    start: int
    end: int
    lost: int
    history: bool
    what: str
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
    is_head = not any(part.role in _TURNS for part in was[:k])
    if is_head and ({old.role, new.role} & {"system", "prompt"} or _is_single(was, now)):
        return _of_head(was, now, k, same_session)
    return _of_history(was, now, k, same_session)


def size(parts: Sequence[Part]) -> int:
    """Characters that parts stand for."""
    return sum(_size(part) for part in parts)


def _size(part: Part) -> int:
    return _PICTURE_CHARACTERS if part.kind == "image" else len(part.text)


def _is_single(was: Sequence[Part], now: Sequence[Part]) -> bool:
    """Whether both prompts are one turn: then the user's message is a prompt that a program has built."""
    return not any(part.role in _TURNS for parts in (was, now) for part in parts)


def _kept(was: Sequence[Part], now: Sequence[Part], k: int) -> tuple[int, bool]:
    """Characters of whole parts behind ``k`` that both requests hold, and whether turns of a chat are among them."""
    known = {part[:3] for part in was[k + 1 :]}
    both = [part for part in now[k + 1 :] if part[:3] in known]
    turns = ("user", *_TURNS) if len(now) > len(was) else _TURNS
    return size(both), any(part.role in turns for part in both)


def _of_tools(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    kept, history = _kept(was, now, k)
    if not history and kept < _WORTH:
        return None
    old = [part.text for part in was if part.role in ("tools", "schema")]
    new = [part.text for part in now if part.role in ("tools", "schema")]
    is_tool = now[k].role == "tools"
    at = k if is_tool or now[k].role == "schema" else -1
    if sorted(old) == sorted(new):
        what = f"the tools come in another order, from {_tool_name(now[k])} on"
        return Change(TOOL_ORDER, "tool-order", at, 0, 0, kept, history, what)
    if is_tool and was[k].role == "tools":
        name = _tool_name(now[k])
        if _tool_name(was[k]) == name:
            return _of_one_tool(was[k], now[k], k, kept, history)
        names, others = ([_tool_name(p) for p in parts if p.role == "tools"] for parts in (was, now))
        if sorted(names) == sorted(others):
            return Change(TOOL_ORDER, "tool-order", at, 0, 0, kept, history, f"the tools come in another order, from {name} on")
    elif was[k].role == "schema" and now[k].role == "schema":
        what = "the schema of the answer is another one"
        return Change(TOOL_CHANGED, "schema", k, 0, 0, kept, history, what, weak=not same_session)
    gone, come = len(set(old) - set(new)), len(set(new) - set(old))
    what = f"the list of tools changed ({come} new, {gone} gone)"
    return Change(TOOL_CHANGED, "tools", at, 0, 0, kept, history, what, weak=not (same_session and history))


def _of_one_tool(old: Part, new: Part, k: int, kept: int, history: bool) -> Change:
    name = _tool_name(new)
    if _as_json(old.text) == _as_json(new.text):
        what = f"the keys of the tool {name} come in another order"
        return Change(_drift.JSON_ORDER, "json-order", k, 0, 0, kept, history, what)
    found = drift(old.text, new.text)
    cause = found.kind if found.kind in _FORM else TOOL_CHANGED
    what = f"the definition of the tool {name} changed: {_became(found)}"
    return Change(cause, found.kind, k, found.start, found.end, kept + found.kept, history, what, weak=found.kind == _drift.TEXT)


def _of_head(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """The system text, or a prompt that is one text, is another one."""
    old, new = was[k], now[k]
    kept, history = _kept(was, now, k)
    if old.role != new.role or old.kind != "text" or new.kind != "text":
        return _of_moved_head(was, now, k, same_session)
    if not history and kept + min(len(old.text), len(new.text)) - common_start(old.text, new.text) < _WORTH:
        return None  # nothing of size stands behind, the usual case: another question at the end
    found = drift(old.text, new.text)
    kept += found.kept
    where = "the system text" if new.role == "system" else "the prompt"
    if found.kind in _FORM:
        if not history and kept < _WORTH:
            return None
        what = f"{_FORM_WORDS[found.kind]} in {where}: {_became(found)}"
        return Change(found.kind, found.kind, k, found.start, found.end, kept, history, what)
    volatile = found.kind in VOLATILE
    if not history and kept < (_WORTH if volatile else _WORTH_OF_TEXT):
        return None
    # Words that change once are a new version of the rules; in the middle of a chat they are memory or state.
    weak = not volatile and found.kind != QUESTION and new.role != "prompt" and not (same_session and history)
    note = new.role == "user" and same_session and found.kind == _drift.TEXT
    what = f"{_KIND_WORDS[found.kind]} in {where}: {_became(found)}"
    return Change(HEAD, found.kind, k, found.start, found.end, kept, history, what, weak, note)


def _of_moved_head(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """A system text more or less than before."""
    if _is_tail(was, now, k):
        return None
    kept, history = _kept(was, now, k - 1)
    if not history and kept < _WORTH_OF_TEXT:
        return None
    if now[k].role == "system" and was[k].role != "system" and not _has(now[k + 1 :], was[k]):
        return None
    what = "a system text was put in" if now[k].role == "system" else "a system text is gone"
    return Change(HEAD, _drift.TEXT, k, 0, 0, kept, history, what, weak=not (same_session and history))


def _of_history(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    old, new = was[k], now[k]
    moved = _of_moved_turns(was, now, k, same_session)
    if moved is not None or _is_tail(was, now, k):
        return moved
    kept, history = _kept(was, now, k)
    goes_on = same_session and len(now) >= len(was)
    if old.role != new.role or old.kind != new.kind:
        return _of_pruned(was, now, k, kept, history)
    if old.kind == "image":
        if not (goes_on and len(now) > len(was)) and not kept:
            return None
        what = "the same picture comes in other bytes" if goes_on or history else "a picture is another one"
        return Change(IMAGE, "image", k, 0, 0, kept + _size(old), history, what)
    if old.kind == "id":
        if not (history or kept >= _WORTH):
            return None
        what = f"the id of an earlier call was made anew ({_short(old.text)} became {_short(new.text)})"
        return Change(REWRITTEN, "id", k, 0, len(new.text), kept, history, what)
    if old.kind == "call" and _as_json(old.text.partition(" ")[2]) == _as_json(new.text.partition(" ")[2]) is not None:
        what = "the arguments of an earlier call come in another order of keys"
        return Change(_drift.JSON_ORDER, "json-order", k, 0, 0, kept + len(old.text), history, what)
    if _drift.only_thoughts(old.text, new.text):
        what = "the thoughts of an earlier turn are missing when it is sent again"
        if len(new.text) > len(old.text):
            what = "thoughts were put into an earlier turn"
        return Change(STRIPPED, "thoughts", k, 0, 1, kept + len(new.text), True, what)
    return _of_one_turn(was, now, k, kept, history, goes_on)


def _of_one_turn(
    was: Sequence[Part], now: Sequence[Part], k: int, kept: int, history: bool, goes_on: bool
) -> Change | None:
    """An earlier message in other words."""
    old, new = was[k], now[k]
    found = drift(old.text, new.text)
    worth = history or kept >= _WORTH
    went_on = len(now) > len(was) or k < len(was) - 1
    start, end, what = found.start, found.end, f"an earlier message was sent again in other words: {_became(found)}"
    if found.kind in _FORM and (worth or (goes_on and went_on)):
        what = f"{_FORM_WORDS[found.kind]} in an earlier message: {_became(found)}"
        return Change(found.kind, found.kind, k, start, end, kept + found.kept, history, what)
    if old.role == "user":
        grew = abs(len(new.text) - len(old.text)) >= _INJECTED and len(now) > len(was)
        if grew and (old.text.endswith(new.text) or old.text.startswith(new.text) or new.text.strip() in old.text):
            what = "what was put into the newest message is missing when it is sent again"
            return Change(REWRITTEN, "injected", k, start, end, kept + len(new.text), True, what)
        if found.kind in VOLATILE and goes_on and went_on and found.kept + kept > 0 and _alike(old, new, found):
            what = f"{_KIND_WORDS[found.kind]} in an earlier message: {_became(found)}"
            return Change(REWRITTEN, found.kind, k, start, end, kept + found.kept, history, what)
        if history or kept:
            what = "an earlier question was edited"
            return Change(REWRITTEN, "edited", k, start, end, kept, history, what, note=True)
        return None
    if worth or (goes_on and history):
        return Change(REWRITTEN, found.kind, k, start, end, kept + found.kept, history, what)
    return None


def _of_moved_turns(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """Turns that are gone from the front or the middle, or stand in another place."""
    old, new = was[k], now[k]
    ahead = next((j for j in range(k + 1, len(was)) if was[j][:3] == new[:3]), -1)
    if ahead < 0:
        return None
    run = 0
    while ahead + run < len(was) and k + run < len(now) and was[ahead + run][:3] == now[k + run][:3]:
        run += 1
    kept = was[ahead : ahead + run]
    reaches_end = ahead + run == len(was)
    if _has(now[k + 1 :], old):
        fewshot = any(part.role == "assistant" for part in was[k : len(was) - 1]) and old.role == "user"
        lost = size(now[k:]) if fewshot else size(kept)
        if lost < _WORTH and not fewshot:
            return None
        what = "the examples come in another order" if fewshot else "a message moved to another place in the history"
        return Change(_drift.FEWSHOT if fewshot else REWRITTEN, "moved", k, 0, 1, lost, fewshot, what)
    if not (reaches_end or run >= 2 or size(kept) >= _WORTH):
        return None
    history = any(part.role in _TURNS for part in kept)
    if not history and size(kept) < _WORTH and not same_session:
        return None
    gone = was[k:ahead]
    if all(part.kind == "thinking" for part in gone):
        what = "the thoughts of an earlier turn are missing when it is sent again"
        return Change(STRIPPED, "thoughts", k, 0, 1, size(kept), True, what)
    first = k == 0 or was[k - 1].role in ("system", "tools", "schema")
    what = f"{len(gone)} earlier messages are gone from the {'front' if first else 'middle'} of the history"
    # One big cut leaves the next turns alone; a small one comes again with each turn.
    big = first and len(gone) >= 6 and 2 * size(gone) >= size(was[k:])
    return Change(DROPPED if first else REWRITTEN, "dropped", k, 0, 1, size(kept), history, what, weak=big)


def _of_pruned(was: Sequence[Part], now: Sequence[Part], k: int, kept: int, history: bool) -> Change | None:
    """A turn of another kind stands in the place: a summary, or something put into the history."""
    if was[k].kind != "thinking" and now[k].kind == "thinking" and k + 1 < len(now) and now[k + 1][:3] == was[k][:3]:
        return Change(STRIPPED, "thoughts", k, 0, 1, size(was[k:]), True, "thoughts were put into an earlier turn")
    if not history and kept < _WORTH:
        return None
    if _has(now[k + 1 :], was[k]):
        return Change(REWRITTEN, "inserted", k, 0, 1, kept, history, "something was put into the history")
    what = "earlier turns were replaced"
    return Change(REWRITTEN, "compacted", k, 0, 1, kept, history, what, weak=True)


def _has(parts: Sequence[Part], part: Part) -> bool:
    return any(part[:3] == other[:3] for other in parts)


def _is_tail(was: Sequence[Part], now: Sequence[Part], k: int) -> bool:
    """Whether what stood last still stands last, behind the new turns: a reminder that always comes at the end."""
    tail = [part[:3] for part in was[k:]]
    return not any(part.role in _TURNS for part in was[k:]) and [part[:3] for part in now[-len(tail) :]] == tail


def _alike(old: Part, new: Part, found: Drift) -> bool:
    """Whether a stamp is all that differs in a message."""
    return found.start + found.kept + 40 >= max(len(old.text), len(new.text))


def _as_json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _tool_name(part: Part) -> str:
    value = _as_json(part.text) if part.kind == "tool" else None
    if isinstance(value, dict):
        inner = value.get("function")
        name = value.get("name") or (inner.get("name") if isinstance(inner, dict) else None)
        return str(name or value.get("type") or "?")
    return "the first"


def _became(found: Drift) -> str:
    return f"{_short(found.was) or 'nothing'} became {_short(found.now) or 'nothing'}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:39] + "…"


_FORM_WORDS = {
    _drift.WHITESPACE: "white space changed",
    _drift.ENCODING: "the same words come in other characters",
    _drift.JSON_ORDER: "the keys of JSON come in another order",
    _drift.FEWSHOT: "the examples are others or come in another order",
    _drift.LINES: "the same words come in another order",
}
_KIND_WORDS = {
    _drift.TIMESTAMP: "a clock",
    _drift.DATE: "a date",
    _drift.ID: "an id",
    _drift.COUNTER: "a counter",
    _drift.PLACE: "a folder, branch or machine",
    _drift.QUESTION: "the question stands before static text",
    _drift.MEMORY: "memory or retrieved text",
    _drift.TEXT: "other words",
}
