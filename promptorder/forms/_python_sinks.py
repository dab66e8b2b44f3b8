"""What a prompt is in a program: by names, by calls that take one, by the shape of message lists; and which to report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from promptorder.forms._python_values import (
    MADE,
    Items,
    Star,
    Table,
    Template,
    Text,
    Value,
    pieces_of,
    volatile_in,
)
from promptorder.lint._names import kind_of_name, words
from promptorder.model.lint import STATIC, Prompt, Segment

SYSTEM_KEYWORDS = (
    "system", "system_prompt", "system_message", "system_instruction", "system_instructions", "instructions", "developer",
    "preamble",
 "backstory",)  # fmt: skip
CACHE_KEYWORDS = ("prompt_cache_key", "cache_salt")
PROMPT_KEYWORDS = ("messages", "prompt", "input", "contents", "chat_history", "message")
_ROLES = {
    "system": "system", "developer": "system",
    "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "tool": "assistant", "function": "assistant",
    "placeholder": "history",
}  # fmt: skip
_MESSAGE_CLASSES = re.compile(
    r"^(System|Human|User|AI|Assistant|Developer)(?:ChatMessage|Message|PromptTemplate)"
)
_PROMPT_WORDS = frozenset(
    "prompt prompts instruction instructions preamble sysprompt systemprompt systemmessage sysmsg".split()
)
_BESIDE_SYSTEM = frozenset(
    "system text message msg content template base default role context rules str string part header prefix intro main "
    "head block section body full build make get render create compose assemble my the a for".split()
)
_NOT_PROMPT = frozenset(
    "tokens token length len count path file dir url id ids name names cache key type version cost price input"
    " shell terminal width size".split()
)
_LOOKS = re.compile(
    r"\bYou(?: are|'re) (?:now )?(?:an? |the |acting|working|responsible|helping|in charge|my |[A-Z]\w+[,.])|"
    r"(?:^|\n)\s*You (?:answer|sort|help|write|act|summari[sz]e|classify|translate|review|extract|must|only)\b|"
    r"\bYour (?:task|job|role|goal) is\b|\bAct as an? |<\|(?:im_start|start_header_id|system|begin_of_text)\|?>|\[INST\]|"
    r"<<SYS>>|(?:^|\n)### (?:Instruction|System)|(?:^|\n)Answer (?:the question|only|from|using|in)\b"
)
_OTHER_LANGUAGE = re.compile(
    r"\s*(?:<!DOCTYPE|<html|<\?xml|<div|<style|<svg|#!|SELECT\s|INSERT\s|CREATE\s|UPDATE\s|WITH \w+ AS|import \w|"
    r"from \w+ import|usage:)",
    re.IGNORECASE,
)
_LEAST_BEHIND_HISTORY = 320
LEAST = 100
"""Characters of static text: with less behind something that changes, and no history, nothing is worth a word."""


class Candidate(NamedTuple):
    """A prompt that may be reported, and how sure it is that its text is sent as it stands (``sent``)."""

    name: str
    segments: tuple[Segment, ...]
    sent: bool


def names_a_prompt(name: str) -> bool:
    """Whether a name says that it is a prompt: of a dotted name, its last part."""
    found = words(name.rpartition(".")[2])
    every = frozenset(found)
    if not found or found[-1] in _NOT_PROMPT:
        return False
    return bool(every & _PROMPT_WORDS) or ("system" in every and every <= _BESIDE_SYSTEM)


def looks_like_prompt(pieces: Iterable[Segment]) -> bool:
    """Whether static text speaks to a model."""
    return any(piece.origin == STATIC and _LOOKS.search(piece.text) for piece in pieces)


def is_other_language(pieces: tuple[Segment, ...]) -> bool:
    """Whether a text is a page, a query or a script."""
    first = next((piece for piece in pieces if piece.text.strip()), None)
    return first is not None and first.origin == STATIC and bool(_OTHER_LANGUAGE.match(first.text))


def message_class(name: str) -> str:
    """The role that the class of a message has in its name, or ``""``."""
    match = _MESSAGE_CLASSES.match(name)
    return _ROLES[match[1].lower()] if match else ""


def is_message(value: Value) -> bool:
    """Whether a value is one message of a chat."""
    if isinstance(value, Table):
        keys = {name for name, _ in value.pairs}
        return "role" in keys and bool(keys & {"content", "parts", "text", "tool_calls"})
    if isinstance(value, Items) and len(value.items) == 2:
        return _constant(value.items[0]) in _ROLES
    return False


def is_chat(value: Value) -> bool:
    """Whether a value is a list of messages."""
    return isinstance(value, Items) and any(is_message(item) for item in value.items)


def is_request(table: Table) -> bool:
    """Whether a dict is the body of a request."""
    keys = {name for name, _ in table.pairs}
    return "messages" in keys or ("prompt" in keys and "model" in keys)


def history(segment: Segment) -> Segment:
    """The earlier turns of a chat."""
    return segment._replace(role="history", kind="fixed", changes="")


def messages(value: Value, place: tuple[int, int], *, repeated: bool = False) -> Iterator[Segment]:
    """What is sent as messages, in its order, each piece with its role; ``repeated``: for each item of some other list."""
    if isinstance(value, Template):
        value = value.value
    if isinstance(value, Text) and value.pieces and all(p.origin != STATIC for p in value.pieces):
        value = Items(tuple(Star(piece) for piece in value.pieces))  # list + list, of which nothing is known
    if isinstance(value, Segment):
        value = Items((Star(value),)) if kind_of_name(value.name) == "history" else value
    if not isinstance(value, Items):
        yield from _with_role(pieces_of(value, place), "user")
        return
    for item in value.items:
        if isinstance(item, Star | Segment):
            inner = item.value if isinstance(item, Star) else item
            if isinstance(inner, Segment):
                yield from _unknown_messages(inner)
            else:
                yield from messages(Items((inner,)), place, repeated=True)
        elif is_message(item):
            yield from _message(item, place, repeated=repeated)
        else:
            yield from _with_role(pieces_of(item, place), "user")


def _unknown_messages(segment: Segment) -> Iterator[Segment]:
    if segment.role == "history" or (kind_of_name(segment.name) == "history" and not segment.kind):
        yield history(segment)
    elif segment.kind:
        yield segment._replace(role="user")


def _message(item: Value, place: tuple[int, int], *, repeated: bool) -> Iterator[Segment]:
    if isinstance(item, Table):
        role_value = item.get("role")
        content = item.get("content") or item.get("parts") or item.get("text")
    else:
        assert isinstance(item, Items)
        role_value, content = item.items[0], item.items[1]
    role = _ROLES.get(_constant(role_value) or _attribute(role_value), "")
    pieces = _with_role(pieces_of(_texts(content), place), role or "user")
    if role and role != "history":
        yield from pieces
    else:
        # a message whose role is that of an earlier one: a turn of the history
        yield from (
            history(p) if role or (repeated and _is_history(p)) else p._replace(kind="fixed") for p in pieces
        )


def _texts(content: Value) -> Value:
    """Of content that is a list of blocks, their text."""
    if isinstance(content, Table):
        return content.get("text") or content.get("content")
    if isinstance(content, Star):
        return Star(_texts(content.value))
    if isinstance(content, Items):
        return Items(tuple(_texts(item) for item in content.items))
    return content


def _attribute(value: Value) -> str:
    """``MessageRole.SYSTEM`` as ``system``."""
    return value.name.rpartition(".")[2].lower() if isinstance(value, Segment) else ""


def _constant(value: Value) -> str:
    if isinstance(value, Text) and all(piece.origin == STATIC for piece in value.pieces):
        return "".join(piece.text for piece in value.pieces).lower()
    return ""


def _with_role(pieces: Iterable[Segment], role: str) -> Iterator[Segment]:
    for piece in pieces:
        yield piece._replace(role=role)


def request(keywords: Mapping[str, Value], place: tuple[int, int]) -> tuple[Segment, ...]:
    """A request's pieces in the order in which servers render them: tools, system, messages."""
    segments = [drawn for key in CACHE_KEYWORDS for drawn in _drawn_key(keywords.get(key), place)]
    for key in ("tools", "functions"):
        segments.extend(_with_role(_tool_pieces(keywords.get(key), place), "tools"))
    for key in SYSTEM_KEYWORDS:
        segments.extend(_with_role(pieces_of(_texts(keywords.get(key)), place), "system"))
    # a call that has several of these passes on what it was given, one of them empty
    asked = next((keywords[key] for key in PROMPT_KEYWORDS if keywords.get(key) is not None), None)
    segments.extend(messages(asked, place))
    return settled(segments)


