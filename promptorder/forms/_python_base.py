"""Expressions of a program, as far as they make text: what each is, and where it stands in the file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from promptorder.forms import _python_calls as calls
from promptorder.forms._python_names import is_manual, is_rules, of_part
from promptorder.forms._python_strings import Field, Positions, parts
from promptorder.forms._python_values import (
    MADE,
    MOST_PIECES,
    Bag,
    Function,
    Instance,
    Items,
    Scope,
    Table,
    Text,
    Value,
    choose,
    fixed,
    pieces_of,
    volatile_in,
)
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import COMPUTED, STATIC, VARIABLE, Segment

STAYS = MADE - {"retrieved-context"} | {"fixed", "static-part"}
"""Kinds that are reported where they are made; what was retrieved, where it is put into the prompt."""

_CLOCK_PARTS = {
    "year": "fixed",
    "month": "fixed",
    "day": "day",
    "date": "day",
    "weekday": "day",
    "isoweekday": "day",
}


MOST_UNROLLED = 64
"""Items of a list that are looked at one by one."""


class Expressions:
    """Evaluates expressions; what is made of several values, and what a call does, is left to the classes above it."""

    handlers: ClassVar[dict[type, Callable[..., Value]]] = {}
    """What evaluates each kind of expression."""

    def __init__(self, source: str, positions: Positions, imports: dict[str, str]) -> None:
        self.source = source
        self.positions = positions
        self.imports = imports
        self.moment = ""
        """What changes instead of each request: ``process`` while the module is imported, ``session`` in ``__init__``."""
        self.explained: set[int] = set()
        """Places of variables of which the file shows what they are filled with."""
        self.whole = positions
        self.ready: dict[int, Value] = {}
        """Arguments of the calls that are being evaluated."""
        self.left = Scope()
        """The names of the function that was inlined last, when it ended."""
        self.fields: dict[tuple[int, int], ast.expr | None] = {}

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression stands in the file."""
        return self.positions.span(node)

    def made(self, node: ast.expr, kind: str, changes: str, name: str = "") -> Segment:
        """What a call made that changes."""
        start, end = self.place(node)
        if self.moment and kind in (calls.CLOCK, calls.RANDOM) and changes == "request":
            changes = self.moment
        return Segment(self.source[start:end], start, end, "prompt", COMPUTED, name, kind, changes)

    def unknown(self, node: ast.expr, name: str, kind: str = "") -> Segment:
        """A value of which nothing but its name is known."""
        start, end = self.place(node)
        kind = kind or ("static-part" if is_rules(name) else "")
        return Segment(self.source[start:end], start, end, "prompt", VARIABLE, name, kind)

    def value(self, node: ast.expr | None, scope: Scope) -> Value:
        """What an expression is."""
        if node is None:
            return None
        if id(node) in self.ready:
            return self.ready[id(node)]
        handler = self.handlers.get(type(node))
        return handler(self, node, scope) if handler else self._other(node, scope)

    def text(self, node: ast.expr, scope: Scope) -> tuple[Segment, ...]:
        """An expression's value written as text."""
        return pieces_of(self.value(node, scope), self.place(node))

    def _other(self, node: ast.expr, scope: Scope) -> Value:
        """Arithmetic, comparisons and the like: volatile if a part of it is."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                found = volatile_in(self.value(child, scope))
                if found is not None and found.kind != calls.UNORDERED:
                    return found
        return self.unknown(node, "")

    def _constant(self, node: ast.Constant, scope: Scope) -> Value:
        if isinstance(node.value, str):
            return Text(
                tuple(part for part in parts(self.source, *self.place(node)) if isinstance(part, Segment))
            )
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            start, end = self.place(node)
            return Text((Segment(str(node.value), start, end, "prompt", STATIC),))
        return None

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        pieces: list[Segment] = []
        for part in parts(self.source, *self.place(node)):
            if isinstance(part, Field):
                pieces.extend(self._field(part, scope))
            else:
                pieces.append(part)
        return Text(tuple(pieces[:MOST_PIECES]))

    def _field(self, field: Field, scope: Scope) -> tuple[Segment, ...]:
        with self._inside(field) as node:
            if node is None:
                return ()
            pieces = self.text(node, scope)
        if field.format and "{" not in field.format:
            return tuple(formatted(piece, field.format) for piece in pieces)
        return pieces

    @contextmanager
    def _inside(self, field: Field) -> Iterator[ast.expr | None]:
        """A field's expression, parsed on its own so that its places are right in every version of Python."""
        key = field.start, field.end
        code = f"({self.source[field.start : field.end]})"
        if key not in self.fields:
            try:
                self.fields[key] = ast.parse(code, mode="eval").body
            except (SyntaxError, ValueError):
                self.fields[key] = None
        outer, self.positions = self.positions, Positions(code, field.start - 1)
        try:
            yield self.fields[key]
        finally:
            self.positions = outer

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        if node.id in scope:
            return self.at_use(scope.get(node.id), node, node.id)
        if node.id in self.imports and is_manual(node.id):
            return self.manual(node)
        return self.unknown(node, node.id)

    def manual(self, node: ast.expr) -> Segment:
        """Text that is kept elsewhere and stays: a constant of another module, a file that is read."""
        return self.unknown(node, "", "static-part")

    def at_use(self, value: Value, node: ast.expr, name: str) -> Value:
        """A variable's value where it is used: of what nobody knows, the place is the one of the use."""
        if not isinstance(value, Segment) or value.kind in STAYS:
            return value
        start, end = self.place(node)
        telling = name if not value.name or (kind_of_name(name) and not is_rules(value.name)) else value.name
        kind = value.kind or ("static-part" if is_rules(telling) else "")
        return value._replace(text=self.source[start:end], start=start, end=end, name=telling, kind=kind)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        dotted = self.dotted(node, scope)
        known = calls.of_attribute(dotted) if dotted else None
        if known is not None:
            return self.made(node, *known, dotted)
        receiver = self.value(node.value, scope)
        if isinstance(receiver, Instance):
            if node.attr in receiver.attributes:
                value = receiver.attributes.get(node.attr)
                if isinstance(value, Function) and is_property(value):
                    return self.inline(value, [], {}, node, receiver)
                return self.at_use(value, node, node.attr)
            return self.unknown(node, node.attr)
        if isinstance(receiver, Table):
            return receiver.get(node.attr)
        if isinstance(receiver, Segment):
            return self.part_of(receiver, node, node.attr)
        return volatile_in(receiver) or self.unknown(node, node.attr)

    def part_of(self, whole: Segment, node: ast.expr, attribute: str) -> Segment:
        """An attribute or an item of something unknown."""
        if whole.kind == calls.CLOCK:
            part = _CLOCK_PARTS.get(attribute)
            return fixed(whole) if part == "fixed" else whole._replace(changes=part) if part else whole
        if whole.kind in STAYS - {"static-part"} or whole.role == "history":
            return whole
        start, end = self.place(node)
        name, kind = of_part(whole.name, attribute), whole.kind
        if attribute == "prompt":
            kind = (
                "fixed"  # of a task, a model or a configuration: more often rules than what a user has asked
            )
        elif is_rules(name):
            kind = "static-part"
        return whole._replace(text=self.source[start:end], start=start, end=end, name=name, kind=kind)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        if self.dotted(node.value, scope) == "os.environ":
            return self.environment_variable(node, node.slice)
        receiver = self.value(node.value, scope)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(receiver, Table) and isinstance(key, str):
            found = receiver.get(key)
            return self.at_use(found, node, key) if found is not None else self.unknown(node, key)
        if isinstance(receiver, Items):
            if isinstance(key, int) and -len(receiver.items) <= key < len(receiver.items):
                return receiver.items[key]
            return receiver if isinstance(node.slice, ast.Slice) else self._item_of(receiver, node)
        if isinstance(receiver, Segment):
            if isinstance(node.slice, ast.Slice):
                return sliced(receiver, node.slice)
            return self.part_of(receiver, node, key if isinstance(key, str) else "")
        return (
            receiver
            if isinstance(receiver, Text | Bag)
            else self.unknown(node, key if isinstance(key, str) else "")
        )

    def _item_of(self, items: Items, node: ast.Subscript) -> Value:
        value: Value = None
        for item in items.items[:MOST_UNROLLED]:
            value = choose(value, item)
        index = volatile_in(self.value(node.slice, Scope()))
        return index or value or self.unknown(node, "")

    def environment_variable(self, node: ast.expr, key: ast.expr | None) -> Value:
        """``os.environ[key]``: the surroundings, or a setting."""
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
        known = calls.of_environment_variable(name)
        return self.made(node, *known, name) if known else fixed(self.unknown(node, name))

    def dotted(self, node: ast.expr, scope: Scope) -> str:
        """The full name of ``a.b.c``, with what ``a`` was imported as; ``""`` where ``a`` is a value of the file."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        if node.id in scope:
            return ""
        names.append(self.imports.get(node.id, node.id))
        return ".".join(reversed(names))

    def bind(self, target: ast.expr, value: Value, node: ast.expr, scope: Scope) -> None:
        """Assign a value to a target."""
        raise NotImplementedError

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """A call."""
        raise NotImplementedError

    def inline(
        self,
        function: Function,
        arguments: list[Value],
        keywords: dict[str, Value],
        node: ast.expr,
        owner: Instance | None,
    ) -> Value:
        """What a function of the file returns for these arguments."""
        raise NotImplementedError


def is_property(function: Function) -> bool:
    """Whether a method is read like an attribute."""
    decorators = getattr(function.node, "decorator_list", ())
    return any(
        getattr(d, "id", "") in ("property", "cached_property") or getattr(d, "attr", "") == "cached_property"
        for d in decorators
    )


def formatted(piece: Segment, pattern: str) -> Segment:
    """A piece with a format: of a clock, the format tells how often it changes."""
    if piece.kind != calls.CLOCK or "%" not in pattern:
        return piece
    rate = calls.resolution(pattern)
    if rate == "fixed":
        return fixed(piece)
    return piece._replace(changes="day") if rate == "day" and piece.changes == "request" else piece


def sliced(whole: Segment, part: ast.Slice) -> Segment:
    """A slice of text: the first ten characters of a time in ISO 8601 are its day."""
    if whole.kind == calls.CLOCK and part.lower is None and isinstance(part.upper, ast.Constant):
        stop = part.upper.value
        if isinstance(stop, int) and 0 < stop <= 7:
            return fixed(whole)
        if isinstance(stop, int) and 8 <= stop <= 10:
            return whole._replace(changes="day")
    return whole
