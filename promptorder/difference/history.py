"""The turns of a chat when they are sent again: rewritten, cut, moved, without their thoughts, or as they were."""

from __future__ import annotations

from collections.abc import Sequence

from promptorder.difference import drift as drifts
from promptorder.difference.changes import (
    IN_FORM,
    KIND_WORDS,
    TURNS,
    WORTH,
    Change,
    as_json,
    became,
    has,
    is_tail,
    kept_parts,
    short,
    size,
)
from promptorder.difference.drift import VOLATILE, drift
from promptorder.forms._requests import Part

REWRITTEN, DROPPED, STRIPPED, IMAGE = (
    "history-rewritten",
    "history-dropped",
    "reasoning-stripped",
    "image-reencoded",
)
_INJECTED = 80
"""Characters by which a message must have shrunk or grown for a program, not a person, to have done it."""
_BIG_CUT = 6
"""Parts of which a cut must be made to leave the next turns alone."""


def of_history(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """The change at part ``k``, which is a turn of the chat in both requests."""
    old, new = was[k], now[k]
    moved = _of_moved_turns(was, now, k, same_session)
    if moved is not None or is_tail(was, now, k):
        return moved
    kept, history = kept_parts(was, now, k)
    goes_on = same_session and len(now) >= len(was)
    if old.role != new.role or old.kind != new.kind:
        return _of_another_turn(was, now, k, kept, history)
    if old.kind == "image":
        if not (goes_on and len(now) > len(was)) and not kept:
            return None
        return Change(IMAGE, "image", "the same picture comes in other bytes", kept + size([old]), history, k)
    if old.kind == "id":
        if not (history or kept >= WORTH):
            return None
        what = f"the id of an earlier call was made anew ({short(old.text)} became {short(new.text)})"
        return Change(REWRITTEN, "id", what, kept, history, k, 0, len(new.text))
    if old.kind == "call" and _same_arguments(old, new):
        what = "the arguments of an earlier call come with their keys in another order"
        return Change(drifts.JSON_ORDER, "json-order", what, kept + len(old.text), history, k)
    if drifts.only_thoughts(old.text, new.text):
        what = _MISSING if len(new.text) < len(old.text) else _PUT_IN
        return Change(STRIPPED, "thoughts", what, kept + len(new.text), True, k)
    return _of_one_turn(was, now, k, (kept, history), goes_on)


def _of_one_turn(
    was: Sequence[Part], now: Sequence[Part], k: int, kept: tuple[int, bool], goes_on: bool
) -> Change | None:
    """An earlier message in other words."""
    old, new = was[k], now[k]
    behind, history = kept
    found = drift(old.text, new.text)
    place = (k, found.start, found.end)
    lost = behind + found.kept
    went_on = goes_on and (len(now) > len(was) or k < len(was) - 1)
    worth = history or (lost if found.kind in IN_FORM else behind) >= WORTH
    what = f"{KIND_WORDS[found.kind]} in an earlier message: {became(found)}"
    if found.kind in IN_FORM and worth:
        return Change(found.kind, found.kind, what, lost, history, *place)
    if old.role != "user":
        return Change(REWRITTEN, found.kind, what, lost, history, *place) if worth else None
    if len(now) > len(was) and _was_injected(old.text, new.text):
        what = "what was put into the newest message is missing when it is sent again"
        return Change(REWRITTEN, "injected", what, behind + len(new.text), True, *place)
    stamp_alone = found.start + found.kept + 40 >= max(len(old.text), len(new.text))
    if found.kind in VOLATILE and went_on and lost and stamp_alone:
        return Change(REWRITTEN, found.kind, what, lost, history, *place)
    if history or behind:
        return Change(
            REWRITTEN, "edited", "an earlier question was edited", behind, history, *place, note=True
        )
    return None


def _of_moved_turns(was: Sequence[Part], now: Sequence[Part], k: int, same_session: bool) -> Change | None:
    """Turns that are gone from the front or the middle, or stand in another place."""
    ahead = next((j for j in range(k + 1, len(was)) if was[j][:3] == now[k][:3]), -1)
    if ahead < 0:
        return None
    run = 0
    while ahead + run < len(was) and k + run < len(now) and was[ahead + run][:3] == now[k + run][:3]:
        run += 1
    gone, kept = was[k:ahead], was[ahead : ahead + run]
    if has(now[k + 1 :], was[k]):
        return _of_another_place(was, now, k, kept)
    history = any(part.role in TURNS for part in kept)
    if not (ahead + run == len(was) or run >= 2 or size(kept) >= WORTH):
        return None
    if not history and not same_session and size(kept) < WORTH:
        return None
    if all(part.kind == "thinking" for part in gone):
        return Change(STRIPPED, "thoughts", _MISSING, size(kept), True, k)
    first = k == 0 or was[k - 1].role in ("system", "tools", "schema")
    what = f"{len(gone)} earlier messages are gone from the {'front' if first else 'middle'} of the history"
    # One big cut leaves the next turns alone; a small one comes again with each turn.
    big = first and len(gone) >= _BIG_CUT and 2 * size(gone) >= size(was[k:])
    return Change(DROPPED if first else REWRITTEN, "dropped", what, size(kept), history, k, weak=big)


def _of_another_place(
    was: Sequence[Part], now: Sequence[Part], k: int, kept: Sequence[Part]
) -> Change | None:
    """A message that stands further back: examples that were shuffled, or something kept near the end."""
    if was[k].role == "user" and any(part.role == "assistant" for part in was[k : len(was) - 1]):
        return Change(drifts.FEWSHOT, "moved", "the examples come in another order", size(now[k:]), True, k)
    if size(kept) < WORTH:
        return None
    what = "a message moved to another place in the history"
    return Change(REWRITTEN, "moved", what, size(kept), False, k)


def _of_another_turn(
    was: Sequence[Part], now: Sequence[Part], k: int, kept: int, history: bool
) -> Change | None:
    """A turn of another kind stands in the place: a summary, or something put into the history."""
    if now[k].kind == "thinking" and k + 1 < len(now) and now[k + 1][:3] == was[k][:3]:
        return Change(STRIPPED, "thoughts", _PUT_IN, size(was[k:]), True, k)
    if not history and kept < WORTH:
        return None
    if has(now[k + 1 :], was[k]):
        return Change(REWRITTEN, "inserted", "something was put into the history", kept, history, k)
    return Change(REWRITTEN, "compacted", "earlier turns were replaced", kept, history, k, weak=True)


def _was_injected(old: str, new: str) -> bool:
    if abs(len(new) - len(old)) < _INJECTED:
        return False
    return old.endswith(new) or old.startswith(new) or new.strip() in old


def _same_arguments(old: Part, new: Part) -> bool:
    values = [as_json(part.text.partition(" ")[2]) for part in (old, new)]
    return values[0] is not None and values[0] == values[1]


_MISSING = "the thoughts of an earlier turn are missing when it is sent again"
_PUT_IN = "thoughts were put into an earlier turn"
