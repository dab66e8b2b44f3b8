"""Chat templates that render an earlier turn in another way than it was cached with.

A server keeps what it has read and written. If the template of the next request writes a past turn in another way (its
reasoning dropped, the tools moved to the newest message, the oldest message left out), all behind that place is read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from promptorder.forms._jinja_syntax import Block, Branch, Node, Output, Statement, Text

_BEHIND = 4000
"""How far behind a loop the beginning of the reply may stand."""


class Rewrite(NamedTuple):
    """A place that renders past turns anew, and how."""

    start: int
    end: int
    how: str


DROPS = "what is rendered for an earlier turn depends on which turn is the last"
STRIPS = "the reasoning is cut out of earlier assistant turns"
WINDOW = "only the newest messages are kept, so the first of them is another one in each turn"
REVERSED = "the newest message comes first, so all others move"
OPENS = "the reply is begun with a thinking block that is not rendered again for earlier turns"

_INDEX = r"(?:loop\.(?:index0?|revindex0?)|\b{counter}\b)"
_COMPARED = (
    r"(?:{index}\s*(?:[<>]=?|[!=]=)\s*\(?\s*(?P<right>[A-Za-z_][\w.]*)"
    r"|(?P<left>[A-Za-z_][\w.]*)\s*(?:[<>]=?|[!=]=)\s*{index})"
)
_LAST = re.compile(
    r"\bloop\.last\b|\bloop\.revindex0?\s*[<=]=?\s*\d|loop\.index0?\s*[!=]=\s*\(?\s*\w+\s*\|\s*(?:length|count)|\[\s*-\s*1\s*\]"
)
_LAST_NAME = re.compile(r"last|latest|final|query|newest|current", re.IGNORECASE)
_KEPT = re.compile(
    r"\b\w*(?:preserve|keep|retain)\w*\s+(?:is\s+(?:undefined|not\s+defined)|\|\s*default\(\s*[Tt]rue)"
)
_THINKING = re.compile(r"think|reason|thought|analysis|cot\b", re.IGNORECASE)
_ADDED = re.compile(
    r"think|reason|thought|analysis|tool|now\(|\bdate|time|document|context|memor|retriev|remind|instruction",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"split\(\s*['\"]</?[\w|]*(?:think|thought|reason|channel)\w*[|]?>['\"](?:,\s*\d)?\s*\)\s*(?:\[\s*(?:-\s*1|1)\s*\]|\|\s*last)"
    r"|(?:regex_replace|replace)\(\s*r?['\"][^'\"]*(?:think|thought|reason)|\|\s*strip_(?:think|reason|thought)\w*",
    re.IGNORECASE,
)
_WINDOW = re.compile(r"\[\s*-\s*(?:[02-9]|1\d|[A-Za-z_][\w.]*)\d*\s*:\s*\]")
_REVERSED = re.compile(r"\[\s*:\s*:\s*-\s*1\s*\]|\|\s*reverse\b")
_OPENED = re.compile(r"<(?:think|thinking|thoughts?|reasoning)>", re.IGNORECASE)


def rewrites(loop: Block, text: str) -> Iterator[Rewrite]:
    """What in a loop over messages changes the turns before the last, outermost places first."""
    head = loop.branches[0]
    if _WINDOW.search(head.rest):
        yield Rewrite(head.start, head.end, WINDOW)
    if _REVERSED.search(head.rest):
        yield Rewrite(head.start, head.end, REVERSED)
    counter = re.match(r"\s*(\w+)\s+in\s+range\(", head.rest)
    index = _INDEX.format(counter=counter[1] if counter else "loop_index")
    compared = re.compile(_COMPARED.format(index=index))
    found = list(_conditions(head.body, compared, text))
    yield from found
    end = _end(loop)
    inside = text[head.end : end]
    if not found and not _THINKING.search(" ".join(_outputs(head.body))):
        yield from _cuts(head.body)
    if not _THINKING.search(inside):
        opened = _OPENED.search(text, end, end + _BEHIND)
        if opened:
            yield Rewrite(*opened.span(), OPENS)


def prints(nodes: list[Node]) -> bool:
    """Whether anything is put out, or whether a loop only looks for something."""
    for node in nodes:
        if isinstance(node, Text) and node.text.strip():
            return True
        if isinstance(node, Output) and not node.inside.lstrip().startswith("raise_exception"):
            return True
        if isinstance(node, Block) and node.word != "macro" and any(prints(b.body) for b in node.branches):
            return True
    return False


def is_about_last(condition: str) -> bool:
    """Whether a condition asks for the last turn of a loop."""
    return _LAST.search(condition) is not None


def _conditions(nodes: list[Node], compared: re.Pattern[str], text: str) -> Iterator[Rewrite]:
    for node in nodes:
        if isinstance(node, Statement):
            if node.word == "set" and _turns_on_last(node.rest, compared, text):
                yield Rewrite(node.start, node.end, DROPS)
        elif isinstance(node, Block):
            yield from _of_block(node, compared, text)


def _of_block(block: Block, compared: re.Pattern[str], text: str) -> Iterator[Rewrite]:
    for branch in block.branches:
        if block.word == "if" and branch.word != "else" and _differs(block, branch, compared, text):
            yield Rewrite(branch.start, branch.end, DROPS)
            return
    for branch in block.branches:
        # A loop within (over tool calls, over parts) has a ``loop`` of its own.
        inner = re.compile(r"(?!)") if block.word == "for" else compared
        yield from _conditions(branch.body, inner, text)


def _differs(block: Block, branch: Branch, compared: re.Pattern[str], text: str) -> bool:
    if _KEPT.search(branch.rest) or not any(prints(b.body) or _sets(b.body) for b in block.branches):
        return False
    if _turns_on_last(branch.rest, compared, text):
        return not _only_checks(branch.body)
    if not is_about_last(branch.rest) or compared.pattern == "(?!)":
        return False
    return any(_ADDED.search(_source(b, text)) for b in block.branches)


def _turns_on_last(condition: str, compared: re.Pattern[str], text: str) -> bool:
    if _KEPT.search(condition):
        return False
    for match in compared.finditer(condition):
        name = match["right"] or match["left"]
        if name.startswith("loop.") or name in ("not", "and", "or"):
            continue
        if _LAST_NAME.search(name):
            return True
        assigned = re.search(rf"set\s+{re.escape(name)}\s*=([^%]{{0,80}})", text)
        if assigned and re.search(r"loop\.index|index|length", assigned[1]):
            return True
    return False


def _only_checks(body: list[Node]) -> bool:
    return bool(body) and not prints(body) and not _sets(body)


def _sets(body: list[Node]) -> bool:
    return any(isinstance(n, Statement) and n.word == "set" for n in body)


def _cuts(nodes: list[Node]) -> Iterator[Rewrite]:
    for node in nodes:
        if (isinstance(node, Statement) and _CUT.search(node.rest)) or (
            isinstance(node, Output) and _CUT.search(node.inside)
        ):
            yield Rewrite(node.start, node.end, STRIPS)
        elif isinstance(node, Block):
            for branch in node.branches:
                yield from _cuts(branch.body)


def _outputs(nodes: list[Node]) -> Iterator[str]:
    """What is put out of the reasoning, other than by cutting it away."""
    for node in nodes:
        if isinstance(node, Output):
            yield _CUT.sub("", node.inside)
        elif isinstance(node, Text):
            yield node.text
        elif isinstance(node, Block):
            for branch in node.branches:
                yield from _outputs(branch.body)


def _source(branch: Branch, text: str) -> str:
    return text[branch.end : _end_of(branch.body, branch.end)]


def _end(block: Block) -> int:
    last = block.branches[-1]
    return _end_of(last.body, last.end)


def _end_of(nodes: list[Node], otherwise: int) -> int:
    if not nodes:
        return otherwise
    node = nodes[-1]
    if isinstance(node, Block):
        return _end(node)
    return node.start + len(node.text) if isinstance(node, Text) else node.end
