"""Where a JavaScript program has its prompts: by names, by keys of requests, by the shape of message lists, by wording."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms._js_methods import Program
from promptorder.forms._js_scopes import CLASSES, FUNCTIONS, RETURNED, Env
from promptorder.forms._js_source import ancestors, unwrapped
from promptorder.forms._js_values import Closure, JsValue, plain
from promptorder.forms._python_sinks import (
    LEAST, Candidate, is_chat, is_message, is_other_language, looks_like_prompt, messages, names_a_prompt, request, settled,
)  # fmt: skip
from promptorder.forms._python_templates import fill, has_placeholders
from promptorder.forms._python_values import Items, Table, Template, Text, Value, pieces_of
from promptorder.forms._wording import is_code, reads_like_prompt
from promptorder.lint._names import words
from promptorder.model.lint import STATIC, Segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_MOST = 400
"""Places in a file that are looked at: a file with more is data."""
_KEYS = {
    "system": "system", "systemPrompt": "system_prompt", "systemMessage": "system_message", "system_prompt": "system_prompt",
    "systemInstruction": "system_instruction", "system_instruction": "system_instruction", "instructions": "instructions",
    "systemInstructions": "system_instructions", "developer": "developer", "preamble": "preamble", "prompt": "prompt",
    "messages": "messages", "input": "input", "contents": "contents", "history": "chat_history", "tools": "tools",
    "chatHistory": "chat_history", "message": "message", "userPrompt": "message", "functions": "functions",
}  # fmt: skip
_SURE = frozenset((
    "systemPrompt", "systemMessage", "system_prompt", "systemInstruction", "system_instruction", "systemInstructions", "messages",
))  # fmt: skip
_BESIDE = frozenset("model temperature max_tokens maxTokens maxOutputTokens stream tools messages system instructions".split())
_SPOTS = re.compile(
    rb"(?P<role>\brole[\"']?\s*:)"
    rb"|(?P<key>\b(?:system|systemPrompt|systemMessage|system_prompt|systemInstructions?|system_instruction|instructions|prompt|messages|"
    rb"contents)[\"']?\s*[:,}])"
    rb"|(?P<named>\b(?:const|let|var|function|async|static|readonly|private|public|protected|get)\s+\*?\s*#?[\w$]*?"
    rb"(?:[Pp]rompt|PROMPT|[Ii]nstruction|INSTRUCTION|[Ss]ystem|SYSTEM|[Pp]reamble|[Pp]ersona|[Tt]emplate|TEMPLATE|[Mm]essage)[\w$]*)"
    rb"|(?P<member>[\w$]*(?:[Pp]rompt|[Ii]nstructions?|[Ss]ystem)[\w$]*(?:\s*(?::\s*string\s*)?=[^=>]|\s*\([^()\n]*\)\s*(?::[^{\n]*)?\{))"
    rb"|(?P<template>\b(?:fromTemplate|fromMessages|PromptTemplate|SystemMessage)\s*\()"
    rb"|(?P<said>\b(?:You are|You're|Your (?:task|job|role|goal) is|Act as an?|You (?:answer|help|write|run|sort|review))\b)"
)
_THROUGH = frozenset((
    "template_substitution", "template_string", "binary_expression", "parenthesized_expression", "as_expression",
    "satisfies_expression", "non_null_expression", "await_expression", "ternary_expression", "array",
))  # fmt: skip
_NOT_SENT = re.compile(
    r"(?:^|\.)(?:console|log|logger|debug|warn|error|info|trace|print|write|describe|it|test|expect|assert|throw|Error|t|i18n|alert|"
    r"query|execute|exec|sql|fail|reject|toast|notify|emit|confirm|querySelector|\w*Error)(?:\.\w+)?$"
)
_FOLLOWED_NAMES = 40
_OPENS = tuple("{$%<[")


class Finder:
    """Looks at the places where a prompt may begin, and evaluates those that do."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.code = program.code
        self.seen: set[int] = set()
        self.found: list[tuple[int, Candidate]] = []
        self.names: list[str] = []

    def candidates(self) -> list[Candidate]:
        """The prompts, in the order of the places where they are made."""
        for number, match in enumerate(_SPOTS.finditer(self.code.data)):
            if number >= _MOST or self.program.fuel < 0:
                break
            node = self.code.root.descendant_for_byte_range(match.start(), max(match.start(), match.end() - 1))
            inner = self.code.root.descendant_for_byte_range(match.start(), match.start() + 1)
            kind = match.lastgroup
            if node is None or inner is None:
                continue
            if kind == "said":
                self._said(inner)
            elif inner.type in ("string_fragment", "comment", "escape_sequence"):
                continue
            elif kind == "role":
                self._role(inner)
            elif kind == "key":
                self._key(inner)
            elif kind == "template":
                self._call(inner)
            else:
                self._declared(inner if kind == "member" else node, match.group().decode("utf-8", "replace"))
        for name in self.names[:_FOLLOWED_NAMES]:
            self._uses(name)
        return [self._settled(candidate) for _, candidate in sorted(self.found, key=lambda pair: pair[0])]

    def _settled(self, candidate: Candidate) -> Candidate:
        """A placeholder that is filled in elsewhere in the file is told there."""
        filled = self.program.filled
        return candidate._replace(
            segments=tuple(
                s._replace(kind="fixed") if s.start in filled and s.origin != STATIC and s.text[:1] in _OPENS else s
                for s in candidate.segments
            )
        )

    # --- places ---------------------------------------------------------------------------------------------

    def _role(self, node: Node) -> None:
        """A message: the list that it stands in, or the list that it is added to."""
        message = _around(node, ("object",))
        outer = message.parent if message is not None else None
        if message is None or outer is None:
            return
        while outer.parent is not None and outer.type in ("spread_element", "parenthesized_expression", "ternary_expression", "as_expression", "binary_expression"):
            outer = outer.parent
        if outer.type == "array":
            self._list(outer)
        elif outer.type == "arguments" and outer.parent is not None:
            called = outer.parent.child_by_field_name("function")
            target = called.child_by_field_name("object") if called is not None else None
            method = called.child_by_field_name("property") if called is not None else None
            if target is not None and method is not None and self.code.source(method) in ("push", "unshift", "concat"):
                self._variable(self.code.source(target), outer.parent)

    def _list(self, node: Node) -> None:
        """A list of messages: as part of its request, of its variable, or alone."""
        outer = node.parent
        while outer is not None and outer.type in (*_THROUGH, "spread_element", "call_expression", "member_expression", "arguments"):
            outer = outer.parent
        if outer is not None and outer.type == "pair":
            around = _around(outer, ("object",))
            if around is not None and self._object(around):
                return
        if outer is not None and outer.type in ("variable_declarator", "assignment_expression"):
            name = outer.child_by_field_name("name") or outer.child_by_field_name("left")
            if name is not None and name.type in ("identifier", "member_expression"):
                self._variable(self.code.source(name), outer)
                return
        if outer is not None and outer.type in FUNCTIONS | {"return_statement"}:
            self._function_of(outer)
        self._expression(node, "", named=True)

    def _key(self, node: Node) -> None:
        around = _around(node, ("object", "object_pattern", "statement_block", "program"))
        if around is not None and around.type == "object":
            self._object(around)

    def _object(self, node: Node) -> bool:
        """A request; true if it was looked at as one."""
        if node.id in self.seen:
            return True
        keys = {self.code.source(k).strip("\"'`") for k in _keys(node)}
        mine = keys & set(_KEYS)
        outer = node.parent
        called = outer is not None and outer.type == "arguments"
        if not mine or not (keys & _SURE or len(keys & _BESIDE) > 1 or (called and mine)):
            return False
        self.seen.add(node.id)
        value = self.program.value(node, self.program.scopes.environment(node))
        if isinstance(value, Table):
            body = _body(value)
            segments = request(body, self.code.place(node))
            sure = bool(keys & _SURE) or len(keys & _BESIDE) > 1 or is_chat(body.get("messages"))
            self._send(node, "", segments, sure=sure)
        return True

    def _call(self, node: Node) -> None:
        around = _around(node, ("call_expression", "new_expression"))
        if around is None:
            return
        value = plain(self.program.value(around, self.program.scopes.environment(around)))
        if isinstance(value, Template) and around.id not in self.seen:
            self.seen.add(around.id)
            self._offer(around, "", value, named=True)
        elif isinstance(value, Table) and around.parent is not None and around.parent.type == "array":
            self._list(around.parent)

    def _declared(self, node: Node, text: str) -> None:
        """A variable, field, function or method with a prompt's name."""
        for around in (node, *ancestors(node)):
            name = around.child_by_field_name("name") or around.child_by_field_name("property")
            if around.type == "variable_declarator" and name is not None:
                self._named_variable(around, name)
                return
            if around.type in ("public_field_definition", "field_definition") and name is not None:
                value = around.child_by_field_name("value")
                if value is not None and names_a_prompt(self.code.source(name)):
                    self._expression(value, self.code.source(name), named=True)
                return
            if around.type in FUNCTIONS and around.type != "program":
                if name is not None and name.end_byte >= node.start_byte:
                    self._function(around, self.code.source(name))
                return
            if around.type == "assignment_expression":
                left, right = around.child_by_field_name("left"), around.child_by_field_name("right")
                if left is not None and right is not None and names_a_prompt(self.code.source(left)):
                    self._expression(right, self.code.source(left), named=True)
                return
            if around.type in ("lexical_declaration", "variable_declaration"):
                for declarator in around.named_children:
                    inner = declarator.child_by_field_name("name")
                    if inner is not None:
                        self._named_variable(declarator, inner)
                return
            if around.type in ("statement_block", "program", "class_body"):
                return

    def _named_variable(self, declarator: Node, name: Node) -> None:
        source = self.code.source(name)
        if name.type != "identifier" or not (names_a_prompt(source) or _is_template(source)):
            return
        value = declarator.child_by_field_name("value")
        value = unwrapped(value) if value is not None else None
        if value is not None and value.type in FUNCTIONS:
            self._function(value, source)
        else:
            self._variable(source, declarator)

    def _said(self, node: Node) -> None:
        """Text that speaks to a model: the expression that it is part of."""
        text = _around(node, ("string", "template_string"), itself=True)
        if text is None or text.id in self.seen:
            return
        self.seen.add(text.id)
        self._climb(text)

    def _climb(self, text: Node) -> None:
        expression, outer = text, text.parent
        while outer is not None:
            if outer.type == "call_expression":
                called = outer.child_by_field_name("function")
                if called is None or _NOT_SENT.search(self.code.source(called)[-60:]):
                    return
                expression = outer
            elif outer.type == "new_expression":
                called = outer.child_by_field_name("constructor")
                if called is not None and "Error" in self.code.source(called):
                    return
                break
            elif outer.type not in _THROUGH and outer.type not in ("member_expression", "arguments"):
                break
            else:
                expression = outer if outer.type != "arguments" else expression
            outer = outer.parent
        if outer is None or outer.type == "throw_statement":
            return
        if outer.type in ("variable_declarator", "assignment_expression", "augmented_assignment_expression"):
            name = outer.child_by_field_name("name") or outer.child_by_field_name("left")
            if name is not None:
                source = self.code.source(name)
                self.names.append(source)
                self._variable(source, outer)
        elif outer.type == "return_statement" or outer.type in FUNCTIONS:
            self._function_of(outer)
        elif outer.type == "pair":
            around = _around(outer, ("object",))
            if around is None or not self._object(around):
                self._expression(expression, "", named=False)
        elif outer.type != "jsx_expression":
            self._expression(expression, "", named=False)

    def _uses(self, name: str) -> None:
        """Where a constant that speaks to a model goes: the text around it."""
        if not re.fullmatch(r"[\w$]+", name):
            return
        for number, match in enumerate(re.finditer(rb"(?<![\w$.])%s(?![\w$])" % re.escape(name.encode()), self.code.data)):
            if number > 20:
                break
            node = self.code.root.descendant_for_byte_range(match.start(), match.end() - 1)
            if node is not None and node.type == "identifier" and node.parent is not None:
                if node.parent.type in ("template_substitution", "binary_expression", "array", "ternary_expression", "arguments"):
                    self._climb(node)

    # --- values ---------------------------------------------------------------------------------------------

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
        self._offer(node, name, plain(value), named=names_a_prompt(name) or _is_template(name), grows=grows)

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
        around = _around(node, tuple(FUNCTIONS), itself=True)
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
        self._offer(node, name, plain(self.program.value(node, self.program.scopes.environment(node))), named=named)

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
                self._send(node, name, settled(list(messages(Items((value,)), self.code.place(node)))), sure=True)
                return
            mine = _body(value)
            if {"messages", "system", "system_prompt"} & mine.keys():
                self._send(node, name, request(mine, self.code.place(node)), sure=True)
            elif named:
                for _, item in value.pairs:
                    if isinstance(item, Text):
                        self._offer(node, name, item, named=True)
        elif isinstance(value, Items) and named and all(isinstance(item, Text | Segment) for item in value.items):
            self._send(node, name, pieces_of(value, self.code.place(node)), sure=False)
        elif isinstance(value, Text):
            if not named and not looks_like_prompt(value.pieces):
                return
            self._send(node, name, self._opened(name, value.pieces), sure=False)

    def _opened(self, name: str, pieces: tuple[Segment, ...]) -> tuple[Segment, ...]:
        """A template that is filled in elsewhere has variables for its placeholders."""
        if has_placeholders(pieces, "double"):
            return fill(pieces, "double", self.program.variable)
        if all(piece.origin == STATIC for piece in pieces) and _is_template(name):
            return fill(pieces, "unseen", self.program.variable)
        return pieces

    def _send(self, node: Node, name: str, segments: tuple[Segment, ...], *, sure: bool) -> None:
        static = "".join(s.text for s in segments if s.origin == STATIC)
        history = any(s.role in ("history", "assistant") for s in segments)
        shared = any(s.kind == "static-part" for s in segments)
        if not segments or (len(static) < LEAST and not history and not shared):
            return
        if is_other_language(segments) or is_code(static) or not (sure or shared or reads_like_prompt(static)):
            return
        self.found.append((node.start_byte, Candidate(name, _with_machine(_answered(segments)), sure)))


