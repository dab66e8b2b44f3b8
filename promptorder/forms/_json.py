"""JSON with places: where in the file each value stands.

The standard library's reader says whether the text is JSON and what it holds, but not where. The places are found in a
second pass, made only for files that hold a prompt: one loop with its own stack, so nesting costs no call stack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from promptorder.forms import FormError

Path = tuple[str | int, ...]
_TOKEN = re.compile(r'[{}\[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+', re.DOTALL)
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Node(NamedTuple):
    """A value's place; ``value`` holds the nodes of an object or list, and None of anything else."""

    start: int
    end: int
    value: dict[str, Node] | list[Node] | None = None


class Text(NamedTuple):
    """A string as the model sees it, and where its characters stand (see ``Segment.marks``)."""

    text: str
    start: int
    end: int
    marks: tuple[tuple[int, int], ...] = ()


def load(text: str) -> Any:
    """The value of a JSON text; raises FormError with the line where it breaks."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FormError(f"this is not JSON: {error.msg}", line_of(text[: error.pos])) from None
    except RecursionError:
        raise FormError("this JSON is nested too deeply") from None
    except ValueError as error:  # a number with thousands of digits
        raise FormError(f"this JSON cannot be read: {error}") from None


def line_of(before: str) -> int:
    r"""The line of what comes after a text, from 1; lines end at ``\n``, ``\r\n`` or ``\r``."""
    return 1 + before.count("\n") + before.count("\r") - before.count("\r\n")


def places(text: str) -> Node:
    """The places of a text's values; only for a text that ``load`` has read."""
    open_: list[tuple[dict[str, Node] | list[Node], int, str | None]] = []
    key: str | None = None
    done = Node(0, len(text))
    for match in _TOKEN.finditer(text):
        sign = match[0]
        if sign in "{[":
            open_.append(({} if sign == "{" else [], match.start(), key))
            key = None
            continue
        if sign in ",:":
            continue
        if sign in "}]":
            value, start, key = open_.pop()
            done = Node(start, match.end(), value)
        else:
            done = Node(match.start(), match.end())
        if not open_:
            break
        inside = open_[-1][0]
        if isinstance(inside, list):
            inside.append(done)
        elif key is None:
            key = json.loads(sign, strict=False)
        else:
            inside[key], key = done, None
    return done


def at(node: Node, path: Sequence[str | int]) -> Node | None:
    """The node at a path of keys and indices."""
    for step in path:
        inside = node.value
        if isinstance(inside, dict):
            found = inside.get(str(step))
        elif isinstance(inside, list) and isinstance(step, int) and step < len(inside):
            found = inside[step]
        else:
            return None
        if found is None:
            return None
        node = found
    return node


def strings(text: str, node: Node) -> Iterator[tuple[str, Text]]:
    """All strings in a value with the key that each stands under, in the file's order."""
    waiting: list[tuple[str, Node]] = [("", node)]
    while waiting:
        key, each = waiting.pop()
        if isinstance(each.value, dict):
            waiting.extend(reversed(each.value.items()))
        elif isinstance(each.value, list):
            waiting.extend((key, inner) for inner in reversed(each.value))
        elif text.startswith('"', each.start):
            yield key, string(text, each)


def string(text: str, node: Node) -> Text:
    """A string with its escapes undone; half a surrogate pair becomes the replacement character."""
    start, end = node.start + 1, node.end - 1
    raw = text[start:end]
    if "\\" not in raw:
        return Text(raw, start, end)
    pieces: list[str] = []
    marks = [(0, start)]
    last = length = 0
    for match in _ESCAPE.finditer(raw):
        pieces.append(raw[last : match.start()])
        length += match.start() - last
        if marks[-1][0] == length:  # two escapes side by side
            marks.pop()
        marks.append((length, start + match.start()))
        pieces.append(_unescaped(match[0]))
        length += 1
        last = match.end()
        marks.append((length, start + last))
    pieces.append(raw[last:])
    return Text("".join(pieces), start, end, tuple(marks))


def _unescaped(escape: str) -> str:
    if escape[1] != "u":
        return _SHORT.get(escape[1], escape[1])
    if len(escape) > 6:
        high, low = int(escape[2:6], 16), int(escape[8:12], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    code = int(escape[2:6], 16)
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
