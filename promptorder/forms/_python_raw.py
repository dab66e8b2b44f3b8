"""Templates that the file does not fill in where we can see it, and programs that cannot be parsed.

The placeholders of such templates count as variables; of a program in a newer syntax, the literals are searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.forms._python_program import Program
from promptorder.forms._python_sinks import Candidate, looks_like_prompt, names_a_prompt
from promptorder.forms._python_strings import Field, parts
from promptorder.forms._python_templates import fill, first_name, has_placeholders
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import COMPUTED, STATIC, VARIABLE, Prompt, Segment

_TEMPLATE_NAME = re.compile(
    r"(?:prompt|template|instructions?|preamble|system|persona)s?(?:_?\w{0,12})?$", re.IGNORECASE
)

_ASSIGNED = re.compile(r"(?P<name>\w+)\s*=\s*\(?\s*(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|\'\'\')")


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


def prompts_in_literals(text: str) -> Iterator[Prompt]:
    """Prompts in a program that cannot be parsed: the long literals that a name or their own words call one."""
    at = 0
    while match := _ASSIGNED.search(text, at):
        end = text.find(match["quote"], match.end()) + len(match["quote"])
        at = match.end()
        if end < at:
            return
        found = tuple(_part(text, part) for part in parts(text, match.start("prefix"), end))
        at = end
        if names_a_prompt(match["name"]) or looks_like_prompt(found):
            yield Prompt(found, match["name"])


def _part(text: str, part: Segment | Field) -> Segment:
    if isinstance(part, Segment):
        return part._replace(kind="fixed")
    from promptorder.forms._placeholders import judge

    source = text[part.start : part.end]
    kind, changes = judge(source)
    kind = {"template-clock": "clock-call"}.get(kind, kind)
    return Segment(source, part.start, part.end, "prompt", COMPUTED, first_name(source), kind, changes)
