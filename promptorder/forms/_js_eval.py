"""Expressions of a JavaScript program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from promptorder.forms import _js_calls as calls
from promptorder.forms._js_base import Base
from promptorder.forms._js_scopes import Env, Step, parameters_of
from promptorder.forms._js_source import unwrapped
from promptorder.forms._js_values import Closure, JsValue, constant, moved, plain
from promptorder.forms._python_values import MOST_PIECES, Items, Text, is_volatile, pieces_of, volatile_in
from promptorder.forms._python_values import Table as Record
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC, VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node


_DEEPEST = 40
_OF_ITSELF = frozenset(
    "text content body value message description title subject pageContent raw data current".split()
)


class Evaluator(Base):
    """Gives expressions their values; what cannot be known is a variable with the name it has."""

    def value(self, node: Node, env: Env) -> JsValue:
        """The value of an expression."""
        node = unwrapped(node)
        self.fuel -= 1
        key = (node.id, id(env))
        if self.fuel < 0 or self.depth > _DEEPEST or key in self._active:
            return self.unknown(node, "")
        handler = _HANDLERS.get(node.type)
        if handler is None:
            return self._other(node, env)
        self.depth += 1
        self._active.add(key)
        try:
            return handler(self, node, env)
        finally:
            self.depth -= 1
            self._active.discard(key)

    def pieces(self, node: Node, env: Env) -> tuple[Segment, ...]:
        """An expression written as text where it stands."""
        place = self.code.place(node)
        return pieces_of(plain(moved(self.value(node, env), place)), place)

    def _string(self, node: Node, env: Env) -> JsValue:
        found: list[Segment] = []
        run: list[Node] = []
        for child in node.named_children:
            if child.type in ("string_fragment", "escape_sequence"):
                run.append(child)
                continue
            if run:
                found.append(self.code.static(run))
                run = []
            if child.type == "template_substitution" and child.named_children:
                found.extend(self.pieces(child.named_children[0], env))
        if run:
            found.append(self.code.static(run))
        return Text(tuple(found[:MOST_PIECES]))

    def _constant(self, node: Node, env: Env) -> JsValue:
        start, end = self.code.place(node)
        return Text((Segment(self.code.source(node), start, end, "prompt", STATIC, "", "fixed"),))

    def _nothing(self, node: Node, env: Env) -> JsValue:
        return Text(())

    def _binary(self, node: Node, env: Env) -> JsValue:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return None
        operator = self.code.source(node.children[1]) if len(node.children) == 3 else ""
        if operator == "+":
            return Text((*self.pieces(left, env), *self.pieces(right, env))[:MOST_PIECES])
        if operator in ("??", "||"):
            return self.chosen(self.value(left, env), self.value(right, env))
        if operator == "&&":
            return self.value(right, env)
        if operator in ("-", "*", "/", "%", "**"):
            found = volatile_in(plain(self.value(left, env))) or volatile_in(plain(self.value(right, env)))
            if found is not None:
                by_day = "86400000" in self.code.source(node).replace("_", "") and found.kind == calls.CLOCK
                changes = "day" if by_day and found.changes == "request" else found.changes
                return moved(found._replace(changes=changes), self.code.place(node))
        return Segment("", *self.code.place(node), "prompt", VARIABLE, "", "fixed")

    def _ternary(self, node: Node, env: Env) -> JsValue:
        a, b = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if a is None or b is None:
            return None
        return self.chosen(self.value(a, env), self.value(b, env))

    def _array(self, node: Node, env: Env) -> JsValue:
        return self.items(node.named_children, env)

    def _object(self, node: Node, env: Env) -> JsValue:
        pairs: list[tuple[str, JsValue]] = []
        for child in node.named_children:
            if child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None:
                    pairs.append((self.code.source(key).strip("\"'`"), self.item(value, env)))
            elif child.type == "shorthand_property_identifier":
                pairs.append((self.code.source(child), self.item(child, env)))
            elif child.type == "spread_element" and child.named_children:
                inner = self.value(child.named_children[0], env)
                if isinstance(inner, Record):
                    pairs.extend(inner.pairs)
        return Record(tuple((name, plain(value)) for name, value in pairs))

    def _function(self, node: Node, env: Env) -> JsValue:
        return Closure(node, env)

    def _identifier(self, node: Node, env: Env) -> JsValue:
        name = self.code.source(node)
        if name in ("undefined", "NaN"):
            return Text(())
        found = self.named(name, node, env)
        if isinstance(found, Segment) and found.role == "import":
            return self._imported(node, name)
        if found is None:
            found = self._parameter(name, env) or self.unknown(node, name)
        return self.renamed(found, name, node)

    def _imported(self, node: Node, name: str) -> Segment:
        """What another file gives: a constant where it is written as one."""
        if not name.isupper():
            return self.unknown(node, name)
        start, end = self.code.place(node)
        return Segment(name, start, end, "prompt", VARIABLE, name, "static-part")

    def _parameter(self, name: str, env: Env) -> JsValue:
        """The default of a parameter, where it is one that tells."""
        where: Env | None = env
        while where is not None:
            for parameter in parameters_of(where.function) if where.parent is not None else ():
                for part in (parameter, *_parts(parameter)):
                    value = part.child_by_field_name("value") or part.child_by_field_name("right")
                    target = part.child_by_field_name("pattern") or part.child_by_field_name("left")
                    if value is not None and target is not None and self.code.source(target) == name:
                        found = self.value(value, where)
                        text = constant(found)
                        if volatile_in(plain(found)) is not None or (text is not None and text.strip()):
                            return found
            where = where.parent
        return None

    def _member(self, node: Node, env: Env) -> JsValue:
        target, key = node.child_by_field_name("object"), node.child_by_field_name("property")
        if target is None or key is None:
            return None
        source = self.code.source(node).replace("?.", ".")
        judged = calls.of_attribute(source) if len(source) < 60 else None
        if judged is not None:
            return self.made(node, *judged, env)
        name = self.code.source(key)
        assigned = self.named(source, node, env)
        if target.type == "this" and env.owner is not None:
            steps = self.scopes.of_class(env.owner).get(name)
            found = self._of_this(name, steps, env) if steps else None
            if found is not None:
                return self.renamed(found, name, node)
        if assigned is not None:
            return assigned
        if name == "length":
            return Segment("", *self.code.place(node), "prompt", VARIABLE, "", "fixed")
        found = self.member(self.value(target, env), name, node, env)
        return self._imported(node, name) if isinstance(found, Segment) and found.role == "import" else found

    def _of_this(self, name: str, steps: list[Step], env: Env) -> JsValue:
        key = (id(self.scopes), f"this.{name}", env.owner.start_byte if env.owner is not None else 0)
        if key not in self._memo:
            self._memo[key] = (env, None)
            method = next((s.node for s in steps if s.node is not None), None)
            around = self.scopes.environment(method) if method is not None else env
            self._memo[key] = (env, self._steps(steps, around, None))
        return self._memo[key][1]

    def member(self, value: JsValue, key: str, node: Node, env: Env) -> JsValue:
        """A property of a value."""
        if isinstance(value, Record):
            found = value.get(key)
            if found is not None:
                return found
            return self.unknown(node, key)
        if isinstance(value, Segment):
            if is_volatile(value):
                changes = value.changes
                if value.kind == calls.CLOCK:
                    changes = calls.of_moment(key, "", changes)
                    if changes == "fixed":
                        return value._replace(kind="fixed", changes="")
                return value._replace(changes=changes)
            if value.role == "import":
                return value._replace(name=f"{value.name.rpartition(':')[0]}:{key}")
            if value.kind == "static-part":
                return self.unknown(node, key)
            if value.kind:
                return value
            return self.unknown(node, _joined(value.name, key))
        return self.unknown(node, key)

    def _subscript(self, node: Node, env: Env) -> JsValue:
        target, index = node.child_by_field_name("object"), node.child_by_field_name("index")
        if target is None or index is None:
            return None
        value = self.value(target, env)
        if index.type == "number" and isinstance(value, Items):
            number = int(self.code.source(index)) if self.code.source(index).isdigit() else 0
            return value.items[number] if number < len(value.items) else None
        drawn = volatile_in(plain(self.value(index, env)))
        if drawn is not None:
            return drawn
        key = constant(self.value(index, env))
        if isinstance(value, Record):
            if key is not None:
                return value.get(key)
            best: JsValue = None
            for _, each in value.pairs:
                best = self.chosen(best, each) if best is not None else each
            return best
        if isinstance(value, Items) and value.items:
            return value.items[0]
        if key is not None:
            return self.member(value, key, node, env)
        return value

    def _other(self, node: Node, env: Env) -> JsValue:
        return Segment("", *self.code.place(node), "prompt", VARIABLE, "", "fixed")

    def _sequence(self, node: Node, env: Env) -> JsValue:
        return self.value(node.named_children[-1], env) if node.named_children else None

    def call(self, node: Node, env: Env) -> JsValue:
        """Replaced by the class that knows what calls do."""
        raise NotImplementedError


def _parts(parameter: Node) -> list[Node]:
    """The parts of a parameter that is taken apart."""
    pattern = parameter.child_by_field_name("pattern") or parameter
    if pattern.type in ("assignment_pattern",):
        pattern = pattern.child_by_field_name("left") or pattern
    return pattern.named_children if pattern.type == "object_pattern" else []


def _joined(name: str, key: str) -> str:
    """The dotted name of a property; ``request.id`` is the request's id and not the request."""
    if key.lower() in ("id", "uuid", "name", "time", "date"):
        return f"{name}_{key}"
    # The text of a ticket is the ticket; of an options object such as ``context`` or ``state`` only the key tells.
    if key in _OF_ITSELF or kind_of_name(name) == "user-data":
        return f"{name}.{key}"
    return key


_HANDLERS: dict[str, Callable[..., JsValue]] = {
    "string": Evaluator._string,
    "template_string": Evaluator._string,
    "number": Evaluator._constant,
    "true": Evaluator._constant,
    "false": Evaluator._nothing,
    "null": Evaluator._nothing,
    "undefined": Evaluator._nothing,
    "binary_expression": Evaluator._binary,
    "ternary_expression": Evaluator._ternary,
    "array": Evaluator._array,
    "object": Evaluator._object,
    "arrow_function": Evaluator._function,
    "function_expression": Evaluator._function,
    "identifier": Evaluator._identifier,
    "shorthand_property_identifier": Evaluator._identifier,
    "member_expression": Evaluator._member,
    "subscript_expression": Evaluator._subscript,
    "sequence_expression": Evaluator._sequence,
    "call_expression": lambda self, node, env: self.call(node, env),
    "new_expression": lambda self, node, env: self.call(node, env),
}
