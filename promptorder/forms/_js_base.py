"""Names of a JavaScript program followed to their values, and functions of the file to what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptorder.forms import _js_calls as calls
from promptorder.forms._js_scopes import CLASSES, RETURNED, Env, Scopes, Step, parameters_of
from promptorder.forms._js_source import Code
from promptorder.forms._js_values import Closure, JsValue, appended, constant, moved, plain, with_item
from promptorder.forms._python_values import (
    MOST_PIECES,
    Items,
    Star,
    Text,
    choose,
    is_volatile,
    pieces_of,
    volatile_in,
)
from promptorder.forms._python_values import Table as Record
from promptorder.lint._names import kind_of_name, words
from promptorder.model.lint import COMPUTED, VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node


_CALLS_DEEP = 6
_FUEL = 40_000
"""Expressions that are followed in a file, at least; a longer file has more."""
ENOUGH = 30
"""Characters of text that make an alternative worth more than a name that says something."""


class Base:
    """Gives names their values; what expressions are worth, the classes that build on it know."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.scopes = Scopes(code)
        self.fuel = _FUEL + len(code.data) // 40
        self.depth = 0
        self.calls = 0
        self._memo: dict[tuple[int, str, int], tuple[Env, JsValue]] = {}
        self._active: set[tuple[int, int]] = set()

    def value(self, node: Node, env: Env) -> JsValue:
        """The value of an expression."""
        raise NotImplementedError

    def member(self, value: JsValue, key: str, node: Node, env: Env) -> JsValue:
        """A property of a value."""
        raise NotImplementedError

    def unknown(self, node: Node, name: str) -> Segment:
        """Something that only its name tells about."""
        start, end = self.code.place(node)
        kind = "static-part" if _is_base(name) else ""
        return Segment(
            self.code.text[start : min(end, start + 80)], start, end, "prompt", VARIABLE, name, kind
        )

    def made(self, node: Node, kind: str, changes: str, env: Env, name: str = "") -> Segment:
        """What a call makes: of a value that is made once, it is told how often its maker runs."""
        start, end = self.code.place(node)
        if kind in (calls.CLOCK, calls.RANDOM) and changes in ("request", "day"):
            changes = env.moment or changes
        return Segment(
            self.code.text[start : min(end, start + 80)], start, end, "prompt", COMPUTED, name, kind, changes
        )

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
            value = (
                value.items[int(step.key)]
                if isinstance(value, Items) and int(step.key) < len(value.items)
                else None
            )
        elif step.op == "each":
            return self._each(value, step.key)
        elif step.op == "+=":
            return appended(before, moved(value, self.code.place(node)), self.code.place(node))
        if (
            step.branch
            and before is not None
            and not isinstance(before, Closure)
            and not isinstance(value, Closure)
        ):
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

    def chosen(self, a: JsValue, b: JsValue) -> JsValue:
        """One of two values: what changes, then what holds more text, then what has a name that says something."""
        if isinstance(a, Closure) or isinstance(b, Closure):
            return a if isinstance(a, Closure) else b
        first, second = volatile_in(a), volatile_in(b)
        if (first is None) != (second is None):
            return a if first is not None else b
        if isinstance(a, Segment) and isinstance(b, Text):
            text = constant(b)
            return b if text is not None and len(text) > ENOUGH and not kind_of_name(a.name) else a
        if isinstance(a, Text) and isinstance(b, Segment):
            return self.chosen(b, a) if constant(a) is not None and len(constant(a) or "") <= ENOUGH else a
        return choose(a, b)

    def renamed(self, value: JsValue, name: str, node: Node) -> JsValue:
        """A value that its variable's name tells more about than the expression that it was made by."""
        if isinstance(value, Segment) and value.origin == VARIABLE and not value.kind:
            better = name if kind_of_name(name) or not kind_of_name(value.name) else value.name
            return value._replace(name=better, kind="static-part" if _is_base(better) else "")
        return value

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


def _is_base(name: str) -> bool:
    """Whether a variable holds text that a program adds to: ``prompt`` in ``${header}\\n${prompt}``."""
    said = words(name)
    return said[-1:] in (("prompt",), ("instructions",)) and not {"user", "human", "input"} & frozenset(said)
