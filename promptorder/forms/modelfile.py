"""Ollama's Modelfile: the template with the system text in it, as the server renders them.

``SYSTEM`` and ``MESSAGE`` are written into the model when it is created: whatever stands there is the same in every
request. What changes is what the template itself asks for, such as ``{{ currentDate }}``, and what stands behind that; and
what it writes only with the newest turn, such as the tools, which the next request has at another place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from promptorder.forms import FormError
from promptorder.forms._chat_template import DROPS
from promptorder.model.lint import COMPUTED, STATIC, VARIABLE, Prompt, Segment, Source

SUFFIXES = (".modelfile",)
NAMES = ("Modelfile", "Modelfile*", "*.modelfile", "*.Modelfile")
PLAIN = True

_WORDS = frozenset(
    "from parameter template system adapter license message requires draft renderer parser".split()
)
_LINE = re.compile(r"[ \t]*(?:(?P<comment>#)[^\n]*|(?P<word>[A-Za-z_]\w*)[ \t]+|(?P<rest>[^\n]*))")
_BREAK = re.compile(r"\r\n|\r|\n")
_ACTION = re.compile(r"\{\{-?\s*(?P<inside>[^{}]*?)\s*-?\}\}")
_DATE = re.compile(r"\bcurrentDate\b|\b(?:now|date)\b(?!\s*:)")
_SYSTEM = re.compile(r"(?:^|[\s(])\.?\$?\.System\b")
_HISTORY = re.compile(r"^range\b.*\.Messages\b")
_TOOLS = re.compile(r"(?:^|[\s(])\$?\.Tools\b")
_ABOUT_LAST = re.compile(
    r"^(?:else\s+)?if\b.*(?:\$\w*(?i:last|final|latest)\w*|\blen\s*\(\s*slice\b)(?!.*\.Role\s+\"assistant\")"
)
_MOVES = re.compile(r"\.Tools\b|(?i:think)|\bcurrentDate\b")
_OPENS = re.compile(r"^(?:if|range|with|block|define)\b")
_CLOSES = re.compile(r"^end\b")
_NEXT_BRANCH = re.compile(r"^else\b")


class Instruction(NamedTuple):
    """A word with its argument: where the argument's text stands."""

    word: str
    start: int
    end: int


def prompts(source: Source) -> Iterator[Prompt]:
    """The prompt that a request begins with; none where there is neither a system text nor a template."""
    found = list(instructions(source.text))
    last = {each.word: each for each in found}
    system = tuple(_baked(source.text, last["system"], "system")) if "system" in last else ()
    messages = tuple(
        segment for each in found if each.word == "message" for segment in _message(source.text, each)
    )
    if "template" in last:
        yield Prompt(tuple(_template(source.text, last["template"], system, messages)), "TEMPLATE")
    elif system or messages:
        yield Prompt((*system, *messages), "SYSTEM")


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions of a file, in their order; raises FormError where a text in quotes does not end."""
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        word = (match["word"] or "").lower() if match else ""
        if match is None or word not in _WORDS:
            at = _next_line(text, at)
            continue
        start, end, at = _argument(text, match.end(), word)
        yield Instruction(word, start, end)


def _argument(text: str, at: int, word: str) -> tuple[int, int, int]:
    """Where an argument's text begins and ends, and where what follows it does."""
    begin = at
    if word == "message":
        said = re.compile(r"[A-Za-z]+[ \t]+").match(text, at)
        at = said.end() if said else at
    for quotes in ('"""', '"'):
        if not text.startswith(quotes, at):
            continue
        end = text.find(quotes, at + len(quotes))
        if end < 0:
            raise FormError("a text in quotes does not end", len(_BREAK.findall(text, 0, at)) + 1)
        return (begin if word == "message" else at + len(quotes)), end, _next_line(text, end)
    end = _end_of_line(text, at)
    return begin, end, _next_line(text, at)


def _baked(text: str, each: Instruction, role: str) -> Iterator[Segment]:
    if each.end > each.start:
        yield Segment(text[each.start : each.end], each.start, each.end, role, STATIC, "", "fixed")


def _message(text: str, each: Instruction) -> Iterator[Segment]:
    match = re.compile(r"([A-Za-z]+)[ \t]+(?:\"\"\"|\")?").match(text, each.start, each.end)
    if match is None or match.end() >= each.end:
        return
    role = match[1].lower()
    yield from _baked(
        text,
        Instruction("", match.end(), each.end),
        role if role in ("system", "user", "assistant") else "user",
    )


def _template(
    text: str, each: Instruction, system: tuple[Segment, ...], messages: tuple[Segment, ...]
) -> Iterator[Segment]:
    """The template's own text and actions, with the system text where the template first puts it."""
    waiting: tuple[Segment, ...] = system
    last = each.start
    moving = _moving(text, each)
    for match in _ACTION.finditer(text, each.start, each.end):
        if match.start() > last:
            yield Segment(text[last : match.start()], last, match.start(), "prompt", STATIC, "", "fixed")
        last = match.end()
        inside = match["inside"]
        here = (match[0], match.start(), match.end())
        looped = _HISTORY.search(inside)
        if waiting and (looped or (_SYSTEM.search(inside) and not inside.startswith(("if", "else", "with")))):
            yield from waiting
            waiting = ()
        if looped:
            yield from messages
            yield Segment(*here, "history", VARIABLE, "", "fixed")
        elif match.start() in moving:
            yield Segment(*here, "history", COMPUTED, DROPS, "template-history", "turn")
            yield Segment(*here, "history", VARIABLE, "", "fixed")  # the turns behind it, in the same loop
        elif _DATE.search(inside):
            yield Segment(*here, "prompt", COMPUTED, "currentDate", "template-clock", "day")
        elif _TOOLS.search(inside):
            yield Segment(*here, "tools", VARIABLE, "", "static-part")
        else:
            yield Segment(*here, "prompt", VARIABLE, "", "fixed")
    if last < each.end:
        yield Segment(text[last : each.end], last, each.end, "prompt", STATIC, "", "fixed")


def _moving(text: str, each: Instruction) -> set[int]:
    """Where conditions in the loop over messages begin that write something only with the newest turn."""
    open_at: list[tuple[int, bool]] = []
    found: set[int] = set()
    for match in _ACTION.finditer(text, each.start, each.end):
        inside = match["inside"]
        if _NEXT_BRANCH.match(inside) and open_at:
            _note_branch(text, open_at.pop(), match.start(), found)
            open_at.append((match.start(), _ABOUT_LAST.match(inside) is not None and bool(open_at)))
        elif _OPENS.match(inside):
            open_at.append((match.start(), _ABOUT_LAST.match(inside) is not None and bool(open_at)))
        elif _CLOSES.match(inside) and open_at:
            _note_branch(text, open_at.pop(), match.start(), found)
    return found


def _note_branch(text: str, branch: tuple[int, bool], end: int, found: set[int]) -> None:
    start, about_last = branch
    if about_last and _MOVES.search(text, start, end):
        found.add(start)


def _end_of_line(text: str, at: int) -> int:
    match = _BREAK.search(text, at)
    return match.start() if match else len(text)


def _next_line(text: str, at: int) -> int:
    match = _BREAK.search(text, at)
    return match.end() if match else len(text)
