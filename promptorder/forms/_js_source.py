"""A JavaScript or TypeScript file as a syntax tree whose places are those of the file's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms import FormError
from promptorder.model.lint import STATIC, Segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_BLOCK = 1024
_CHUNK = 1 << 16
_LEAST_STEPS, _BYTES_A_STEP = 1000, 10
"""The densest programs take a step for 34 bytes; on some broken ones the grammar of TypeScript never ends."""
_CONTINUATION = bytes(range(0x80, 0xC0))
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CODE_POINT = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")


class Code:
    """The text, its bytes and its tree."""

    def __init__(self, text: str, suffix: str) -> None:
        self.text = text
        self.data = text.encode("utf-8", "surrogatepass")
        self._ascii = len(self.data) == len(text)
        self._counts: list[int] = []
        self.root = _parse(self.data, suffix)

    def offset(self, byte: int) -> int:
        """The code point at which a byte stands."""
        if self._ascii:
            return byte
        if not self._counts:
            total = 0
            for start in range(0, len(self.data) + _BLOCK, _BLOCK):
                self._counts.append(total)
                total += len(self.data[start : start + _BLOCK].translate(None, _CONTINUATION))
        block = byte // _BLOCK
        return self._counts[block] + len(self.data[block * _BLOCK : byte].translate(None, _CONTINUATION))

    def place(self, node: Node) -> tuple[int, int]:
        """Where a node stands, in code points."""
        return self.offset(node.start_byte), self.offset(node.end_byte)

    def source(self, node: Node) -> str:
        """The text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def error_line(self, marks: tuple[str, ...]) -> int | None:
        """The line of the first place that the grammar does not know, None where that is nothing to do with prompts.

        Grammars lag behind their languages: an error counts where much is lost, or where a prompt's mark stands on its line.
        """
        node = self.root
        while not (node.is_error or node.is_missing):
            broken = next((c for c in node.children if c.has_error or c.is_missing), None)
            if broken is None:
                return None
            node = broken
        lost = sum(c.end_byte - c.start_byte for c in self.root.children if c.is_error)
        start = self.data.rfind(b"\n", 0, node.start_byte) + 1
        line = self.data[start : self.data.find(b"\n", node.end_byte) % (len(self.data) + 1)]
        small = not self.root.is_error and lost * 10 < len(self.data)
        if small and not any(mark.encode() in line for mark in marks):
            return None
        return len(re.findall(rb"\r\n|\r|\n", self.data[: node.start_byte])) + 1

    def static(self, parts: list[Node]) -> Segment:
        """The static text of fragments and escapes that stand one behind the other."""
        text: list[str] = []
        marks: list[tuple[int, int]] = []
        size = 0
        for part in parts:
            piece = self.source(part)
            if part.type == "escape_sequence":
                piece = unescaped(piece)
            marks.append((size, self.offset(part.start_byte)))
            text.append(piece)
            size += len(piece)
        start, end = self.offset(parts[0].start_byte), self.offset(parts[-1].end_byte)
        plain = len(parts) == 1 and parts[0].type != "escape_sequence"
        # A constant of a program is the same in every request, whatever it looks like: hence ``fixed``.
        return Segment(
            "".join(text), start, end, "prompt", STATIC, "", "fixed", "", () if plain else tuple(marks)
        )


def _parse(data: bytes, suffix: str) -> Node:
    from tree_sitter import Language, Parser

    if suffix in (".ts", ".mts", ".cts", ".tsx"):
        import tree_sitter_typescript as grammar

        language = grammar.language_tsx() if suffix == ".tsx" else grammar.language_typescript()
    else:
        import tree_sitter_javascript

        language = tree_sitter_javascript.language()
    left = _LEAST_STEPS + len(data) // _BYTES_A_STEP

    def stop(*_: object) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    def read(at: int, _: object) -> bytes:
        return data[at : at + _CHUNK]

    try:
        return Parser(Language(language)).parse(read, progress_callback=stop).root_node
    except ValueError:
        raise FormError("the parser does not come to an end") from None


def unescaped(source: str) -> str:
    r"""What an escape such as ``\n`` or ``\u{1F642}`` stands for."""
    match = _CODE_POINT.fullmatch(source)
    if match:
        number = int(match[1] or match[2] or match[3], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    if source[1:2] in ("\n", "\r", "\u2028", "\u2029"):
        return ""
    return _ESCAPES.get(source[1:], source[1:])


def unwrapped(node: Node) -> Node:
    """An expression without parentheses, ``await`` and what only TypeScript sees."""
    while node.type in (
        "parenthesized_expression", "await_expression", "as_expression", "satisfies_expression",
        "non_null_expression", "type_assertion",
    ):  # fmt: skip
        inner = node.named_children
        if not inner:
            break
        node = inner[-1] if node.type == "type_assertion" else inner[0]
    return node


def ancestors(node: Node) -> Iterator[Node]:
    """The nodes around a node, from the inside out."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
