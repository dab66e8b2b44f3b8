"""Calls in a JavaScript program: helpers of the same file, libraries, and those of other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms import _js_calls as calls
from promptorder.forms._js_libraries import SEEDED, WRAPPERS, Libraries
from promptorder.forms._js_methods import SHUFFLED
from promptorder.forms._js_scopes import Env
from promptorder.forms._js_source import unwrapped
from promptorder.forms._js_values import Closure, JsValue, constant, moved, plain
from promptorder.forms._python_values import (
    Template,
    Text,
    is_volatile,
    volatile_in,
)
from promptorder.lint._names import kind_of_name, words
from promptorder.model.lint import VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node


_TAGS_OF_OTHERS = frozenset(
    ("sql", "gql", "css", "html", "graphql", "styled", "svg", "keyframes", "Prisma.sql", "xml")
)
_FILLERS = re.compile(
    r"fill|render|format|interpolate|template|populate|substitute|inject|apply|compile|replace|build|sprintf|hydrate",
    re.IGNORECASE,
)
_WRITES = re.compile(r"format|date|time|stamp|string|iso|pretty|human|display|local", re.IGNORECASE)
_VERBS = frozenset(
    "get load fetch format build make create render compute read find generate the to as use resolve with".split()
)
_DRAWS = re.compile("shuffle|sample|pick|random|choose|rand", re.IGNORECASE)


class Program(Libraries):
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
        if name in WRAPPERS and nodes:
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
        drawn = SHUFFLED.search(source) and _DRAWS.search(name) and not SEEDED.search(source)
        if drawn and volatile_in(plain(result)) is None:
            return self.made(node, calls.RANDOM, "request", env)
        if result is None or (
            isinstance(result, Segment) and not result.kind and not kind_of_name(result.name)
        ):
            return self._unknown_call(node, None, nodes, env, name) if name else result
        return result

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
