"""YAML: prompts under keys, lists of messages, and the exports of workflow editors.

The events of the parser are built into a tree without recursion; a reference is followed and never copied, and a
file that would grow without bounds when its references are spelled out is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from promptorder.forms import FormError
from promptorder.forms._data import Leaf, Mapping, Node, Sequence, has_text, prompts_of
from promptorder.forms._marked import align, split_marked
from promptorder.model.lint import Prompt, Segment, Source

SUFFIXES = (".yaml", ".yml")
NAMES = ()
PLAIN = False

_MAY_HOLD_ONE = re.compile(
    r"(?:prompts?|prompt_?templates?|instructions?|system\w*|messages?|template|persona|preamble|backstory|role|_?prompt\w*|developer)"
    r"[\"']?[ \t]*:",
    re.IGNORECASE,
)
_NAMED_FOR_PROMPTS = re.compile(r"prompt", re.IGNORECASE)
_LIMIT = 100
_MOST_NODES = 1_000_000
_PROPERTIES = re.compile(r"(?:[!&]\S*\s+)+")
"""A tag or an anchor in front of a value."""
_END = re.compile(r"\r\n|\r|\n")
_BREAK = r"(?:\r\n|[\r\n\x85\u2028\u2029])"
_LINE_BREAK = re.compile(rf"[ \t]*{_BREAK}[ \t]*")
_BLOCK_BREAK = re.compile(rf"{_BREAK}[ ]*")
_ESCAPE = re.compile(
    rf"\\{_BREAK}[ \t]*|\\x[0-9A-Fa-f]{{2}}|\\u[0-9A-Fa-f]{{4}}|\\U[0-9A-Fa-f]{{8}}|\\.|[ \t]*{_BREAK}[ \t]*"
)
_SINGLE = re.compile(rf"''|[ \t]*{_BREAK}[ \t]*")


def prompts(source: Source) -> Iterator[Prompt]:
    """The prompts of all documents of a file."""
    named = bool(_NAMED_FOR_PROMPTS.search(source.path.rsplit("/", 1)[-1]))
    if not named and not _MAY_HOLD_ONE.search(source.text):
        return
    for root in documents(source.text):
        for prompt in prompts_of(root, _Cutter(source.text).segments, all_prompts=named):
            if has_text(prompt):
                yield prompt


def documents(text: str) -> Iterator[Node]:
    """The documents of a stream as trees; raises FormError with the line where it breaks."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(text)
    try:
        for event in yaml.parse(text, Loader=loader):
            if builder.take(event) and builder.root is not None:
                yield builder.root
                builder = _Builder(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FormError(error.problem or "not YAML", _line(text, mark.index) if mark else None) from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        position = getattr(error, "position", None)
        line = None if position is None else text.count("\n", 0, position) + 1
        raise FormError(str(getattr(error, "reason", "not YAML")), line) from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FormError("a character that no encoding has", line) from None


def _line(text: str, index: int) -> int:
    """The line of a place: YAML has ends of lines that are none in a file."""
    return len(_END.findall(text, 0, index)) + 1


class _Builder:
    """From events to a tree; ``sizes`` is how many nodes each would have with all references spelled out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root: Node | None = None
        self.open: list[tuple[Node, str, list[str]]] = []
        self.sizes: dict[int, int] = {}
        self.anchors: dict[str, Node | None] = {}

    def take(self, event: Any) -> bool:
        """Take one event; true when the document is complete."""
        kind = type(event).__name__
        if kind == "ScalarEvent":
            style = event.style or ""
            self._add(
                Leaf(event.value, event.start_mark.index, event.end_mark.index, style), event.anchor or "", 1
            )
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            node: Node = Mapping([]) if kind == "MappingStartEvent" else Sequence([])
            if len(self.open) >= _LIMIT:
                raise FormError(
                    f"nested deeper than {_LIMIT} levels", _line(self.text, event.start_mark.index)
                )
            self.open.append((node, event.anchor or "", []))
            self.sizes[id(node)] = 1
            if event.anchor:
                self.anchors[event.anchor] = None
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            node, anchor, _ = self.open.pop()
            self._add(node, anchor, self.sizes[id(node)])
        elif kind == "AliasEvent":
            node_or_none = self.anchors.get(event.anchor)
            if node_or_none is None:
                raise FormError(
                    f"the alias *{event.anchor} has no anchor that ends before it",
                    _line(self.text, event.start_mark.index),
                )
            size = self.sizes.get(id(node_or_none), 1)
            if sum(self.sizes[id(node)] for node, _, _ in self.open) + size > _MOST_NODES:
                raise FormError(
                    "its aliases spell out to more than a million values",
                    _line(self.text, event.start_mark.index),
                )
            self._add(node_or_none, "", size)
        return kind == "DocumentEndEvent"

    def _add(self, node: Node, anchor: str, size: int) -> None:
        if anchor:
            self.anchors[anchor] = node
        if not self.open:
            self.root = node
            return
        parent, _, keys = self.open[-1]
        self.sizes[id(parent)] += size
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif isinstance(parent, Mapping):
            if not keys:
                keys.append(node.value if isinstance(node, Leaf) else "")
                return
            key = keys.pop()
            if key == "<<" and isinstance(node, Mapping):
                own = {name for name, _ in parent.pairs}
                parent.pairs.extend(pair for pair in node.pairs if pair[0] not in own)
            else:
                parent.pairs.append((key, node))


class _Cutter:
    """From a string in the file to its segments."""

    def __init__(self, text: str) -> None:
        self.text = text

    def segments(self, leaf: Leaf, role: str) -> Iterator[Segment]:
        """Static text and placeholders of one string."""
        if leaf.value:
            yield from split_marked(self._whole(leaf, role))

    def _whole(self, leaf: Leaf, role: str) -> Segment:
        start, end = leaf.start, leaf.end
        tagged = _PROPERTIES.match(self.text, start, end)
        start = tagged.end() if tagged else start
        raw = self.text[start:end]
        if leaf.style in ("|", ">"):
            first = re.search(r"\r\n|\r|\n", raw)
            skipped = first.start() if first else len(raw)
            marks = align(leaf.value, raw[skipped:], start + skipped, _BLOCK_BREAK)
            return Segment(leaf.value, start, end, role, marks=marks)
        if leaf.style in ('"', "'"):
            start, end, raw = start + 1, end - 1, raw[1:-1]
        if raw == leaf.value:
            return Segment(leaf.value, start, end, role)
        seams = _ESCAPE if leaf.style == '"' else _SINGLE if leaf.style == "'" else _LINE_BREAK
        return Segment(leaf.value, start, end, role, marks=align(leaf.value, raw, start, seams))