def _answered(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """What the model has said stays as it was said."""
    return tuple(
        s._replace(kind="fixed") if s.role == "assistant" and s.origin != STATIC else s for s in segments
    )


def _turns(segments: list[Segment]) -> list[Segment]:
    """In a list that grows turn by turn, what stands before an answer was sent before and is kept."""
    last = max((i for i, s in enumerate(segments) if s.role == "assistant" and s.origin != STATIC), default=-1)
    return [s._replace(kind="fixed") if i < last and s.role == "user" else s for i, s in enumerate(segments)]


def _with_machine(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """A platform alone is the same for all who share a server; beside a folder or a host it is one more difference."""
    beside = any(s.kind == "environment" for s in segments)
    return tuple(
        s._replace(kind="environment" if beside else "fixed") if s.kind == "machine-part" else s for s in segments
    )


def _body(value: Table) -> dict[str, Value]:
    """The parts of a request under the names that all libraries share."""
    return {_KEYS[key]: _content(item) for key, item in value.pairs if key in _KEYS}


def _content(value: Value) -> Value:
    if isinstance(value, Table) and value.get("parts") is not None:
        return value.get("parts")
    return _with_history(value) if isinstance(value, Items) else value


def _with_history(value: Items) -> Items:
    """In a list of messages, a list that is spread is earlier turns, unless its name says that it is examples."""
    from promptorder.forms._python_values import Star

    def turned(item: Value) -> Value:
        if isinstance(item, Star) and isinstance(item.value, Segment) and not item.value.kind:
            said = frozenset(words(item.value.name))
            if not said & {"example", "examples", "shots", "shot", "few", "system", "fewshot", "demos"}:
                return Star(item.value._replace(role="history"))
        return item

    return Items(tuple(turned(item) for item in value.items))


def _is_template(name: str) -> bool:
    said = words(name)
    return bool(said) and said[-1] in ("template", "prompt", "instructions", "preamble", "persona", "tmpl")


def _around(node: Node, kinds: tuple[str, ...], *, itself: bool = False) -> Node | None:
    if itself and node.type in kinds:
        return node
    return next((a for a in ancestors(node) if a.type in kinds), None)


def _keys(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "pair":
            key = child.child_by_field_name("key")
            if key is not None:
                yield key
        elif child.type in ("shorthand_property_identifier", "method_definition"):
            yield child.child_by_field_name("name") or child


__all__ = ["CLASSES", "RETURNED", "Finder"]
