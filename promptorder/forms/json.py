"""JSON: one request as it is sent, a list of messages, or a file that keeps a prompt; any other JSON holds none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from promptorder.forms import FormError
from promptorder.forms._json import Node, Path, Text, at, line_of, load, places, string, strings
from promptorder.model.lint import STATIC, Prompt, Segment, Source

if TYPE_CHECKING:
    from promptorder.forms._requests import Part

SUFFIXES = (".json",)
NAMES = ()
PLAIN = False
_IN_REQUESTS = frozenset(("double", "dollar", "erb"))
"""A stored request may be a template; a single brace in one is more often an example in the text."""
_IN_TEMPLATES = frozenset(("double", "dollar", "erb", "percent", "single", "bare"))
_IN_ORDER = ("system", "system_prompt", "systemPrompt", "system_message", "instructions", "prompt", "template",
             "user", "user_prompt", "userPrompt", "user_message")  # fmt: skip
_LANGCHAIN_ROLES = {"SystemMessage": "system", "AIMessage": "assistant", "HumanMessage": "user"}
_MOST_PROMPTS = 1000


def prompts(source: Source) -> Iterator[Prompt]:
    """The prompts of the file, in its order; none where it is other JSON."""
    text = source.text
    if _is_lines(text):
        from promptorder.forms import jsonl

        yield from jsonl.prompts(source)
        return
    value = load(text)
    if isinstance(value, (dict, list)):
        try:
            yield from _prompts(source, value)
        except RecursionError:
            raise FormError("this JSON is nested too deeply") from None


def request_prompt(text: str, root: Node, body: dict[str, Any], path: Path) -> Prompt:
    """The prompt of one request whose body stands at ``path``."""
    from promptorder.forms._requests import Request, breakpoints, parts, provider

    node = at(root, path) or root
    every = tuple(parts(body))
    segments: list[Segment] = []
    first: list[int] = []
    for part in every:
        first.append(len(segments))
        segments.extend(_segments(text, node, part, _IN_REQUESTS))
    found: dict[Path, tuple[int, int]] = {}
    for each in (*(part.path for part in every), *(mark.path for mark in breakpoints(body))):
        place = at(node, each)
        if place is not None:
            found[each] = (place.start, place.end)
    for key in ("prompt_cache_key", "cache_salt", "extra_key"):
        place = at(node, (key,))
        if place is not None:
            found[(key,)] = (place.start, place.end)
    request = Request(provider(body), body, every, (*first, len(segments)), found)
    return Prompt(tuple(segments), ".".join(str(step) for step in path), literal=True, request=request)


def _prompts(source: Source, value: dict[str, Any] | list[Any]) -> Iterator[Prompt]:
    from promptorder.forms._requests import is_messages, unwrap

    text = source.text
    if isinstance(value, dict):
        body, path = unwrap(value)
        if body is not None:
            yield request_prompt(text, places(text), body, path)
            return
        several = value.get("requests")
        if isinstance(several, list):  # a batch
            yield from _log(source, several, ("requests",))
            return
        yield from _templates(text, value)
    elif is_messages(value) and all("content" in message for message in value):
        yield _messages(text, places(text), value, ())
    else:
        yield from _log(source, value, ())


def _log(source: Source, values: list[Any], path: Path) -> Iterator[Prompt]:
    """A list of requests is a log; a list of anything else is none."""
    from promptorder.forms._requests import unwrap

    # A list without any model is a data set of messages, whoever its last one is from.
    if not values or not all(isinstance(body, dict) and "model" in body for body, _ in map(unwrap, values)):
        return
    from promptorder.lint.logs import Follower

    node = at(places(source.text), path)
    follower, line, last = Follower(), 1, 0
    for value, element in zip(
        values, node.value if node and isinstance(node.value, list) else (), strict=False
    ):
        raw = source.text[element.start : element.end]
        line, last = line + line_of(source.text[last : element.start]) - 1, element.start
        follower.feed(value, line, element.start, raw)
    yield Prompt((), literal=True, request=follower.log())


def _templates(text: str, value: dict[str, Any]) -> Iterator[Prompt]:
    """Prompts kept in a file of their own: under well-known keys, as messages, or as LangChain writes them."""
    from promptorder.forms._requests import _ANSWERS, is_messages

    messages = value.get("messages")
    if _ANSWERS & value.keys() or "openapi" in value or "nbformat" in value:
        return
    if (
        isinstance(messages, list)
        and is_messages(messages)
        and messages[-1]["role"] in ("assistant", "model")
    ):
        return
    if value.get("lc") == 1 and isinstance(value.get("kwargs"), dict):
        segments = tuple(_langchain(text, places(text), value))
        if segments:
            yield Prompt(segments)
        return
    keys = [key for key in _IN_ORDER if isinstance(value.get(key), str)]
    if keys:
        root = places(text)
        yield Prompt(
            tuple(
                segment
                for key in keys
                for segment in _pieces(_text(text, root, (key,)), _role_of(key), _IN_TEMPLATES)
            )
        )
    listed = value.get("prompts")
    if isinstance(listed, (list, dict)):
        yield from _listed(text, listed)


def _listed(text: str, listed: list[Any] | dict[str, Any]) -> Iterator[Prompt]:
    from promptorder.forms._requests import is_messages

    root = places(text)
    entries = listed.items() if isinstance(listed, dict) else enumerate(listed)
    for number, (key, each) in enumerate(entries):
        if number >= _MOST_PROMPTS:
            return
        path: Path = ("prompts", key if isinstance(key, int) else str(key))
        if isinstance(each, str):
            name = f"prompts.{key}" if isinstance(listed, dict) else ""
            yield Prompt(tuple(_pieces(_text(text, root, path), "prompt", _IN_TEMPLATES)), name)
        elif isinstance(each, list) and is_messages(each):
            yield _messages(text, root, each, path)
        elif isinstance(each, dict):
            inner = next(
                (k for k in ("template", "prompt", "content", "raw", "text") if isinstance(each.get(k), str)),
                "",
            )
            if inner:
                place = _text(text, root, (*path, inner))
                yield Prompt(tuple(_pieces(place, "prompt", _IN_TEMPLATES)), f"prompts.{key}")


def _messages(text: str, root: Node, messages: list[Any], path: Path) -> Prompt:
    from promptorder.forms._requests import parts

    node = at(root, path) or root
    segments = [
        segment
        for part in parts({"messages": messages})
        for segment in _segments(text, node, part._replace(path=part.path[1:]), _IN_TEMPLATES)
    ]
    return Prompt(tuple(segments), ".".join(str(step) for step in path))


def _langchain(text: str, root: Node, value: dict[str, Any]) -> Iterator[Segment]:
    """A prompt as LangChain serialises it: messages, or one template."""
    kwargs = value["kwargs"]
    messages = kwargs.get("messages")
    entries: list[tuple[Any, Path]] = [(value, ())]
    if isinstance(messages, list):
        entries = [(message, ("kwargs", "messages", index)) for index, message in enumerate(messages)]
    for message, path in entries:
        names = message.get("id") if isinstance(message, dict) else None
        name = str(names[-1]) if isinstance(names, list) and names else ""
        role = next((r for start, r in _LANGCHAIN_ROLES.items() if name.startswith(start)), "prompt")
        for inner in (
            ("kwargs", "prompt", "kwargs", "template"),
            ("kwargs", "template"),
            ("kwargs", "content"),
        ):
            node = at(root, (*path, *inner))
            if node is not None and text.startswith('"', node.start):
                yield from _pieces(string(text, node), role, _IN_TEMPLATES)
                break


def _segments(text: str, body: Node, part: Part, syntaxes: frozenset[str]) -> Iterator[Segment]:
    """The segments of one part: a tool's description is searched, its schema only counted."""
    node = at(body, part.path)
    if node is None or part.kind in ("image", "id"):
        return
    if part.kind == "text" and text.startswith('"', node.start):
        yield from _pieces(string(text, node), part.role, syntaxes)
        return
    described = (
        [at(node, (*path, "description")) for path in ((), ("function",))] if part.kind == "tool" else []
    )
    spans = {place.start + 1 for place in described if place is not None}
    for key, each in strings(text, node):
        if key not in ("id", "call_id") and each.text:
            searched = part.kind == "tool" and each.start in spans
            role = "tools" if searched else "schema" if part.role in ("tools", "schema") else part.role
            yield Segment(each.text, each.start, each.end, role, STATIC, marks=each.marks)


