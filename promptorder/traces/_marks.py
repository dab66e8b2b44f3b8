"""What a caller says of caching beside its texts: marks, lifetimes, and what parts the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from promptorder.forms._json import Path
from promptorder.forms._lifetimes import lifetime
from promptorder.forms._requests import OLLAMA
from promptorder.forms._requests import breakpoints as marked
from promptorder.model.trace import Breakpoint

MESSAGES = ("messages", "input")
_LIFETIMES_S = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0, "12h": 43200.0, "24h": 86400.0}
_BEHIND = ("tool_choice", "thinking", "output_config", "effort")
"""What parts Anthropic's cache of the messages, and leaves that of tools and system text alone; so does any picture."""


def block_of(path: Path) -> Path:
    """The content block that a part belongs to: a tool, a system text, a block of a message, or all of a plain one."""
    if path[0] in MESSAGES and len(path) >= 4 and path[2] == "content":
        return path[:4]
    return path[:2]


def breakpoints(body: dict[str, Any], keys: Sequence[Path]) -> Iterator[Breakpoint]:
    """The caller's marks, in the order of blocks; a mark on a block that holds nothing is none."""
    found: dict[int, float | None] = {}
    for given in marked(body):
        at = _at(keys, given.path) if given.path else len(keys) - 1
        if at >= 0:
            found[at] = _LIFETIMES_S.get(given.ttl)
    for name in ("system", *MESSAGES):
        for path, block in _content_blocks(body.get(name), (name,)):
            mark = block.get("prompt_cache_breakpoint")
            if isinstance(mark, dict) and (at := _at(keys, path)) >= 0:
                found[at] = _LIFETIMES_S.get(str(mark.get("ttl")))
    return (Breakpoint(at, lifetime_s) for at, lifetime_s in sorted(found.items()))


def _content_blocks(value: object, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for index, each in enumerate(value if isinstance(value, list) else ()):
        if isinstance(each, dict):
            yield (*path, index), each
            if path[-1] != "content":
                yield from _content_blocks(each.get("content"), (*path, index, "content"))


def _at(keys: Sequence[Path], path: Path) -> int:
    wanted = block_of(path)
    return next((at for at in reversed(range(len(keys))) if keys[at] == wanted), -1)


def messages_key(body: dict[str, Any], *, pictures: bool) -> str:
    """What parts Anthropic's cache of the messages beside their text, the same for the same settings."""
    said = {key: body[key] for key in _BEHIND if body.get(key) is not None}
    if pictures:
        said["pictures"] = True
    return json.dumps(said, sort_keys=True) if said else ""


def is_explicit(body: dict[str, Any]) -> bool:
    """Whether the caller switched OpenAI's own mark off."""
    options = body.get("prompt_cache_options")
    return isinstance(options, dict) and options.get("mode") == "explicit"


def retention_s(body: dict[str, Any], api: str) -> float | None:
    """How long the request asks for its cache, or at Ollama for its model, to be kept."""
    if api == OLLAMA and body.get("keep_alive") is not None:
        kept = lifetime(OLLAMA, body)
        return kept.seconds if kept else None
    options = body.get("prompt_cache_options")
    asked = options.get("ttl") if isinstance(options, dict) else body.get("prompt_cache_retention")
    return _LIFETIMES_S.get(str(asked))
