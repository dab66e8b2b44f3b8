"""TOML: prompts under keys and in lists of messages.

The standard library's parser says whether a file is TOML but not where its values stand, so the strings are found by a
scanner of their own, which need not check anything any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.forms import FormError
from promptorder.forms._data import Leaf, Mapping, Node, Sequence, has_text, prompts_of
from promptorder.forms._marked import align, split_marked
from promptorder.model.lint import Prompt, Segment, Source

SUFFIXES = (".toml",)
NAMES = ()
PLAIN = False

_MAY_HOLD_ONE = re.compile(
    r"(?:prompts?|instructions?|system\w*|messages?|template|persona|preamble|role|user)[\w-]*[\"']?[ \t]*(?:=|\])",
    re.IGNORECASE,
)
_NAMED_FOR_PROMPTS = re.compile(r"prompt", re.IGNORECASE)
_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\#[^\n]*) | (?P<line>\r?\n)
    | (?P<string> \"{3}(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5} | '{3}(?:[^']|'{1,2}(?!'))*'{3,5}
      | "(?:[^"\\\n]|\\.)*" | '[^'\n]*' )
    | (?P<sign>\[\[|\]\]|[\[\]{}=,.]) | (?P<bare>[^\s\[\]{}=,.\#"']+) | (?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\[ \t]*\r?\n\s*|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\x[0-9A-Fa-f]{2}|\\.|\r\n", re.DOTALL
)
_NEWLINE = re.compile(r"\r\n")
_CODE_POINT = re.compile(r"\\[uUx]([0-9A-Fa-f]+)")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\b": "\b", "\\f": "\f", "\\e": "\x1b", "\r\n": "\n"}
_DEEPEST = 60


def prompts(source: Source) -> Iterator[Prompt]:
    """The prompts of a file."""
    named = bool(_NAMED_FOR_PROMPTS.search(source.path.rsplit("/", 1)[-1]))
    if not named and not _MAY_HOLD_ONE.search(source.text):
        return
    _check(source.text)
    for prompt in prompts_of(_Reader(source.text).document(), _segments, all_prompts=named):
        if has_text(prompt):
            yield prompt


def _check(text: str) -> None:
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        line = int(place[1]) if place else text.count("\n") + 1
        raise FormError(re.sub(r" \(at .*\)$", "", str(error)), line) from None
    except RecursionError:
        raise FormError("nested too deeply") from None


class _Reader:
    """From text that is known to be TOML to a tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            (match.lastgroup or "", match.start(), match.end())
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "blank"
        ]
        self.at = 0
        self.known: dict[tuple[int, str], Node] = {}

    def document(self) -> Mapping:
        """The whole file."""
        root = table = Mapping([])
        while self.at < len(self.tokens):
            kind = self._kind()
            if kind == "line":
                self.at += 1
            elif kind in ("[", "[["):
                self.at += 1
                table = self._table(root, self._keys(), new=kind == "[[")
                self.at += 1
            else:
                self._pair(table)
        return root

    def _kind(self) -> str:
        if self.at >= len(self.tokens):
            return ""
        kind, start, end = self.tokens[self.at]
        return self.text[start:end] if kind == "sign" else kind

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while self._kind() in ("bare", "string", "."):
            kind, start, end = self.tokens[self.at]
            if kind != "sign":
                keys.append(self.text[start:end].strip("\"'"))
            self.at += 1
        return keys

    def _pair(self, table: Mapping) -> None:
        keys = self._keys()
        if not keys or self._kind() != "=":
            self.at += 1
            return
        self.at += 1
        inner = self._table(table, keys[:-1], new=False)
        value = self._value(0)
        if value is not None:
            self._add(inner, keys[-1], value)

    def _table(self, root: Mapping, keys: list[str], *, new: bool) -> Mapping:
        """The table of a header, made if there is none; of a list of tables the last one."""
        table = root
        for number, key in enumerate(keys):
            found = self.known.get((id(table), key))
            if new and number == len(keys) - 1:
                fresh = Mapping([])
                if isinstance(found, Sequence):
                    found.items.append(fresh)
                else:
                    self._add(table, key, Sequence([fresh]))
                return fresh
            if isinstance(found, Sequence) and found.items:
                found = found.items[-1]
            if not isinstance(found, Mapping):
                found = Mapping([])
                self._add(table, key, found)
            table = found
        return table

    def _add(self, table: Mapping, key: str, value: Node) -> None:
        table.pairs.append((key, value))
        self.known[id(table), key] = value

    def _value(self, depth: int) -> Node | None:
        kind = self._kind()
        if depth > _DEEPEST:
            raise FormError("nested too deeply", self.text.count("\n", 0, self.tokens[self.at][1]) + 1)
        if kind in ("[", "[["):
            return self._array(depth)
        if kind == "{":
            self.at += 1
            table = Mapping([])
            while self._kind() not in ("}", ""):
                if self._kind() in (",", "line"):
                    self.at += 1
                else:
                    keys = self._keys()
                    self.at += 1
                    value = self._value(depth + 1)
                    if keys and value is not None:
                        table.pairs.append((".".join(keys), value))
            self.at += 1
            return table
        if kind == "string":
            _, start, end = self.tokens[self.at]
            self.at += 1
            return _leaf(self.text, start, end)
        while self._kind() in ("bare", ".", "other"):
            self.at += 1
        return None

    def _array(self, depth: int) -> Sequence:
        items: list[Node] = []
        if self._kind() == "[[":  # two lists that open at once are one token
            kind, start, end = self.tokens[self.at]
            self.tokens[self.at : self.at + 1] = [(kind, start, start + 1), (kind, start + 1, end)]
        self.at += 1
        while self._kind() not in ("]", "]]", ""):
            if self._kind() in (",", "line"):
                self.at += 1
                continue
            value = self._value(depth + 1)
            if value is not None:
                items.append(value)
        if self._kind() == "]]":
            kind, start, end = self.tokens[self.at]
            self.tokens[self.at] = (kind, start + 1, end)
        else:
            self.at += 1
        return Sequence(items)


def _leaf(text: str, start: int, end: int) -> Leaf:
    source = text[start:end]
    long = source.startswith(('"""', "'''"))
    size = 3 if long else 1
    inner = source[size:-size]
    first = start + size
    if long:
        skipped = 2 if inner.startswith("\r\n") else 1 if inner.startswith("\n") else 0
        inner, first = inner[skipped:], first + skipped
    pattern = _ESCAPE if source[0] == '"' else _NEWLINE
    value = pattern.sub(lambda match: _unescaped(match[0]), inner)
    return Leaf(value, first, first + len(inner), inner if value != inner else "")


def _unescaped(source: str) -> str:
    match = _CODE_POINT.fullmatch(source)
    if match:
        number = int(match[1], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    if source in _ESCAPES:
        return _ESCAPES[source]
    return "" if "\n" in source else source[1:]


def _segments(leaf: Leaf, role: str) -> Iterator[Segment]:
    if not leaf.value:
        return
    marks = align(leaf.value, leaf.style, leaf.start, _ESCAPE) if leaf.style else ()
    yield from split_marked(Segment(leaf.value, leaf.start, leaf.end, role, marks=marks))
