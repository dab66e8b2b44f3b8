"""From values of a JavaScript program to prompts, each told once and only if its text is sent to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptorder.forms._js_program import Program
from promptorder.forms._js_scopes import FUNCTIONS, Env
from promptorder.forms._js_source import ancestors
from promptorder.forms._js_values import Closure, plain
from promptorder.forms._python_sinks import (
    LEAST,
    Candidate,
    is_chat,
    is_message,
    is_other_language,
    looks_like_prompt,
    messages,
    names_a_prompt,
    request,
    settled,
)
from promptorder.forms._python_templates import fill, has_placeholders
from promptorder.forms._python_values import Items, Star, Table, Template, Text, Value, pieces_of
from promptorder.forms._wording import is_code, reads_like_prompt
from promptorder.lint._names import words
from promptorder.model.lint import STATIC, Segment

if TYPE_CHECKING:
    from tree_sitter import Node


KEYS = {
    "system": "system", "systemPrompt": "system_prompt", "systemMessage": "system_message", "system_prompt": "system_prompt",
    "systemInstruction": "system_instruction", "system_instruction": "system_instruction", "instructions": "instructions",
    "systemInstructions": "system_instructions", "developer": "developer", "preamble": "preamble", "prompt": "prompt",
    "messages": "messages", "input": "input", "contents": "contents", "history": "chat_history", "tools": "tools",
    "chatHistory": "chat_history", "message": "message", "userPrompt": "message", "functions": "functions",
    "prompt_cache_key": "prompt_cache_key", "promptCacheKey": "prompt_cache_key", "cache_salt": "cache_salt",
}  # fmt: skip
_KEYED = (("key",), ("hash",), ("id",), ("digest",), ("checksum",), ("length",), ("tokens",))


class Offers:
    """Evaluates variables, functions and expressions, and keeps those that are prompts."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.code = program.code
        self.seen: set[int] = set()
        self.found: list[tuple[int, Candidate]] = []
        self.names: list[str] = []

    def _variable(self, name: str, node: Node) -> None:
        """A variable, with all that is added to it in its function."""
        env: Env | None = self.program.scopes.environment(node)
        while env is not None and name not in env.table:
            env = env.parent
        if env is None:
            return
        steps = env.table[name]
        key = hash((id(steps), name))
        if key in self.seen:
            return
        self.seen.add(key)
        value = self.program._steps(steps, env, None)
        grows = any(step.op == "push" for step in steps)
        self._offer(node, name, plain(value), named=names_a_prompt(name) or is_template(name), grows=grows)

    def _function(self, node: Node, name: str) -> None:
        if node.id in self.seen:
            return
        self.seen.add(node.id)
        env = self.program.scopes.environment(node)
        value = self.program.returned(env)
        if isinstance(value, Closure):
            value = self.program.inline(value, [], node)
        self._offer(node, name, plain(value), named=names_a_prompt(name))

    def _function_of(self, node: Node) -> None:
        around = enclosing(node, tuple(FUNCTIONS), itself=True)
        if around is None or around.type == "program":
            return
        name = around.child_by_field_name("name")
        if name is None and around.parent is not None:
            name = around.parent.child_by_field_name("name") or around.parent.child_by_field_name("key")
        self._function(around, self.code.source(name) if name is not None else "")

    def _expression(self, node: Node, name: str, *, named: bool) -> None:
        key = -node.id
        if key in self.seen:
            return
        self.seen.add(key)
        self._offer(
            node, name, plain(self.program.value(node, self.program.scopes.environment(node))), named=named
        )

    def _offer(self, node: Node, name: str, value: Value, *, named: bool, grows: bool = False) -> None:
        if isinstance(value, Template):
            inner = value.value
            if isinstance(inner, Items):
                self._send(node, name, settled(list(messages(inner, self.code.place(node)))), sure=True)
            else:
                self._send(node, name, pieces_of(inner, self.code.place(node)), sure=True)
        elif isinstance(value, Items) and is_chat(value):
            found = list(messages(_with_history(value), self.code.place(node)))
            self._send(node, name, settled(_turns(found) if grows else found), sure=True)
        elif isinstance(value, Table):
            if is_message(value):
                self._send(
                    node, name, settled(list(messages(Items((value,)), self.code.place(node)))), sure=True
                )
                return
            mine = body_of(value)
            if {"messages", "system", "system_prompt"} & mine.keys():
                self._send(node, name, request(mine, self.code.place(node)), sure=True)
            elif named:
                for _, item in value.pairs:
                    if isinstance(item, Text):
                        self._offer(node, name, item, named=True)
        elif (
            isinstance(value, Items)
            and named
            and all(isinstance(item, Text | Segment) for item in value.items)
        ):
            self._send(node, name, pieces_of(value, self.code.place(node)), sure=False)
        elif isinstance(value, Text):
            if not named and (words(name)[-1:] in _KEYED or not looks_like_prompt(value.pieces)):
                return
            self._send(node, name, self._opened(name, value.pieces), sure=False)

    def _opened(self, name: str, pieces: tuple[Segment, ...]) -> tuple[Segment, ...]:
        """A template that is filled in elsewhere has variables for its placeholders."""
        if has_placeholders(pieces, "double"):
            return fill(pieces, "double", self.program.variable)
        if all(piece.origin == STATIC for piece in pieces) and is_template(name):
            return fill(pieces, "unseen", self.program.variable)
        return pieces

    def _send(self, node: Node, name: str, segments: tuple[Segment, ...], *, sure: bool) -> None:
        static = "".join(s.text for s in segments if s.origin == STATIC)
        history = any(s.role in ("history", "assistant") for s in segments)
        shared = any(s.kind == "static-part" and s.role in ("prompt", "system") for s in segments)
        if not segments or (len(static) < LEAST and not history and not shared):
            return
        if not (shared or history) and not any(speaks(s.text) for s in segments if s.origin == STATIC):
            return
        if (
            is_other_language(segments)
            or is_code(static)
            or not (sure or shared or reads_like_prompt(static))
        ):
            return
        self.found.append((node.start_byte, Candidate(name, _with_machine(_answered(segments)), sure)))


