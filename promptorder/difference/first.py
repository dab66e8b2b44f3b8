"""The first difference of two texts or two requests: its place, its words and its kind, whatever it costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from unicodedata import normalize

from promptorder.difference import kinds
from promptorder.difference.changes import HEAD, IN_FORM, compare, of_tools, short
from promptorder.difference.drift import (
    ENCODING,
    MEMORY,
    QUESTION,
    TEXT,
    VOLATILE,
    WHITESPACE,
    drift,
    plain,
    word_at,
)
from promptorder.difference.rendering import written
from promptorder.forms._json import Path, line_of
from promptorder.forms._lifetimes import cache_key, load_options
from promptorder.forms._requests import OLLAMA, Part, provider
from promptorder.model.diff import FirstDifference
from promptorder.prefix import common_start

_MOST = 80
"""Characters of an excerpt."""
_AROUND = 400
_BEFORE, _BEHIND = 4_000, 200_000
"""Characters around the difference that are looked at to name it: enough to see whether only the form changed."""
_LOCAL = 400
_ENOUGH = 20


class Found(NamedTuple):
    """A first difference, the index of its part and the offset in that part's text."""

    first: FirstDifference
    part: int
    offset: int


def of_texts(a: str, b: str) -> Found | None:
    """None where the texts are equal; each is one part."""
    if a == b:
        return None
    n = common_start(a, b)
    return Found(_placed(a, b, n, None, kind_of(a, b, n)), 0, n)


def of_requests(
    a: dict[str, Any], b: dict[str, Any], was: Sequence[Part], now: Sequence[Part], inside: Path = ()
) -> Found | None:
    """None where neither says anything else than the other: the same, or the one goes on where the other ends.

    ``was`` and ``now`` are the parts of the two. ``inside`` is the path at which the bodies stand, left out of paths.
    """
    k = first_part(was, now)
    return None if k == min(len(was), len(now)) else _of_part(a, b, was, now, k, inside)


def first_part(was: Sequence[Part], now: Sequence[Part]) -> int:
    """The index of the first part that differs; where the one goes on as the other ends, that of the next."""
    pairs = enumerate(zip(was, now, strict=False))
    return next((i for i, (x, y) in pairs if x[:3] != y[:3]), min(len(was), len(now)))


def other_cache(a: dict[str, Any], b: dict[str, Any]) -> FirstDifference | None:
    """What keeps the caches of two requests apart, whatever their prompts share; None where nothing does."""
    checks: list[tuple[Any, Any, str, str]] = [(a.get("lora"), b.get("lora"), "$.lora", kinds.ADAPTER)]
    if a.get("model") and b.get("model"):  # messages alone name none
        checks.insert(0, (a["model"], b["model"], "$.model", kinds.MODEL))
    if provider(b) == OLLAMA:
        options, others = dict(load_options(a)), dict(load_options(b))
        keys = sorted({*options, *others})
        checks += [(options.get(key), others.get(key), f"$.options.{key}", kinds.OPTIONS) for key in keys]
    if cache_key(a) and cache_key(b):
        keys = ["prompt_cache_key", "cache_salt", "extra_key"]
        checks += [(a.get(key), b.get(key), f"$.{key}", kinds.CACHE_KEY) for key in keys]
    for was, now, path, kind in checks:
        if was != now:
            return FirstDifference(path, 1, 1, _told(was), _told(now), kind, kinds.WORDS[kind])
    return None


def _told(value: object) -> str:
    """A setting for people; empty where there is none."""
    return "" if value is None else short(value if isinstance(value, str) else json.dumps(value))


def kind_of(a: str, b: str, n: int) -> str:
    """The kind of the difference at ``n``, the length of the start that two texts share."""
    a, b, n = _window(a, n), _window(b, n), min(n, _BEFORE)
    local = _local_kind(a, b, n)
    return local or drift(a, b).kind


def _of_part(
    a: dict[str, Any], b: dict[str, Any], was: Sequence[Part], now: Sequence[Part], k: int, inside: Path
) -> Found:
    old, new = was[k], now[k]
    n = common_start(old.text, new.text)
    path, texts, place = new.path, (old.text, new.text), n
    if {old.kind, new.kind} & {"tool", "schema", "call", "image"} and old.path == new.path:
        values = _at(a, old.path), _at(b, new.path)
        deeper, first, second = _deeper(*values)
        if isinstance(first, str) and isinstance(second, str):
            path, texts, place = (*path, *deeper), (first, second), common_start(first, second)
        else:
            path = (*path, *deeper)
    kind, what = _kind_of_part(was, now, k, n)
    if old.kind != new.kind or old.role != new.role:
        place = 0
    return Found(_placed(*texts, place, written(path[len(inside) :]), kind, what), k, n)


