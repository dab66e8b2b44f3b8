"""Mustache and Handlebars: placeholders, sections, helpers, and the variables of chat front ends and flows.

Comments are not sent, partials and raw blocks are static text, and a section over messages stands for the chat history. Of a
section with an ``else`` (or an inverted one of the same name behind it) each branch is a prompt of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from promptorder.forms import FormError
from promptorder.forms._pages import is_page
from promptorder.forms._placeholders import placeholder
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC, VARIABLE, Prompt, Segment, Source

SUFFIXES = (".mustache", ".hbs", ".handlebars")
NAMES = ()
PLAIN = True

MAX_DEPTH = 60
_NEAR = 20_000
"""How far away, in characters, the other branch of a section is looked for."""
_WORD = re.compile(r"[#^/]\s*(?:>\s*)?([\w$.@\-]+)\s*(.*)", re.DOTALL)
_ITEM = re.compile(r"^(?:this|\.|@\w+|\.\./)|^as$")
_LOOKUPS = frozenset("if unless each with".split())
_DIFY = re.compile(r"#[\w.\-]+#")


class _Tag(NamedTuple):
    """A tag; one that is raw or escaped is text, from ``text_at`` on."""

    inside: str
    start: int
    end: int
    text_at: int = -1


class _Section(NamedTuple):
    """An open section: its helper or name, what it is about, and where it was opened."""

    name: str
    about: str
    start: int
    end: int
    turns: bool
    inverted: bool


def prompts(source: Source) -> Iterator[Prompt]:
    """One prompt for the branches that come first and, where there are others, one for those."""
    if is_page(source.path, source.text):
        return
    yield from rendered(source.text)


def rendered(text: str, start: int = 0) -> Iterator[Prompt]:
    """The prompts of a template that begins at ``start``."""
    first = tuple(_Walk(text, start, otherwise=False).run())
    yield Prompt(first)
    second = tuple(_Walk(text, start, otherwise=True).run())
    if second != first:
        yield Prompt(second)


class _Walk:
    """One way through a template: through the branches before an ``else``, or those behind it."""

    def __init__(self, text: str, start: int, *, otherwise: bool) -> None:
        self.text = text
        self.at = start
        self.otherwise = otherwise
        self.open: list[_Section] = []
        self.skip_at: int | None = None
        self.segments: list[Segment] = []

    def run(self) -> list[Segment]:
        last = self.at
        for tag in _tags(self.text, self.at):
            self._text(last, tag.start)
            last = tag.end
            if tag.text_at >= 0:
                self._text(tag.text_at, tag.end)
            else:
                self._tag(tag)
        self._text(last, len(self.text))
        if self.open:
            section = self.open[-1]
            raise FormError(
                f"a section {{{{{section.name}}}}} is not closed", _line(self.text, section.start)
            )
        return self.segments

    def _text(self, start: int, end: int) -> None:
        if end > start and self.skip_at is None:
            self.segments.append(Segment(self.text[start:end], start, end, "prompt", STATIC))

    def _tag(self, tag: _Tag) -> None:
        inside = tag.inside.strip().strip("~").strip()
        if not inside or inside[0] == "!" or inside[0] == "=":
            return
        if inside[0] in "#^" and not _DIFY.fullmatch(inside):
            if inside == "^":
                self._else()
            else:
                self._open(inside, tag)
        elif inside[0] == "/":
            self._close(inside[1:].strip(), tag)
        elif inside == "else" or inside.startswith("else "):
            self._else()
        elif self.skip_at is None:
            self._output(inside, tag)

    def _output(self, inside: str, tag: _Tag) -> None:
        source = self.text[tag.start : tag.end]
        if inside[0] == ">":
            self.segments.append(Segment(source, tag.start, tag.end, "prompt", VARIABLE, "", "static-part"))
            return
        if _is_role(inside):
            return
        inside = inside.lstrip("&").strip()
        segment = placeholder(source, inside, tag.start, "prompt")
        if segment is None:
            return
        if not segment.kind and (self._is_item(segment.name) or _is_constant(inside)):
            segment = segment._replace(kind="fixed", origin=VARIABLE)
        elif not segment.kind and kind_of_name(segment.name) == "history":
            segment = segment._replace(role="history")
        self.segments.append(segment)

    def _is_item(self, name: str) -> bool:
        """A field of what a loop goes over: the loop is what changes."""
        if name.startswith(("this", "@", "../")) or name == ".":
            return any(section.turns or section.about for section in self.open)
        for section in self.open:
            if section.turns and "." not in name:
                return True
            _, named, alias = section.about.rpartition(" as ")
            if named and name.split(".", maxsplit=1)[0] in alias.strip("| ").split():
                return True
        return False

    def _open(self, inside: str, tag: _Tag) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise FormError(f"sections are nested more than {MAX_DEPTH} deep", _line(self.text, tag.start))
        match = _WORD.match(inside)
        if match is None:
            raise FormError("a section has no name", _line(self.text, tag.start))
        name, about = match[1], match[2].strip()
        inverted = inside[0] == "^" or name == "unless"
        of = about.split(" as ", 1)[0].strip() if name in _LOOKUPS else name
        loops = name not in ("if", "unless", "with") and not inverted
        turns = loops and kind_of_name(of) == "history"
        if (
            self.skip_at is None
            and loops
            and not turns
            and (name == "each" or not about)
            and _lists(self.text, tag, name)
        ):
            self._loop(of, tag)
        self.open.append(
            _Section(
                name,
                about if name in _LOOKUPS else about and f"{name} {about}",
                tag.start,
                tag.end,
                turns,
                inverted,
            )
        )
        if (
            self.skip_at is None
            and inverted != self.otherwise
            and not turns
            and self._is_one_of_two(of, tag, inverted)
        ):
            self.skip_at = len(self.open)

    def _is_one_of_two(self, name: str, tag: _Tag, inverted: bool) -> bool:
        """Whether an inverted section stands behind one of the same name, or before it: each is one branch."""
        near = (
            self.text[max(0, tag.start - _NEAR) : tag.start]
            if inverted
            else self.text[tag.end : tag.end + _NEAR]
        )
        mark = "#" if inverted else r"\^"
        return (
            re.search(r"\{\{~?" + mark + r"\s*(?:if\s+)?" + re.escape(name) + r"\s*~?\}\}", near) is not None
        )

    def _loop(self, of: str, tag: _Tag) -> None:
        kind = kind_of_name(of)
        if kind in ("user-data", "question-first", "clock-variable", "date-variable", "request-id", ""):
            return  # a section over one of these is asked whether it is there
        self.segments.append(
            Segment(self.text[tag.start : tag.end], tag.start, tag.end, "prompt", VARIABLE, of)
        )

    def _close(self, name: str, tag: _Tag) -> None:
        if not self.open or (name and self.open[-1].name != name.strip("~ ")):
            raise FormError(f"{{{{/{name}}}}} closes nothing that is open", _line(self.text, tag.start))
        section = self.open.pop()
        if self.skip_at is not None and len(self.open) < self.skip_at:
            self.skip_at = None
        if section.turns and self.skip_at is None:
            of = section.about.split(" as ", 1)[0].strip() if section.name == "each" else section.name
            source = self.text[section.start : section.end]
            self.segments.append(Segment(source, section.start, section.end, "history", VARIABLE, of))

    def _else(self) -> None:
        """Leave the first branch, or go back: in a loop over messages all branches are rendered."""
        if not self.open or any(section.turns for section in self.open):
            return
        depth = len(self.open)
        if self.skip_at is None and not self.otherwise:
            self.skip_at = depth
        elif self.skip_at is None and self.otherwise:
            self._drop_branch()

    def _drop_branch(self) -> None:
        """Take back what the first branch has put out: this walk goes through the second."""
        start = self.open[-1].end
        while self.segments and self.segments[-1].start >= start:
            self.segments.pop()


def _tags(text: str, at: int) -> Iterator[_Tag]:
    """All tags, in their order."""
    left, right = "{{", "}}"
    while True:
        start = text.find(left, at)
        if start < 0:
            return
        if left == "{{" and start and text[start - 1] == "\\" and text[start - 2 : start - 1] != "\\":
            end = text.find("}}", start)
            if end < 0:
                return
            yield _Tag("", start - 1, end + 2, start)
            at = end + 2
            continue
        if (
            left == "{{"
            and text.startswith("{{{{", start)
            and re.match(r"\{\{\{\{\w", text[start : start + 5])
        ):
            name = re.match(r"[\w-]+", text[start + 4 :])
            close = text.find("{{{{/", start)
            stop = text.find("}}}}", close) if close >= 0 else -1
            if stop < 0:
                raise FormError(f"a raw block {name[0] if name else ''} is not closed", _line(text, start))
            opened = text.find("}}}}", start) + 4
            yield _Tag("", start, close, opened)
            at = stop + 4
            yield _Tag("!", close, at)
            continue
        triple = left == "{{" and text.startswith("{{{", start) and not text.startswith("{{{{", start)
        comment = left == "{{" and re.match(r"\{\{~?!--", text[start : start + 6]) is not None
        closing = "--" if comment else "}" + right if triple else right
        end = text.find(closing, start + len(left))
        if comment and end >= 0:
            end = text.find("--", start + 5)
            stop = text.find("}}", end) if end >= 0 else -1
            end, closing = stop, "}}"
        if end < 0:
            raise FormError(f"a tag {left} is not closed", _line(text, start))
        inside = text[start + len(left) + triple : end]
        at = end + len(closing)
        yield _Tag(inside, start, at)
        if inside.startswith("=") and inside.rstrip().endswith("="):
            parts = inside.strip("= \t").split()
            if len(parts) == 2:
                left, right = parts


def _lists(text: str, tag: _Tag, name: str) -> bool:
    """Whether a section goes over something and does not just ask for it: it has an item in it."""
    end = text.find("{{/", tag.end)
    return name == "each" or "{{" in text[tag.end : end if end >= 0 else len(text)]


def _is_role(inside: str) -> bool:
    """Markers of messages, as in ``{{role "system"}}`` and ``{{#system}}``."""
    return inside.startswith(("role ", "media ", "section "))


def _is_constant(inside: str) -> bool:
    return inside[0] in "\"'" or inside[0].isdigit() or inside in ("true", "false", "null")


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