def _pieces(each: Text, role: str, syntaxes: frozenset[str]) -> Iterator[Segment]:
    """Static text and placeholders of a string, in the places where they stand in the file."""
    from promptorder.forms._placeholders import split

    whole = Segment(each.text, each.start, each.end, role, marks=each.marks)
    for segment in split(each.text, role=role, syntaxes=syntaxes):
        if not segment.text:
            continue
        start, end = whole.place(segment.start), whole.place(segment.end - 1) + 1
        marks: tuple[tuple[int, int], ...] = ()
        if each.marks:
            inside = ((a - segment.start, b) for a, b in each.marks if segment.start < a < segment.end)
            marks = ((0, start), *inside)
        yield segment._replace(start=start, end=end, marks=marks)


def _text(text: str, root: Node, path: Path) -> Text:
    node = at(root, path)
    assert node is not None  # the path was found in the value that the same text holds
    return string(text, node)


def _role_of(key: str) -> str:
    if key.startswith(("system", "instructions")):
        return "system"
    return "user" if key.startswith("user") else "prompt"


def _is_lines(text: str) -> bool:
    """Whether a file named .json is JSON lines: several values, one a line."""
    from json import JSONDecodeError, loads

    start = text.lstrip()
    if not start.startswith("{"):
        return False
    line, _, rest = start.partition("\n")
    if not rest.lstrip().startswith("{"):
        return False
    try:
        return isinstance(loads(line), dict)
    except (JSONDecodeError, ValueError, RecursionError):
        return False