def _answered(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """What the model has said stays as it was said."""
    return tuple(
        s._replace(kind="fixed") if s.role == "assistant" and s.origin != STATIC else s for s in segments
    )


def _turns(segments: list[Segment]) -> list[Segment]:
    """In a list that grows turn by turn, what stands before an answer was sent before and is kept."""
    last = max(
        (i for i, s in enumerate(segments) if s.role == "assistant" and s.origin != STATIC), default=-1
    )
    return [s._replace(kind="fixed") if i < last and s.role == "user" else s for i, s in enumerate(segments)]


def _with_machine(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """A platform alone is the same for all who share a server; beside a folder or a host it is one more difference."""
    beside = any(s.kind == "environment" for s in segments)
    return tuple(
        s._replace(kind="environment" if beside else "fixed") if s.kind == "machine-part" else s
        for s in segments
    )


def body_of(value: Table) -> dict[str, Value]:
    """The parts of a request under the names that all libraries share."""
    return {KEYS[key]: _content(item) for key, item in value.pairs if key in KEYS}


def _content(value: Value) -> Value:
    if isinstance(value, Table) and value.get("parts") is not None:
        return value.get("parts")
    if not isinstance(value, Items):
        return value
    kept = (
        item for item in value.items if not isinstance(item, Table) or is_message(item) or _is_block(item)
    )
    return _with_history(Items(tuple(kept)))


def _is_block(value: Table) -> bool:
    """Whether a record is a block of text or a tool, and not some other data."""
    return any(value.get(key) is not None for key in ("text", "content", "parts", "description", "function"))


def speaks(text: str) -> bool:
    """Whether a text has words in it, and not only the names of keys."""
    return text.count(" ") >= 4 or not text.isascii()


def _with_history(value: Items) -> Items:
    """In a list of messages, a list that is spread is earlier turns, unless its name says that it is examples."""

    def turned(item: Value) -> Value:
        if isinstance(item, Star) and isinstance(item.value, Segment) and not item.value.kind:
            said = frozenset(words(item.value.name))
            if not said & {"example", "examples", "shots", "shot", "few", "system", "fewshot", "demos"}:
                return Star(item.value._replace(role="history"))
        return item

    return Items(tuple(turned(item) for item in value.items))


def is_template(name: str) -> bool:
    """Whether a variable of that name holds a template."""
    said = words(name)
    return bool(said) and said[-1] in ("template", "prompt", "instructions", "preamble", "persona", "tmpl")


def enclosing(node: Node, kinds: tuple[str, ...], *, itself: bool = False) -> Node | None:
    """The nearest node of some kinds around a node."""
    if itself and node.type in kinds:
        return node
    return next((a for a in ancestors(node) if a.type in kinds), None)