def _drawn_key(value: Value, place: tuple[int, int]) -> Iterator[Segment]:
    """A key of the cache that is drawn in the call itself; one that was drawn before it may be a session's."""
    drawn = volatile_in(value)
    if drawn is not None and drawn.changes == "request" and place[0] <= drawn.start < place[1]:
        yield drawn._replace(role="tools", kind="cache-key-random")


def _tool_pieces(value: Value, place: tuple[int, int]) -> tuple[Segment, ...]:
    """A name that says nothing of what the tools are is no finding: only what a call made volatile is."""
    return tuple(
        piece if piece.kind or piece.origin == STATIC else piece._replace(kind="fixed")
        for piece in pieces_of(value, place)
    )


def settled(segments: list[Segment]) -> tuple[Segment, ...]:
    """What was filled into a turn that the model has answered stays there: it is part of the chat by now."""
    last = max(
        (i for i, s in enumerate(segments) if s.role == "assistant" and s.origin != STATIC), default=-1
    )
    return tuple(
        segment._replace(kind="fixed") if index <= last and _is_said(segment) else segment
        for index, segment in enumerate(segments)
    )


def _is_said(segment: Segment) -> bool:
    named = segment.kind in ("", "question-first", "retrieved-context")
    return named and segment.origin != STATIC and segment.role in ("user", "assistant")


