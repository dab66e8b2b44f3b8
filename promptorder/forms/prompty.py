"""Prompty files: YAML front matter that is not sent, then messages under ``system:``, ``user:`` and ``assistant:``.

The body is a Jinja template or, where the front matter says so or it is written like one, a Mustache template. Sample
values in the front matter are for trying it out and no part of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.forms import FormError, jinja, mustache
from promptorder.forms.markdown import body_start
from promptorder.model.lint import STATIC, Prompt, Segment, Source

SUFFIXES = (".prompty",)
NAMES = ()
PLAIN = True

_MUSTACHE = re.compile(
    r"^[ \t]*(?:template|type|format|template_format)\s*:\s*['\"]?(?:mustache|handlebars)", re.MULTILINE
)
_MUSTACHE_TAG = re.compile(r"\{\{[#^/>!][\w\s]")
_ROLE = re.compile(
    r"^[ \t]*(?:#[ \t]*)?(system|developer|user|assistant|function|tool)(?:\[[^\]\n]*\])?[ \t]*:[ \t]*(?:\r?\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_ROLES = {"system": "system", "developer": "system", "user": "user"}


def prompts(source: Source) -> Iterator[Prompt]:
    """One prompt for each way through the template's branches, divided into messages."""
    text = source.text
    start = body_start(text)
    if start == 0 and re.match(r"---[ \t]*\r?\n", text):
        raise FormError("the front matter --- is not closed", 1)
    by_mustache = _MUSTACHE.search(text, 0, start) or (
        "{%" not in text[start:] and _MUSTACHE_TAG.search(text, start)
    )
    reader = mustache.rendered if by_mustache else jinja.rendered
    for prompt in reader(text, start):
        yield Prompt(tuple(_messages(prompt.segments, text)), prompt.name)


def _messages(segments: tuple[Segment, ...], text: str) -> Iterator[Segment]:
    """The segments with their roles; a turn that has an answer behind it is an example and stays as it is."""
    divided = list(_divided(segments, text))
    answered = max((i for i, segment in enumerate(divided) if segment.role == "assistant"), default=-1)
    for index, segment in enumerate(divided):
        if segment.role in ("system", "history"):
            yield segment
        elif segment.origin == STATIC and index <= answered:
            yield segment._replace(role="prompt", kind="fixed")
        else:
            # What is written around the newest question is written in each request: it is no new turn.
            yield segment._replace(role="prompt")


def _divided(segments: tuple[Segment, ...], text: str) -> Iterator[Segment]:
    """The segments with the roles of the markers above them; the markers themselves are not sent."""
    role = "system"
    for segment in segments:
        if segment.origin != STATIC or segment.kind:
            yield segment if segment.role == "history" else segment._replace(role=role)
            continue
        last = 0
        for match in _ROLE.finditer(segment.text):
            if not _begins_line(text, segment.start + match.start()):
                continue
            yield from _part(segment, last, match.start(), role)
            role = _ROLES.get(match[1].lower(), "assistant")
            last = match.end()
        yield from _part(segment, last, len(segment.text), role)


def _part(segment: Segment, start: int, end: int, role: str) -> Iterator[Segment]:
    if end > start:
        yield Segment(segment.text[start:end], segment.start + start, segment.start + end, role)


def _begins_line(text: str, offset: int) -> bool:
    return offset == 0 or text[offset - 1] in "\r\n"
