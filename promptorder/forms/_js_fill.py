"""Templates of a JavaScript program that its own calls fill in, and those that another file fills in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms._js_eval import Evaluator
from promptorder.forms._js_scopes import Env
from promptorder.forms._js_source import Code
from promptorder.forms._js_values import Closure, JsValue, constant, moved, plain
from promptorder.forms._python_templates import fill, has_placeholders, replace
from promptorder.forms._python_values import (
    Items,
    Table,
    Template,
    Text,
    pieces_of,
)
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC, VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node


_SIMPLE_REGEX = re.compile(r"^/(.*)/[a-z]*$", re.DOTALL)


class Filling(Evaluator):
    """Expressions with templates; ``filled`` are the places of the placeholders of which the file shows the value."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.filled: set[int] = set()

    def variable(self, name: str, place: tuple[int, int]) -> tuple[Segment, ...]:
        """A placeholder that nobody fills in here: only its name tells."""
        from promptorder.forms._placeholders import judge

        source = self.code.text[slice(*place)]
        kind, changes = judge(name) if source.startswith("{{") else ("", "")
        if not kind and not kind_of_name(name):
            kind = "fixed"
        return (Segment(source, *place, "prompt", VARIABLE, name, kind, changes),)

    def _opened(self, value: JsValue, syntax: str) -> Text | Items | Table | Segment | None:
        """A template's placeholders as variables."""
        if isinstance(value, Text):
            return Text(fill(value.pieces, syntax, self.variable))
        if isinstance(value, Items):
            return Items(tuple(self._opened(item, syntax) for item in value.items))
        if isinstance(value, Table):
            return Table(tuple((key, self._opened(item, syntax)) for key, item in value.pairs))
        if isinstance(value, Template):
            return self._opened(value.value, syntax)
        return value if isinstance(value, Segment) else None

    def _text(self, text: str, node: Node) -> Text:
        return Text((Segment(text, *self.code.place(node), "prompt", STATIC, "", "fixed"),))

    def _replaced(self, receiver: JsValue, nodes: list[Node], env: Env) -> JsValue:
        if not isinstance(receiver, Text) or len(nodes) < 2:
            return receiver
        if nodes[0].type != "regex":
            old = constant(self.value(nodes[0], env))
            if old is None or not old:
                return receiver
            return Text(replace(receiver.pieces, old, lambda place: self._new(nodes[1], place, env)))
        match = _SIMPLE_REGEX.match(self.code.source(nodes[0]))
        pattern = match[1] if match else ""
        if r"\w" in pattern or "[^" in pattern or ".+" in pattern or ".*" in pattern:
            return self._filled_by(receiver, pattern, nodes[1], env)
        name = re.sub(r"\\s[*+?]?|[\\{}$<>%()\[\]\s]", "", pattern)
        if not re.fullmatch(r"[\w.]+", name):
            return receiver
        for old in (
            f"{{{{{name}}}}}",
            f"{{{{ {name} }}}}",
            f"${{{name}}}",
            f"{{{name}}}",
            f"%{name}%",
            f"[{name}]",
            f"<{name}>",
            name,
        ):
            if any(old in piece.text for piece in receiver.pieces if piece.origin == STATIC):
                return Text(replace(receiver.pieces, old, lambda place: self._new(nodes[1], place, env)))
        return receiver

    def _new(self, node: Node, place: tuple[int, int], env: Env) -> tuple[Segment, ...]:
        self.filled.add(place[0])
        value = self.value(node, env)
        if isinstance(value, Closure):
            value = self.inline(value, [], node)
        # shown where the placeholder stands: that is the place to move
        return pieces_of(plain(moved(value, place)), place)

    def _filled_by(self, receiver: Text, pattern: str, callback: Node, env: Env) -> JsValue:
        """``text.replace(/{{(\\w+)}}/g, (_, key) => values[key])``."""
        waiting = [callback]
        while waiting:
            node = waiting.pop()
            if node.type == "subscript_expression":
                target = node.child_by_field_name("object")
                closure = self.value(callback, env)
                inner = closure.env if isinstance(closure, Closure) else env
                values = self.value(target, inner) if target is not None else None
                return self._with(
                    receiver,
                    values,
                    "double" if pattern.count("{") > 1 and "{{" in pattern.replace("\\", "") else "unseen",
                )
            waiting.extend(node.named_children)
        return receiver

    def _filled(self, template: JsValue, nodes: list[Node], env: Env) -> JsValue:
        """A template whose placeholders a call fills in from an object."""
        values = self.value(nodes[0], env)
        if not isinstance(template, Text):
            return template
        return self._with(
            template, values, "double" if has_placeholders(template.pieces, "double") else "unseen"
        )

    def _with(self, template: Text, values: JsValue, syntax: str) -> Text:
        def lookup(name: str, place: tuple[int, int]) -> tuple[Segment, ...] | None:
            found = values.get(name) if isinstance(values, Table) else None
            if found is None:
                return self.variable(name, place)
            self.filled.add(place[0])
            return pieces_of(plain(moved(found, place)), place)

        filled: list[Segment] = []
        for piece in fill(template.pieces, syntax, lookup):
            place = piece.start, piece.end
            again = lookup(piece.name, place) if piece.origin == VARIABLE and piece.text[:1] == "{" else None
            filled.extend(again if again is not None else (piece,))
        return Text(tuple(filled))

    def _call_fills(self, template: Text, values: JsValue) -> Text | None:
        if not isinstance(values, Table):
            return None
        for syntax in ("double", "unseen", "dollar"):
            if has_placeholders(template.pieces, syntax) or syntax == "dollar":
                return self._with(template, values, syntax)
        return None