def is_scratchpad(name: str) -> bool:
    """Whether a name holds the steps of the present turn, which rightly come last."""
    return "scratchpad" in words(name) or "steps" in words(name)


def calmed(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """A history that is written into a text, piece by piece, counts where rules stand behind its last piece."""
    last = max((i for i, s in enumerate(segments) if _is_history(s)), default=-1)
    behind = sum(len(s.text) for s in segments[last + 1 :] if s.origin == STATIC)
    return tuple(
        segment._replace(kind="fixed", name="" if is_scratchpad(segment.name) else segment.name)
        if (_is_history(segment) and (index < last or behind < _LEAST_BEHIND_HISTORY))
        or (segment.name and is_scratchpad(segment.name))
        else segment
        for index, segment in enumerate(segments)
    )


def _is_history(segment: Segment) -> bool:
    return segment.origin != STATIC and not segment.kind and kind_of_name(segment.name) == "history"


def tells_something(segments: tuple[Segment, ...]) -> bool:
    """Whether anything but the names of what is passed on is known."""
    return any((s.origin == STATIC and s.text.strip()) or s.kind in MADE for s in segments)


def once(candidates: Iterable[Candidate], explained: set[int]) -> Iterator[Prompt]:
    """Each place is reported in the prompt where most is lost behind it, and no prompt is told twice.

    ``explained`` are places of variables of which the file shows what they are filled with.
    """
    known = (c._replace(segments=calmed(c.segments)) for c in candidates if tells_something(c.segments))
    kept = list(dict.fromkeys(known))
    best: dict[tuple[int, int], tuple[int, int]] = {}
    for number, candidate in enumerate(kept):
        for place, lost in _losses(candidate.segments):
            if lost > best.get(place, (-1, 0))[0]:
                best[place] = (lost, number)
    seen: set[tuple[tuple[int, int], ...]] = set()
    for number, candidate in enumerate(kept):
        places = tuple((s.start, s.end) for s in candidate.segments)
        mine = tuple(
            segment._replace(kind="fixed")
            if segment.origin == STATIC
            else segment
            if segment.kind in ("fixed", "static-part")
            or (best[segment.start, segment.end][1] == number and segment.start not in explained)
            else segment._replace(kind="fixed")
            for segment in candidate.segments
        )
        if places in seen or (number and all(s.kind in ("fixed", "static-part") for s in mine)):
            continue
        seen.add(places)
        yield Prompt(mine, candidate.name)


def _losses(segments: tuple[Segment, ...]) -> Iterator[tuple[tuple[int, int], int]]:
    """Each place that may change, with the size of what stands behind it."""
    behind = 0
    for segment in reversed(segments):
        if segment.origin == STATIC:
            behind += len(segment.text)
            continue
        if segment.kind not in ("fixed", "static-part"):
            yield (segment.start, segment.end), behind
        if segment.role in ("history", "assistant"):
            behind += 1 << 20
        elif segment.kind == "static-part":
            behind += 240
