"""Templates that the file does not fill in where we can see it: their placeholders count as variables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.forms._python_program import Program
from promptorder.forms._python_sinks import Candidate
from promptorder.forms._python_templates import fill, has_placeholders
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC, VARIABLE, Segment

_TEMPLATE_NAME = re.compile(
    r"(?:prompt|template|instructions?|preamble|system|persona)s?(?:_?\w{0,12})?$", re.IGNORECASE
)


def open_templates(program: Program) -> Iterator[Candidate]:
    """The candidates, the constants among them with their placeholders as variables unless they are sent as they stand."""
    sent = {s.start for c in program.candidates if c.sent for s in c.segments if s.origin == STATIC}
    for candidate in program.candidates:
        if candidate.sent or any(s.origin != STATIC for s in candidate.segments):
            yield candidate
        elif candidate.segments and candidate.segments[0].start in sent:
            continue
        else:
            yield candidate._replace(segments=_opened(program, candidate))


def _opened(program: Program, candidate: Candidate) -> tuple[Segment, ...]:
    segments = candidate.segments
    if not _TEMPLATE_NAME.search(candidate.name) and not has_placeholders(segments, "unseen"):
        return segments
    if any("{%" in s.text and "messages" in s.text for s in segments):
        return segments  # the template of a model's chat format, which is filled in by a server
    syntax = "double" if _is_jinja(segments) else "unseen"

    def lookup(name: str, place: tuple[int, int]) -> tuple[Segment, ...]:
        source = program.source[place[0] : place[1]]
        kind = "" if kind_of_name(name) else "fixed"
        return (Segment(source, *place, "prompt", VARIABLE, name, kind),)

    return fill(segments, syntax, lookup)


def _is_jinja(segments: tuple[Segment, ...]) -> bool:
    return not has_placeholders(segments, "unseen") and has_placeholders(segments, "double")