def _kind_of_part(was: Sequence[Part], now: Sequence[Part], k: int, n: int) -> tuple[str, str]:
    """The kind, and what lint's rules say of it where they know more than its name."""
    old, new = was[k], now[k]
    if {old.role, new.role} & {"tools", "schema"}:
        change = of_tools(was, now, k, same_session=True)
        return (change.kind if change.kind in VOLATILE else change.cause), change.what
    change_or_none = compare(was, now, k, same_session=True)
    if change_or_none is not None and change_or_none.cause not in (HEAD, *IN_FORM):
        return change_or_none.cause, change_or_none.what
    if old.role != new.role or old.kind != new.kind or old.kind != "text":
        is_system = "system" in (old.role, new.role) and change_or_none is not None
        return (kinds.SYSTEM if is_system else kinds.MESSAGE), ""
    kind = kind_of(old.text, new.text, n)
    if kind not in (TEXT, MEMORY, kinds.APPENDED, kinds.SHORTENED):
        return kind, ""
    if new.role == "system":
        return kinds.SYSTEM, ""
    is_last = not any(
        part.role in ("user", "assistant", "history") for part in (*was[k + 1 :], *now[k + 1 :])
    )
    if new.role == "user":
        return (QUESTION if is_last else kinds.MESSAGE), ""
    return kind if new.role == "prompt" else kinds.MESSAGE, ""


def _local_kind(a: str, b: str, n: int) -> str:
    """A kind that shows at the place itself, whatever else differs behind it; empty for the others."""
    rests = a[n:], b[n:]
    if "" in rests:
        if not "".join(rests).strip():
            return WHITESPACE
        return kinds.APPENDED if not rests[0] else kinds.SHORTENED
    if n == 0 and (a.startswith("\ufeff") != b.startswith("\ufeff")):
        return kinds.BOM
    signs = {a[n], b[n]}
    if "\r" in signs and (signs <= {"\r", "\n"} or _ends_line(a, n) == _ends_line(b, n) == "\n"):
        return kinds.LINE_ENDS
    words = a[slice(*word_at(a, n))], b[slice(*word_at(b, n))]
    if words[0] != words[1]:
        if normalize("NFC", words[0]) == normalize("NFC", words[1]):
            return kinds.UNICODE_FORM
        if plain(words[0]) == plain(words[1]) and "".join(words[0].split()) != "".join(words[1].split()):
            return ENCODING
    if any(sign.isspace() for sign in signs):
        squeezed = ["".join(rest[:_LOCAL].split()) for rest in rests]
        shared = common_start(*squeezed)
        if shared >= _ENOUGH or (shared == min(map(len, squeezed)) and len(rests[0]) < _LOCAL):
            return WHITESPACE
    return ""


def _ends_line(text: str, n: int) -> str:
    return text[n : n + 2].replace("\r\n", "\n").replace("\r", "\n")[:1]


def _window(text: str, n: int) -> str:
    return text[max(0, n - _BEFORE) : n + _BEHIND]


def _placed(a: str, b: str, n: int, path: str | None, kind: str, what: str = "") -> FirstDifference:
    text = b if len(b) > n else a
    line_start = max(text.rfind("\n", 0, n), text.rfind("\r", 0, n)) + 1
    column = n - line_start + 1
    if line_start == 0 and text.startswith("\ufeff") and n > 0:
        column -= 1
    start = max(line_start, n - _AROUND)
    shown = [_line(each, start, n) for each in (a, b)]
    return FirstDifference(
        path=path,
        line=line_of(text[:line_start]) if line_start else 1,
        column=max(1, column),
        a=_excerpt(a, n),
        b=_excerpt(b, n),
        kind=kind,
        what=what or kinds.WORDS.get(kind, kind),
        a_line=shown[0],
        b_line=shown[1],
        offset=n - start,
    )


def _line(text: str, start: int, n: int) -> str:
    """The line around ``n`` from ``start`` on; where nothing stands there, its end shows as such."""
    end = next(
        (i for i in range(n, min(len(text), n + _AROUND)) if text[i] in "\r\n"), min(len(text), n + _AROUND)
    )
    ending = text[end : end + 2] if text[end : end + 2] == "\r\n" else text[end : end + 1]
    return text[start:end] + ("" if end - n >= _AROUND or end > n else ending)


def _excerpt(text: str, n: int) -> str:
    """The words at the difference, from the start of the first."""
    start, end = word_at(text, n)
    end = max(end, min(len(text), n + 1))
    return text[start:end][:_MOST]


def _at(body: object, path: Path) -> object:
    for step in path:
        if isinstance(body, dict):
            body = body.get(str(step))
        elif isinstance(body, list) and isinstance(step, int) and step < len(body):
            body = body[step]
        else:
            return None
    return body


def _deeper(a: object, b: object) -> tuple[Path, object, object]:
    """The path to the first values in two JSON values that differ; keys in another order are no deeper difference."""
    path: Path = ()
    while True:
        # repr tells keys in another order apart, equality does not.
        if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
            step: str | int | None = next((key for key in a if repr(a[key]) != repr(b[key])), None)
        elif isinstance(a, list) and isinstance(b, list):
            step = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if repr(x) != repr(y)), None)
        else:
            return path, a, b
        if step is None:
            return path, a, b
        a, b, path = a[step], b[step], (*path, step)  # type: ignore[index]
