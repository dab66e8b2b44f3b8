"""Prompts in files of keys and values (YAML, TOML): which values are prompts, and in which order the model reads them.

Keys stand in any order in such files: the system text goes first whatever its key's place, then the messages, then what the
user says. What describes a prompt (its name, version, tests, examples) is not sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from promptorder.forms._wording import reads_like_prompt
from promptorder.lint._names import words
from promptorder.model.lint import STATIC, Prompt, Segment


class Leaf(NamedTuple):
    """A string: offsets of its source in the file, and how it is quoted."""

    value: str
    start: int
    end: int
    style: str = ""


class Mapping(NamedTuple):
    """Keys with their values, as they stand."""

    pairs: list[tuple[str, Node]]


class Sequence(NamedTuple):
    """A list of values."""

    items: list[Node]


Node = Leaf | Mapping | Sequence
Cut = Callable[[Leaf, str], Iterator[Segment]]
"""From a string and the role it is sent with to its segments."""

_SYSTEM = frozenset(
    "system systemprompt systemmessage systeminstruction systeminstructions systemtemplate systemcontent "
    "systemtext sysprompt instructions instruction custominstructions preprompt preamble persona backstory "
    "developer developermessage systemprompttemplate systempromptsuffix agentprompt".split()
)
_USER = frozenset(
    "prompt template prompttemplate user userprompt usermessage usertemplate userprompttemplate human humanmessage "
    "humantemplate userquery".split()
)
_WEAK = frozenset(
    ("template", "user", "human", "prefix", "suffix", "text", "content", "message", "developer")
)
_MESSAGES = frozenset(
    "messages chat conversation promptmessages prompttemplate chatmessages prompt template chatprompt values "
    "messagevalues".split()
)
_OWN = frozenset("prompt prompts instruction instructions".split())
_OWN_LAST = frozenset(
    "prompt prompts instruction instructions template text message prefix suffix header body intro content".split()
)
_PROMPTS = frozenset(("prompts", "prompt", "prompttemplates", "templates", "systemprompts"))
_ASIDE = frozenset(
    "examples example fewshot fewshots fewshotexamples demos demonstrations tests test testdata testcases "
    "evaluators assert asserts fixtures expected metadata meta changelog history description descriptions "
    "comment comments notes name title version created author tags model id hooks dataset".split()
)
_EVIDENCE = frozenset(
    "inputvariables templateformat executionsettings model models temperature maxtokens provider".split()
)
_ROLES = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant",
    "model": "assistant", "bot": "assistant", "tool": "history", "function": "history", "placeholder": "history",
}  # fmt: skip
_CONTENT = ("content", "text", "value", "message", "prompt", "template", "parts", "contents")
_ENOUGH = 120
"""Characters: shorter text under a key that says little is a label."""
_TOO_DEEP = 64
_SPACE = re.compile(r"\s")


class _Part(NamedTuple):
    rank: int
    role: str
    key: str
    node: Node


def prompts_of(root: Node, segments: Cut, *, all_prompts: bool) -> Iterator[Prompt]:
    """The prompts of a tree; with ``all_prompts`` every long text is one, as in a file named for it."""
    yield from _Search(segments).walk(root, "", "", all_prompts, 0)


class _Search:
    """One pass over a tree; a node that is shared by reference is looked at once."""

    def __init__(self, segments: Cut) -> None:
        self.segments = segments
        self.seen: set[int] = set()

    def walk(self, node: Node, key: str, path: str, inside: bool, depth: int) -> Iterator[Prompt]:
        if depth > _TOO_DEEP or id(node) in self.seen:
            return
        self.seen.add(id(node))
        if isinstance(node, Leaf):
            if inside and len(node.value) >= _ENOUGH and _SPACE.search(node.value):
                yield self._prompt([_Part(0, "prompt", key, node)], path)
        elif isinstance(node, Sequence):
            if _is_messages(node, key):
                yield self._prompt([_Part(0, "messages", key, node)], path)
                return
            within = inside or _plain(key) in _PROMPTS
            for number, item in enumerate(node.items):
                yield from self.walk(item, key, f"{path}[{number}]", within, depth + 1)
        else:
            yield from self._mapping(node, key, path, inside, depth)

    def _mapping(self, node: Mapping, key: str, path: str, inside: bool, depth: int) -> Iterator[Prompt]:
        inside = inside or _plain(key) in _PROMPTS
        whole = _parts(node, inside=inside)
        taken = {part.key for part in whole}
        if whole:
            yield self._prompt(whole, path)
        for name, child in node.pairs:
            if name in taken or _plain(name) in _ASIDE:
                continue
            here = f"{path}.{name}" if path else name
            if isinstance(child, Leaf) and _is_own(name):
                yield self._prompt([_Part(0, _own_role(name), name, child)], here)
            else:
                yield from self.walk(child, name, here, inside, depth + 1)

    def _prompt(self, parts: list[_Part], path: str) -> Prompt:
        parts = sorted(parts, key=lambda part: part.rank)
        name = ".".join(filter(None, (path, *(part.key for part in parts if len(parts) == 1))))
        found: list[Segment] = []
        for part in parts:
            self.seen.add(id(part.node))
            found.extend(self._segments(part.node, part.role))
        return Prompt(tuple(found), name)

    def _segments(self, node: Node, role: str, depth: int = 0) -> Iterator[Segment]:
        if depth > _TOO_DEEP:
            return
        if isinstance(node, Leaf):
            yield from self.segments(node, "prompt" if role == "messages" else role)
        elif isinstance(node, Sequence):
            for item in node.items:
                yield from self._segments(item, role, depth + 1)
        elif role == "messages":
            said, content = _message(node)
            if content is None:
                yield Segment("", _start(node), _start(node), "history", "variable", "history")
            else:
                yield from self._segments(content, said, depth + 1)
        else:
            content = next((child for name, child in node.pairs if _plain(name) in _CONTENT), None)
            if content is not None:
                yield from self._segments(content, role, depth + 1)


def _parts(node: Mapping, *, inside: bool) -> list[_Part]:
    """The parts of the one prompt that a mapping describes, in the order of its keys."""
    keys = {_plain(name) for name, _ in node.pairs}
    if "role" in keys and keys & set(_CONTENT):
        return []
    found: list[_Part] = []
    sure = bool(keys & _EVIDENCE) or inside or any(name == "_type" for name, _ in node.pairs)
    for name, child in node.pairs:
        key = _plain(name)
        if isinstance(child, Sequence) and key in _MESSAGES and _is_messages(child, name):
            found.append(_Part(1, "messages", name, child))
        elif key in _SYSTEM and _is_text(child):
            if sure or key not in _WEAK or _reads(child):
                found.append(_Part(0, "system", name, child))
        elif key in _USER and isinstance(child, Leaf):
            if sure or key not in _WEAK or _reads(child) or found:
                found.append(_Part(2, "user", name, child))
        elif key in ("prefix", "suffix") and keys & {"exampleprompt", "inputvariables", "type"}:
            found.append(_Part(0 if key == "prefix" else 2, "prompt", name, child))
    if len(found) == 1 and found[0].role == "user":
        return [found[0]._replace(role="prompt")]
    users = [part for part in found if part.role == "user"]
    if len(users) > 1 and not any(_plain(part.key).startswith(("user", "human")) for part in users):
        return [part for part in found if part.role != "user"]
    return found


def _message(node: Mapping) -> tuple[str, Node | None]:
    """The role and the content of one message."""
    said, content = "user", None
    if len(node.pairs) == 1 and _plain(node.pairs[0][0]) in _ROLES:
        return _ROLES[_plain(node.pairs[0][0])], node.pairs[0][1]
    for name, child in node.pairs:
        key = _plain(name)
        if key in ("role", "author", "from", "speaker", "type") and isinstance(child, Leaf):
            said = _ROLES.get(child.value.strip().lower(), said if key == "type" else "history")
        elif key in _CONTENT and content is None:
            content = child
    if isinstance(content, Mapping):  # {prompt: {template: ...}}
        content = next((child for name, child in content.pairs if _plain(name) in _CONTENT), None)
    return said, content


def _is_messages(node: Sequence, key: str) -> bool:
    """Whether a list holds the messages of a chat."""
    mappings = [item for item in node.items if isinstance(item, Mapping)]
    if not mappings or len(mappings) < len(node.items):
        return False
    return any(_is_message(item, key) for item in mappings)


def _is_message(node: Mapping, key: str) -> bool:
    keys = {_plain(name): child for name, child in node.pairs}
    if len(keys) == 1 and next(iter(keys)) in _ROLES:
        return isinstance(next(iter(keys.values())), Leaf)
    role = keys.get("role")
    if isinstance(role, Leaf):
        return role.value.strip().lower() in _ROLES and any(name in keys for name in _CONTENT)
    return _plain(key) in ("messages", "values", "messagevalues") and any(
        isinstance(keys.get(name), Leaf) for name in ("content", "message")
    )


def _is_text(node: Node) -> bool:
    if isinstance(node, Sequence):
        return bool(node.items) and all(isinstance(item, Leaf) for item in node.items)
    return isinstance(node, Leaf) or any(
        _plain(name) in ("content", "text", "template") and isinstance(child, Leaf)
        for name, child in node.pairs
    )


def _reads(node: Node) -> bool:
    return isinstance(node, Leaf) and reads_like_prompt(node.value)


def _is_own(name: str) -> bool:
    """Whether a key such as ``title_prompt`` names a prompt that stands alone."""
    parts = words(name)
    return bool(parts) and parts[-1] in _OWN_LAST and not _OWN.isdisjoint(parts)


def _own_role(name: str) -> str:
    return "system" if "system" in words(name) else "prompt"


def _plain(name: str) -> str:
    return "".join(words(name))


def _start(node: Node) -> int:
    while not isinstance(node, Leaf):
        children: list[Node] = [child for _, child in node.pairs] if isinstance(node, Mapping) else node.items
        if not children:
            return 0
        node = children[0]
    return node.start


def has_text(prompt: Prompt) -> bool:
    """Whether a prompt has any static text at all."""
    return any(segment.origin == STATIC for segment in prompt.segments)
