"""Calls in a JavaScript program that are known by name: clocks, random values, messages and templates of libraries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms import _js_calls as calls
from promptorder.forms._js_methods import Methods, changing
from promptorder.forms._js_scopes import Env
from promptorder.forms._js_values import Closure, JsValue, constant, plain
from promptorder.forms._python_sinks import message_class
from promptorder.forms._python_values import Items, Table, Template, volatile_in
from promptorder.model.lint import VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node


WRAPPERS = frozenset(
    "String dedent outdent stripIndent stripIndents oneLine JSON.stringify String.raw Promise.resolve "
    "Object.freeze Array.from Set Array.of codeBlock endent ts Promise.all Number Math.floor Math.round "
    "Math.ceil Math.trunc Math.abs BigInt structuredClone encodeURIComponent Object.values useMemo memoize".split()
)
_TEMPLATES = re.compile(
    r"(?:^|\.)(?:\w*PromptTemplate|ChatPromptTemplate|PromptTemplate)\.(?:fromTemplate|fromMessages|fromPromptMessages)$"
)
_TEMPLATE_CLASS = re.compile(r"^\w*PromptTemplate$")
SEEDED = re.compile(r"seed|rng|mulberry|deterministic", re.IGNORECASE)


class Libraries(Methods):
    """Expressions with the calls of libraries."""

    def _judged(self, name: str, called: Node, nodes: list[Node], node: Node, env: Env) -> JsValue:
        imported = self.named(name.partition(".")[0], called, env)
        module = ""
        if isinstance(imported, Segment) and imported.role == "import":
            module, _, original = imported.name.rpartition(":")
            if original != "default" and "." not in name:
                name = original if original not in ("v1", "v4", "v7") or "uuid" in module else name
        elif imported is not None and "." not in name:
            return None
        source = "".join(self.code.source(n)[:200] + ", " for n in nodes)
        command = calls.of_command(name, source)
        if command is not None:
            return self.made(node, *command, env)
        judged = calls.of_call(name, module)
        if judged is None:
            if (
                name.rpartition(".")[2] in ("format", "formatInTimeZone", "formatISO", "lightFormat")
                and nodes
            ):
                return self._formatted(name, nodes, env)
            return None
        kind, changes = judged
        if kind == calls.CLOCK and nodes and name in ("Date", "dayjs", "moment", "DateTime.fromJSDate"):
            return self._moment(nodes[0], env)
        if kind == calls.RANDOM and SEEDED.search(source + name):
            return self._wrapped("String", nodes, env) if nodes else self._other(node, env)
        return self.made(node, kind, changes, env, name)

    def _moment(self, argument: Node, env: Env) -> JsValue:
        """A date that was made of something: a clock if that is one."""
        value = plain(self.value(argument, env))
        found = volatile_in(value)
        if found is not None:
            return found
        if isinstance(value, Segment):
            return value
        return Segment("", *self.code.place(argument), "prompt", VARIABLE, "", "fixed")

    def _formatted(self, name: str, nodes: list[Node], env: Env) -> JsValue:
        """``format(new Date(), "yyyy-MM-dd")``."""
        found = volatile_in(plain(self.value(nodes[0], env)))
        if found is None or found.kind != calls.CLOCK:
            return None
        pattern = next(
            (self.code.source(n) for n in nodes[1:] if n.type in ("string", "template_string")), ""
        )
        if name.endswith("InTimeZone") and nodes[2:]:
            pattern = self.code.source(nodes[2])
        return changing(found, calls.pattern(pattern) if found.changes == "request" else found.changes)

    def _constructed(self, name: str, nodes: list[Node], node: Node, env: Env) -> JsValue:
        """Messages and templates of libraries."""
        role = message_class(name.rpartition(".")[2])
        if name.rpartition(".")[2] == "MessagesPlaceholder" and nodes:
            key = constant(self.value(nodes[0], env)) or "history"
            return Segment(key, *self.code.place(node), "history", VARIABLE, key)
        if role and nodes and not name.endswith("Template"):
            content = plain(self.value(nodes[0], env))
            if isinstance(content, Table):
                content = content.get("content")
            said = self._text(role, node)
            return Table((("role", said), ("content", content)))
        if _TEMPLATES.search(name) and nodes:
            inner = plain(self.value(nodes[0], env))
            opened = self._opened(inner, self._syntax(nodes[1:]))
            owner = message_class(name.partition(".")[0])
            if owner:
                return Table((("role", self._text(owner, node)), ("content", opened)))
            return Template(opened, "unseen")
        if _TEMPLATE_CLASS.match(name) and nodes:
            options = self.value(nodes[0], env)
            if isinstance(options, Table) and options.get("template") is not None:
                syntax = "double" if constant(options.get("templateFormat")) == "mustache" else "unseen"
                return Template(self._opened(options.get("template"), syntax), "unseen")
        return None

    def _syntax(self, nodes: list[Node]) -> str:
        return "double" if any("mustache" in self.code.source(n) for n in nodes) else "unseen"

    def _wrapped(self, name: str, nodes: list[Node], env: Env) -> JsValue:
        value = self.value(nodes[0], env)
        if isinstance(value, Closure) and name in ("useMemo", "memoize"):
            return self.inline(value, [], nodes[0])
        if name == "Array.from" and len(nodes) > 1:
            callback = self.value(nodes[1], env)
            if isinstance(callback, Closure):
                return self.inline(callback, [], nodes[1])
        if name == "Object.values" and isinstance(value, Table):
            return Items(tuple(item for _, item in value.pairs))
        return value
