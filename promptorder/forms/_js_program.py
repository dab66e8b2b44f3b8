"""Calls in a JavaScript program: helpers of the same file, well-known packages, and those of other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms import _js_calls as calls
from promptorder.forms._js_methods import SHUFFLED, Methods, changing
from promptorder.forms._js_scopes import Env
from promptorder.forms._js_source import unwrapped
from promptorder.forms._js_values import Closure, JsValue, constant, moved, plain
from promptorder.forms._python_sinks import message_class
from promptorder.forms._python_values import (
    Items,
    Table,
    Template,
    Text,
    is_volatile,
    volatile_in,
)
from promptorder.lint._names import kind_of_name, words
from promptorder.model.lint import VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node


_WRAPPERS = frozenset(
    "String dedent outdent stripIndent stripIndents oneLine JSON.stringify String.raw Promise.resolve "
    "Object.freeze Array.from Set Array.of codeBlock endent ts Promise.all Number Math.floor Math.round "
    "Math.ceil Math.trunc Math.abs BigInt structuredClone encodeURIComponent Object.values useMemo memoize".split()
)
_TAGS_OF_OTHERS = frozenset(
    ("sql", "gql", "css", "html", "graphql", "styled", "svg", "keyframes", "Prisma.sql", "xml")
)
_TEMPLATES = re.compile(
    r"(?:^|\.)(?:\w*PromptTemplate|ChatPromptTemplate|PromptTemplate)\.(?:fromTemplate|fromMessages|fromPromptMessages)$"
)
_TEMPLATE_CLASS = re.compile(r"^\w*PromptTemplate$")
_FILLERS = re.compile(
    r"fill|render|format|interpolate|template|populate|substitute|inject|apply|compile|replace|build|sprintf|hydrate",
    re.IGNORECASE,
)
_WRITES = re.compile(r"format|date|time|stamp|string|iso|pretty|human|display|local", re.IGNORECASE)
_VERBS = frozenset(
    "get load fetch format build make create render compute read find generate the to as use resolve with".split()
)
_DRAWS = re.compile("shuffle|sample|pick|random|choose|rand", re.IGNORECASE)
_SEEDED = re.compile(r"seed|rng|mulberry|deterministic", re.IGNORECASE)


class Program(Methods):
    """Expressions with their calls."""

    def call(self, node: Node, env: Env) -> JsValue:
        """The value of a call."""
        called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        listed = node.child_by_field_name("arguments")
        if called is None:
            return self.unknown(node, "")
        called = unwrapped(called)
        if listed is not None and listed.type == "template_string":
            if self.code.source(called) in _TAGS_OF_OTHERS:
                return self._other(node, env)
            if self.code.source(called) == "$" and re.search("git|ls|pwd", self.code.source(listed)):
                return self.made(node, calls.ENVIRONMENT, "checkout", env)
            return self.value(listed, env)
        nodes = [n for n in listed.named_children if n.type != "comment"] if listed is not None else []
        result = self._known(node, called, nodes, env)
        if isinstance(result, Segment) and result.role == "import":
            return result
        return (
            moved(result, self.code.place(node))
            if result is not None
            else self._unknown_call(node, called, nodes, env)
        )

    def _known(self, node: Node, called: Node, nodes: list[Node], env: Env) -> JsValue:
        name = self.code.source(called).replace("?.", ".") if called.end_byte - called.start_byte < 80 else ""
        if called.type == "call_expression":
            maker = self.value(called, env)
            return self._filled(maker.value, nodes, env) if isinstance(maker, Template) and nodes else None
        if called.type in ("arrow_function", "function_expression"):
            return self.inline(Closure(called, env), [self.item(n, env) for n in nodes], node)
        target = called.child_by_field_name("object") if called.type == "member_expression" else None
        closure = self._closure(called, target, env)
        if closure is not None:
            return self._of_helper(closure, name, nodes, node, env)
        judged = self._judged(name, called, nodes, node, env)
        if judged is not None:
            return judged
        made = self._constructed(name, nodes, node, env)
        if made is not None:
            return made
        if name == "require" and nodes:
            return Segment(
                "", 0, 0, "import", VARIABLE, f"{constant(self.value(nodes[0], env))}:default", "fixed"
            )
        if name in _WRAPPERS and nodes:
            return self._wrapped(name, nodes, env)
        if target is not None:
            method = called.child_by_field_name("property")
            return self._method(
                self.code.source(method) if method is not None else "", target, nodes, node, env
            )
        return None

    def _closure(self, called: Node, target: Node | None, env: Env) -> Closure | None:
        if called.type == "identifier":
            found = self.named(self.code.source(called), called, env)
        elif target is not None:
            key = called.child_by_field_name("property")
            if key is None:
                return None
            found = None
            if target.type == "this" and env.owner is not None:
                steps = self.scopes.of_class(env.owner).get(self.code.source(key), ())
                found = next(
                    (self._step(s, self.scopes.environment(s.node), None) for s in steps if s.node), None
                )
            elif target.type == "identifier":
                found = self._of_object(target, self.code.source(key), env)
        else:
            found = None
        return found if isinstance(found, Closure) else None

    def _of_object(self, target: Node, key: str, env: Env) -> JsValue:
        """A function that is a property of an object of the file."""
        where: Env | None = env
        name = self.code.source(target)
        while where is not None and name not in where.table:
            where = where.parent
        for step in where.table[name] if where is not None else ():
            value = unwrapped(step.node) if step.node is not None and step.op == "=" else None
            for child in value.named_children if value is not None and value.type == "object" else ():
                found = child.child_by_field_name("key") or child.child_by_field_name("name")
                if found is None or self.code.source(found) != key:
                    continue
                function = child if child.type == "method_definition" else child.child_by_field_name("value")
                if function is not None and where is not None:
                    return (
                        Closure(function, where)
                        if child.type == "method_definition"
                        else self.value(function, where)
                    )
        return None

    def _of_helper(self, closure: Closure, name: str, nodes: list[Node], node: Node, env: Env) -> JsValue:
        arguments = [self.item(n, env) for n in nodes]
        result = self.inline(closure, arguments, node)
        source = self.code.source(closure.node)
        drawn = SHUFFLED.search(source) and _DRAWS.search(name) and not _SEEDED.search(source)
        if drawn and volatile_in(plain(result)) is None:
            return self.made(node, calls.RANDOM, "request", env)
        if result is None or (
            isinstance(result, Segment) and not result.kind and not kind_of_name(result.name)
        ):
            return self._unknown_call(node, None, nodes, env, name) if name else result
        return result

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
        if kind == calls.RANDOM and _SEEDED.search(source + name):
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

    def _unknown_call(
        self, node: Node, called: Node | None, nodes: list[Node], env: Env, name: str = ""
    ) -> JsValue:
        """A call of another file: what its arguments make of it, or what its name says."""
        name = name or (self.code.source(called)[-80:] if called is not None else "")
        last = name.rpartition(".")[2]
        values = [self.value(n, env) for n in nodes[:6]]
        if values and isinstance(values[0], Text) and _FILLERS.search(last) and len(values) > 1:
            filled = self._call_fills(values[0], values[1])
            if filled is not None:
                return filled
        if len(values) == 1 and isinstance(values[0], Text) and last in ("compile", "template"):
            return Template(values[0], "double")
        for found in values:
            # What a call makes of a whole text is another text; a lone date is written in another way.
            if (
                isinstance(found, Segment)
                and is_volatile(found)
                and (len(nodes) == 1 or _WRITES.search(last))
            ):
                by_day = found.kind == calls.CLOCK and found.changes == "request" and _is_daily(last)
                shown = found._replace(changes="day") if by_day else found
                return moved(shown, self.code.place(node))
        said = [w for w in words(last) if w not in _VERBS]
        spoken = "_".join(said)
        if kind_of_name(spoken):
            return self.unknown(node, spoken)
        for value in values:
            if (
                isinstance(value, Segment)
                and value.origin == VARIABLE
                and kind_of_name(value.name)
                and not value.kind
            ):
                return moved(value, self.code.place(node))
        return self.unknown(node, spoken)


def _is_daily(name: str) -> bool:
    said = frozenset(words(name))
    return "date" in said and not said & {"time", "datetime", "iso", "timestamp"}
