"""Jinja's tags as a tree, with places: text, outputs, statements and blocks. No expression is looked into here.

Written by hand because jinja2 costs more to import than all of lint, keeps lines but no columns, and knows only the tags
that it was told of, while prompts use those of many programs.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from promptorder.forms import FormError

MAX_DEPTH = 60
"""Blocks within blocks: no person writes more, and each level is a level of recursion."""

_OPEN = re.compile(r"\{[{%#]")
_INSIDE = re.compile(
    r"""(?P<quote>"(?:\\.|[^"\\])*+(?P<d>"?)|'(?:\\.|[^'\\])*+(?P<s>'?))|[{}()\[\]]|%""", re.DOTALL
)
_END_RAW = re.compile(r"\{%([-+]?)\s*endraw\s*([-+]?)%\}")
_WORD = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_BRANCHES = {"if": ("elif", "else"), "for": ("else",), "elif": (), "trans": ("pluralize",)}
_BLOCKS = frozenset(
    "if for macro call filter block with autoescape trans generation unless capture comment".split()
)


class Text(NamedTuple):
    """Text as it stands in the file, white space at trimmed tags left out."""

    text: str
    start: int


class Output(NamedTuple):
    """``{{ ... }}``: what is inside and where it begins, and the tag's own bounds."""

    inside: str
    inside_start: int
    start: int
    end: int


class Branch(NamedTuple):
    """A tag that opens a block or one of its alternatives, and what is in it."""

    word: str
    rest: str
    rest_start: int
    start: int
    end: int
    body: list[Node]


class Block(NamedTuple):
    """A block: one branch, or several for ``if`` and ``for ... else``."""

    branches: list[Branch]

    @property
    def word(self) -> str:
        """What kind of block it is."""
        return self.branches[0].word


class Statement(NamedTuple):
    """A tag without a body, such as ``{% include %}`` or ``{% set x = ... %}``."""

    word: str
    rest: str
    rest_start: int
    start: int
    end: int


Node = Text | Output | Block | Statement


def parse(text: str, start: int = 0) -> list[Node]:
    """The tree of ``text`` from ``start`` on; raises FormError with the line where it breaks."""
    root: list[Node] = []
    body, open_blocks = root, list[tuple[Block, list[Node]]]()
    at, trim = start, False

    def line(offset: int) -> int:
        return text.count("\n", 0, offset) + 1

    while True:
        match = _OPEN.search(text, at)
        stop = match.start() if match else len(text)
        _add_text(
            body,
            Text(text[at:stop], at),
            trim,
            match is not None and text[match.end() : match.end() + 1] == "-",
        )
        if match is None:
            break
        if match[0] == "{#":
            end = text.find("#}", match.end())
            if end < 0:
                raise FormError("a comment {# is not closed", line(stop))
            trim, at = text[end - 1] == "-", end + 2
            continue
        end = _tag_end(text, match.end(), match[0][1])
        if end < 0:
            raise FormError(f"a tag {match[0]} is not closed", line(stop))
        at, trim = end, text[end - 3] == "-"
        inside_start = match.end() + (text[match.end()] in "-+")
        inside = text[inside_start : end - 2 - (text[end - 3] in "-+" and end - 3 >= inside_start)]
        if match[0] == "{{":
            body.append(Output(inside, inside_start, stop, end))
            continue
        word_match = _WORD.match(inside)
        if word_match is None:
            continue
        word = word_match[1]
        rest, rest_start = inside[word_match.end() :], inside_start + word_match.end()
        if word == "raw":
            close = _END_RAW.search(text, at)
            if close is None:
                raise FormError("a block {% raw %} is not closed", line(stop))
            body.append(Text(text[at : close.start()], at))
            at, trim = close.end(), close[2] == "-"
        elif word in _BLOCKS or (word == "set" and not _assigns(rest)):
            if len(open_blocks) >= MAX_DEPTH:
                raise FormError(f"blocks are nested more than {MAX_DEPTH} deep", line(stop))
            block = Block([Branch(word, rest, rest_start, stop, end, [])])
            body.append(block)
            open_blocks.append((block, body))
            body = block.branches[0].body
        elif open_blocks and word in _BRANCHES.get(open_blocks[-1][0].word, ()):
            block = open_blocks[-1][0]
            block.branches.append(Branch(word, rest, rest_start, stop, end, []))
            body = block.branches[-1].body
        elif word.startswith("end") and (word[3:] in _BLOCKS or word == "endset"):
            if not open_blocks or open_blocks[-1][0].word != word[3:]:
                raise FormError(f"{{% {word} %}} closes nothing that is open", line(stop))
            body = open_blocks.pop()[1]
        else:
            body.append(Statement(word, rest, rest_start, stop, end))
    if open_blocks:
        branch = open_blocks[-1][0].branches[0]
        raise FormError(f"a block {{% {branch.word} %}} is not closed", line(branch.start))
    return root


def _add_text(body: list[Node], text: Text, trim_start: bool, trim_end: bool) -> None:
    kept = text.text.lstrip() if trim_start else text.text
    start = text.start + len(text.text) - len(kept)
    kept = kept.rstrip() if trim_end else kept
    if kept:
        body.append(Text(kept, start))


def _tag_end(text: str, at: int, kind: str) -> int:
    """Where the tag ends, that opened with ``{`` and ``kind``; -1 if it does not. Strings and braces are skipped."""
    depth = 0
    while match := _INSIDE.search(text, at):
        at = match.end()
        found = match[0]
        if match["quote"]:
            if not (match["d"] or match["s"]):
                return -1
        elif found == "%":
            if kind == "%" and text.startswith("}", at):
                return at + 1
        elif found == "}" and kind == "{" and depth == 0:
            if text.startswith("}", at):
                return at + 1
        elif found in "{[(":
            depth += 1
        else:
            depth = max(0, depth - 1)
    return -1


def _assigns(rest: str) -> bool:
    """Whether a ``set`` has its value in the tag; without one, its body is the value."""
    return re.match(r"[\w.,\s()]+=(?!=)", rest) is not None
