"""Which format a file has, told from its first lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from promptorder.errors import InputError
from promptorder.traces import REGISTRY, Sample
from promptorder.traces._envelope import shown_keys
from promptorder.traces._json import any_json

_KNOWN = (
    "it may be request bodies, token ids or Mooncake hash ids as JSON lines, recorded sessions of coding agents, "
    "or a log of llama-server or Ollama"
)
_NEEDED = "reuse needs what the prompts share: request bodies, token ids, or hash ids of their blocks"

_MOST_OBJECTS = 200
"""How many lines are looked at as JSON."""


def sample_of(lines: Sequence[bytes]) -> Sample:
    """The first lines with the objects in them; a JSON text over several lines is looked into as far as it goes."""
    first = lines[0].strip()
    if first[:1] == b"[" or first == b"{":
        found = _document(lines)
        if found:
            return Sample(lines, found, is_document=True)
    objects: list[dict[str, Any]] = []
    for raw in lines[:_MOST_OBJECTS]:
        try:
            value = any_json(raw)
        except ValueError:
            continue
        if isinstance(value, dict):
            objects.append(value)
    if not objects and first[:1] == b"{":
        found = _document(lines)
        return Sample(lines, found, is_document=bool(found))
    return Sample(lines, objects)


def choose(sample: Sample, path: str, named: str | None = None) -> ModuleType:
    """The format that is surest of the sample, or the ``named`` one.

    Raises InputError where none knows it, or where it holds only lengths; UsageError for a name that there is not.
    """
    if named is not None:
        form = REGISTRY.load(named)
    else:
        sure = {name: module.recognise(sample) for name, module in REGISTRY.load_all().items()}
        best = max(sure, key=lambda name: sure[name])
        if sure[best] <= 0:
            raise InputError(f"{path}: {_looks(sample)}, and no known log of requests", hint=_KNOWN)
        form = REGISTRY.load(best)
    if form.HOLDS == "lengths":
        raise InputError(
            f"{path} tells when requests came and how long they were, and nothing of what they share",
            hint=_NEEDED,
        )
    return form


_FEW_BROKEN = 0.25
"""Of the characters of a text that is merely in another encoding, fewer are not UTF-8."""


def _looks(sample: Sample) -> str:
    """What the first line is, in words."""
    if sample.objects:
        keys = shown_keys(sample.objects[0])
        return (
            f"line 1 looks like a JSON object with the keys {keys}"
            if keys
            else "line 1 is an empty JSON object"
        )
    first = sample.lines[0][:200]
    text = first.decode("utf-8", "replace").strip()
    if b"\0" in first or text.count("\ufffd") > _FEW_BROKEN * len(text):
        return "the file holds no text"
    shown = "".join(each if each.isprintable() else " " for each in text)
    return f"line 1 looks like text: {shown[:50]}{'...' if len(shown) > 50 else ''}"


def _document(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """The objects at the start of a JSON text: itself, or those that its list begins with."""
    decode = json.JSONDecoder().raw_decode
    known = b"\n".join(lines).decode("utf-8", "replace").lstrip()
    if known.startswith("{"):
        try:
            value = decode(known)[0]
        except (ValueError, RecursionError):
            return _cut_object(known)
        return [value] if isinstance(value, dict) else []
    found: list[dict[str, Any]] = []
    at = 1
    while len(found) < 50:
        while at < len(known) and known[at] in " \t\r\n,":
            at += 1
        try:
            value, at = decode(known, at)
        except (ValueError, RecursionError):
            return found
        if not isinstance(value, dict):
            return found
        found.append(value)
    return found


def _cut_object(text: str) -> list[dict[str, Any]]:
    """An object whose end lies behind the sample: its first keys, whose values are whole."""
    decode = json.JSONDecoder().raw_decode
    found: dict[str, Any] = {}
    at = 1
    try:
        while True:
            while text[at] in " \t\r\n,":
                at += 1
            key, at = decode(text, at)
            while text[at] in " \t\r\n:":
                at += 1
            if text[at] == "[":
                found[str(key)] = []
            value, at = decode(text, at)
            found[str(key)] = value
    except (ValueError, IndexError, RecursionError):
        return [found] if found else []
