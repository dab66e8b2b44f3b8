"""Expressions of a JavaScript program, followed through names, helper functions and classes of the same file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from promptorder.forms import _js_calls as calls
from promptorder.forms._js_scopes import CLASSES, RETURNED, Env, Scopes, Step, Table, parameters_of
from promptorder.forms._js_source import Code, unwrapped
from promptorder.forms._js_values import Closure, JsValue, appended, constant, moved, plain, with_item
from promptorder.forms._python_values import (
    MOST_PIECES, Items, Star, Text, choose, is_volatile, pieces_of, volatile_in,
)  # fmt: skip
from promptorder.forms._python_values import Table as Record
from promptorder.lint._names import kind_of_name, words
from promptorder.model.lint import COMPUTED, STATIC, VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 40
_CALLS_DEEP = 6
_FUEL = 60_000
"""Expressions that are followed in a file, at least; a longer file has more."""
_OF_ITSELF = frozenset("text content body value message description title subject pageContent raw data current".split())
_ENOUGH = 30
"""Characters of text that make an alternative worth more than a name that says something."""


class Evaluator:
    """Gives expressions their values; what cannot be known is a variable with the name it has."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.scopes = Scopes(code)
        self.fuel = _FUEL + len(code.data) // 20
        self.depth = 0
        self.calls = 0
        self._memo: dict[tuple[int, str, int], tuple[Env, JsValue]] = {}
        self._active: set[tuple[int, int]] = set()

    # --- values ---------------------------------------------------------------------------------------------

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

    def unknown(self, node: Node, name: str) -> Segment:
        """Something that only its name tells about."""
        start, end = self.code.place(node)
        kind = "static-part" if _is_base(name) else ""
        return Segment(self.code.text[start : min(end, start + 80)], start, end, "prompt", VARIABLE, name, kind)

    def made(self, node: Node, kind: str, changes: str, env: Env, name: str = "") -> Segment:
        """What a call makes: of a value that is made once, it is told how often its maker runs."""
        start, end = self.code.place(node)
        if kind in (calls.CLOCK, calls.RANDOM) and changes in ("request", "day"):
            changes = env.moment or changes
        return Segment(
            self.code.text[start : min(end, start + 80)], start, end, "prompt", COMPUTED, name, kind, changes
        )

    # --- names ----------------------------------------------------------------------------------------------

    def named(self, name: str, node: Node, env: Env) -> JsValue:
        """What a name stands for at a place in a function, None where the file does not say."""
        where: Env | None = env
        while where is not None:
            if name in where.arguments:
                return self._replayed(name, where, node if where is env else None, where.arguments[name])
            if name in where.table:
                return self._replayed(name, where, node if where is env else None, None)
            where = where.parent
        return None

    def _replayed(self, name: str, env: Env, use: Node | None, start: JsValue) -> JsValue:
        steps = env.table.get(name, [])
        if use is not None:
            seen = [s for s in steps if s.byte <= use.start_byte]
            # A loop, or a function that is called later, sees what stands below it.
            steps = seen or steps
        key = (id(env), name, len(steps))
        known = self._memo.get(key)
        if known is not None:
            return known[1]
        self._memo[key] = (env, None)
        result = self._steps(steps, env, start)
        self._memo[key] = (env, result)
        return result

    def _steps(self, steps: list[Step], env: Env, start: JsValue) -> JsValue:
        first = 0
        for number, step in enumerate(steps):
            if step.op == "=" and not step.branch:
                first = number
        result = start
        for step in steps[first:]:
            result = self._step(step, env, result)
        return result

    def _step(self, step: Step, env: Env, before: JsValue) -> JsValue:
        if step.op == "import":
            return Segment("", 0, 0, "import", VARIABLE, step.key, "fixed")
        node = step.node
        assert node is not None
        if step.op == "def":
            return None if node.type in CLASSES else Closure(node, env)
        if step.op in ("push", "unshift"):
            return with_item(before, self.item(node, env), first=step.op == "unshift")
        value = self.value(node, env)
        if step.op == "of":
            value = self.member(value, step.key, node, env)
        elif step.op == "at":
            value = value.items[int(step.key)] if isinstance(value, Items) and int(step.key) < len(value.items) else None
        elif step.op == "each":
            return self._each(value, step.key)
        elif step.op == "+=":
            return appended(before, moved(value, self.code.place(node)), self.code.place(node))
        if step.branch and before is not None and not isinstance(before, Closure) and not isinstance(value, Closure):
            return choose(before, value)
        return value

    def _each(self, value: JsValue, key: str) -> JsValue:
        """What a loop goes through: all of a list that is known, else something of that name."""
        if isinstance(value, Items):
            texts = [item for item in value.items if not isinstance(item, Star)]
            if len(texts) == len(value.items):
                return Text(pieces_of(value, (0, 0)))
        if isinstance(value, Segment):
            return value if not key.isdigit() else value._replace(kind="fixed")
        return None

    def item(self, node: Node, env: Env) -> JsValue:
        """An element of a list or an argument; a spread one stands for several."""
        if node.type != "spread_element":
            return moved(self.value(node, env), self.code.place(node))
        inner = plain(self.value(node.named_children[0], env))
        if isinstance(inner, Segment) and not is_volatile(inner):
            start, end = self.code.place(node)
            inner = inner._replace(start=start, end=end)
        return Star(inner)

    def items(self, nodes: list[Node], env: Env) -> Items:
        """The elements of a list, spread lists among them."""
        found: list[JsValue] = []
        for node in nodes:
            if node.type == "comment":
                continue
            value = self.item(node, env)
            if isinstance(value, Star) and isinstance(value.value, Items):
                found.extend(value.value.items)
            else:
                found.append(value)
        return Items(tuple(plain(value) for value in found[:MOST_PIECES]))

    # --- expressions ----------------------------------------------------------------------------------------

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

    def chosen(self, a: JsValue, b: JsValue) -> JsValue:
        """One of two values: what changes, then what holds more text, then what has a name that says something."""
        if isinstance(a, Closure) or isinstance(b, Closure):
            return a if isinstance(a, Closure) else b
        first, second = volatile_in(a), volatile_in(b)
        if (first is None) != (second is None):
            return a if first is not None else b
        if isinstance(a, Segment) and isinstance(b, Text):
            text = constant(b)
            return b if text is not None and len(text) > _ENOUGH and not kind_of_name(a.name) else a
        if isinstance(a, Text) and isinstance(b, Segment):
            return self.chosen(b, a) if constant(a) is not None and len(constant(a) or "") <= _ENOUGH else a
        return choose(a, b)

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

    def renamed(self, value: JsValue, name: str, node: Node) -> JsValue:
        """A value that its variable's name tells more about than the expression that it was made by."""
        if isinstance(value, Segment) and value.origin == VARIABLE and not value.kind:
            better = name if kind_of_name(name) or not kind_of_name(value.name) else value.name
            return value._replace(name=better, kind="static-part" if _is_base(better) else "")
        return value

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

    # --- calls ----------------------------------------------------------------------------------------------

    def call(self, node: Node, env: Env) -> JsValue:
        """Replaced by the class that knows what calls do."""
        raise NotImplementedError

    def inline(self, closure: Closure, arguments: list[JsValue], node: Node) -> JsValue:
        """What a function of the file returns for these arguments."""
        if self.calls >= _CALLS_DEEP:
            return None
        env = self.scopes.new(closure.node, closure.env)
        for number, parameter in enumerate(parameters_of(closure.node)):
            if number < len(arguments) and arguments[number] is not None:
                self.bind(parameter, arguments[number], env)
        self.calls += 1
        try:
            return self.returned(env)
        finally:
            self.calls -= 1

    def bind(self, pattern: Node, value: JsValue, env: Env) -> None:
        """Give a parameter its argument."""
        if pattern.type in ("required_parameter", "optional_parameter"):
            inner = pattern.child_by_field_name("pattern")
        elif pattern.type in ("assignment_pattern", "object_assignment_pattern"):
            inner = pattern.child_by_field_name("left")
        else:
            inner = None
        if inner is not None:
            pattern = inner
        if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
            name = self.code.source(pattern)
            env.arguments[name] = self.renamed(value, name, pattern)
        elif pattern.type == "object_pattern" and isinstance(value, Record):
            for part in pattern.named_children:
                key = part.child_by_field_name("key") or part.child_by_field_name("left") or part
                target = part.child_by_field_name("value") if part.type == "pair_pattern" else part
                found = value.get(self.code.source(key))
                if found is not None and target is not None:
                    self.bind(target, found, env)
        elif pattern.type == "array_pattern" and isinstance(value, Items):
            for part, item in zip(pattern.named_children, value.items, strict=False):
                self.bind(part, item, env)

    def returned(self, env: Env) -> JsValue:
        """What a function returns: of several values the one that says most."""
        result: JsValue = None
        for step in env.table.get(RETURNED, ()):
            assert step.node is not None
            value = self.value(step.node, env)
            result = value if result is None else self.chosen(result, value)
        return result


def _parts(parameter: Node) -> list[Node]:
    """The parts of a parameter that is taken apart."""
    pattern = parameter.child_by_field_name("pattern") or parameter
    if pattern.type in ("assignment_pattern",):
        pattern = pattern.child_by_field_name("left") or pattern
    return pattern.named_children if pattern.type == "object_pattern" else []


def _is_base(name: str) -> bool:
    """Whether a variable holds text that a program adds to: ``prompt`` in ``${header}\\n${prompt}``."""
    said = words(name)
    return said[-1:] in (("prompt",), ("instructions",)) and not {"user", "human", "input"} & frozenset(said)


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
__all__ = ["Evaluator", "Table"]
