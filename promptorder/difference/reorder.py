"""Which change of order would have kept what was lost, tried on both prompts before it is told.

Text: the lines that differ move behind the last line that both have. Requests: they move to the end of the newest
message, tools and keys come in one order, and what differs in form alone is written the same way.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any, Literal

from promptorder.difference import kinds
from promptorder.difference.blocks import named
from promptorder.difference.changes import TOOL_ORDER, short
from promptorder.difference.drift import JSON_ORDER
from promptorder.difference.first import Found
from promptorder.difference.form import FORM, same_form
from promptorder.difference.history import DROPPED, REWRITTEN, STRIPPED
from promptorder.difference.moves import LEAST_GAIN_TOKENS, Region, Texts, fewest
from promptorder.forms._json import Path
from promptorder.forms._requests import Part
from promptorder.model.diff import Suggestion

Body = dict[str, Any]
Shared = Callable[[str, str], int]
"""Tokens that two texts share from their start."""
SharedOfBodies = Callable[[Body, Body], int]
"""The same of two requests, rendered."""

_TURNS = frozenset((REWRITTEN, DROPPED, STRIPPED, kinds.MESSAGE))
"""Earlier turns that became others: they are to stay as they were sent, and no order helps."""


def of_texts(a: str, b: str, found: Found, shared_tokens: int, shared: Shared) -> Suggestion | None:
    """None where no order helps, as with another question at the end."""
    if found.first.kind in FORM:
        same = same_form(found.first.kind, a, b)
        return _tried("keep", "the text", shared(*same) if same else 0, shared_tokens)
    texts = Texts(a, b, found.offset)
    best = fewest(texts.inner(), shared_tokens, lambda regions: shared(*texts.behind_last(regions)))
    return None if best is None else _move(texts, *best, "")


def of_requests(
    a: Body,
    b: Body,
    was: Sequence[Part],
    now: Sequence[Part],
    found: Found,
    shared_tokens: int,
    shared: SharedOfBodies,
) -> Suggestion | None:
    """The same for the bodies of requests and their parts."""
    k = found.part
    kind = found.first.kind
    if k >= min(len(was), len(now)):
        return None
    old, new = was[k], now[k]
    if kind == TOOL_ORDER:
        return _tried("sort", "the tools", shared(_sorted_tools(a), _sorted_tools(b)), shared_tokens)
    if kind == JSON_ORDER and new.kind in ("tool", "schema"):
        return _tried("sort", "the keys of JSON", shared(_sorted_keys(a), _sorted_keys(b)), shared_tokens)
    if not old.kind == new.kind == "text" or old.path != new.path or kind in _TURNS:
        return None
    if kind in FORM:
        same = same_form(kind, old.text, new.text)
        tokens = shared(_with_text(a, old.path, same[0]), _with_text(b, new.path, same[1])) if same else 0
        return _tried("keep", named(new), tokens, shared_tokens)
    return _moved(a, b, was, now, found, shared_tokens, shared)


def _moved(
    a: Body,
    b: Body,
    was: Sequence[Part],
    now: Sequence[Part],
    found: Found,
    shared_tokens: int,
    shared: SharedOfBodies,
) -> Suggestion | None:
    """Lines at the end of the newest message, or where there is none behind them, of their own text."""
    old, new = was[found.part], now[found.part]
    texts = Texts(old.text, new.text, found.offset)
    last, newest = _newest(was), _newest(now)
    if last is not None and newest is not None and last is not old and newest is not new:

        def in_newest(regions: Sequence[Region]) -> int:
            bodies = []
            for body, part, end, (kept, taken) in zip(
                (a, b), (old, new), (last, newest), texts.taken_out(regions), strict=True
            ):
                changed = _with_text(body, part.path, kept)
                bodies.append(_with_text(changed, end.path, f"{end.text}\n\n{taken.strip()}"))
            return shared(*bodies)

        best = fewest(texts.regions, shared_tokens, in_newest)
        if best is not None:
            return _move(texts, *best, f" of {named(new)}", f"what stands last in {named(newest)}")

    def in_place(regions: Sequence[Region]) -> int:
        first, second = texts.behind_last(regions)
        return shared(_with_text(a, old.path, first), _with_text(b, new.path, second))

    best = fewest(texts.inner(), shared_tokens, in_place)
    return None if best is None else _move(texts, *best, f" of {named(new)}")


def _move(texts: Texts, regions: Sequence[Region], tokens: int, of: str, behind: str = "") -> Suggestion:
    block = " and ".join(map(texts.called, regions)) + of
    if not behind:
        last = texts.last_b
        behind = f"{texts.place(last, last)} ({short(texts.b[last][:80]) or 'blank'})"
    return Suggestion("move", f"move {block} behind {behind}", block, behind, tokens)


def _tried(action: Literal["sort", "keep"], block: str, tokens: int, shared_tokens: int) -> Suggestion | None:
    if tokens < shared_tokens + LEAST_GAIN_TOKENS:
        return None
    text = f"send {block} in one order" if action == "sort" else f"write {block} the same way each time"
    return Suggestion(action, text, block, None, tokens)


def _newest(found: Sequence[Part]) -> Part | None:
    """The newest message of the user, at whose end a text can stand."""
    return next(
        (part for part in reversed(found) if part.role in ("user", "prompt") and part.kind == "text"), None
    )


def _with_text(body: Body, path: Path, text: str) -> Body:
    """A copy of a body with another text at a path."""
    changed = copy.deepcopy(body)
    inside: Any = changed
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = text
    return changed


def _sorted_tools(body: Body) -> Body:
    def name(tool: Any) -> str:
        inner = tool.get("function") if isinstance(tool, dict) else None
        return json.dumps([inner.get("name") if isinstance(inner, dict) else tool, tool], sort_keys=True)

    keys = (key for key in ("tools", "functions") if isinstance(body.get(key), list))
    return {**body, **{key: sorted(body[key], key=name) for key in keys}}


def _sorted_keys(body: Body) -> Body:
    kept = ("tools", "functions", "response_format", "format", "output_format", "json_schema")
    return {**body, **{key: json.loads(json.dumps(body[key], sort_keys=True)) for key in kept if key in body}}
