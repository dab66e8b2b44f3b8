"""Expressions that are made of several values: sums, lists, dicts, sets, comprehensions; and what names are bound to."""

from __future__ import annotations

import ast

from promptorder.forms import _python_calls as calls
from promptorder.forms._python_base import MOST_UNROLLED, STAYS, Expressions
from promptorder.forms._python_templates import fill
from promptorder.forms._python_values import (
    MOST_PIECES,
    Bag,
    Function,
    Instance,
    Items,
    Scope,
    Star,
    Table,
    Text,
    Value,
    choose,
    pieces_of,
    volatile_in,
)
from promptorder.model.lint import Segment

_MOST_UNROLLED_IN_ALL = 20_000


class Compound(Expressions):
    """Evaluates what is made of several values."""

    unrolled = 0

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        if isinstance(node.op, ast.Add):
            chain: list[ast.expr] = []
            left: ast.expr = node
            while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
                chain.append(left.right)
                left = left.left
            value = self.value(left, scope)
            for right in reversed(chain):
                value = self.added(value, self.value(right, scope), left, right)
            return value
        value = self.value(node.left, scope)
        if isinstance(node.op, ast.Mod) and isinstance(value, Text):
            return self.percent(value, node.right, scope)
        if isinstance(node.op, ast.FloorDiv) and isinstance(value, Segment) and value.kind == calls.CLOCK:
            by = node.right.value if isinstance(node.right, ast.Constant) else 0
            return value._replace(changes="day") if isinstance(by, int) and by >= 86_400 else value
        other = self.value(node.right, scope)
        if isinstance(value, Bag) or isinstance(other, Bag):
            return value if isinstance(value, Bag) else other
        return volatile_in(value) or volatile_in(other) or self.unknown(node, "")

    def added(self, a: Value, b: Value, a_node: ast.expr, b_node: ast.expr) -> Value:
        """``a + b``, of texts or of lists."""
        if isinstance(a, Items) or isinstance(b, Items):
            return Items((*_items(a), *_items(b))[:MOST_PIECES])
        if isinstance(a, Bag) or isinstance(b, Bag):
            return a if isinstance(a, Bag) else b
        if isinstance(a, Segment) and isinstance(b, Segment) and a.kind == calls.CLOCK:
            return a
        pieces = (*pieces_of(a, self.place(a_node)), *pieces_of(b, self.place(b_node)))
        return Text(pieces[:MOST_PIECES])

    def percent(self, template: Text, arguments: ast.expr, scope: Scope) -> Value:
        """``template % arguments``."""
        given = self.value(arguments, scope)
        positional = iter(given.items if isinstance(given, Items) else (given,))
        table = given if isinstance(given, Table) else Table()

        def lookup(name: str, place: tuple[int, int]) -> tuple[Segment, ...] | None:
            if not name:
                return self.fill_in(next(positional, None), place)
            return self.fill_in(table.get(name), place) if table.get(name) is not None else None

        return Text(fill(template.pieces, "percent", lookup)[:MOST_PIECES])

    def fill_in(self, value: Value, place: tuple[int, int]) -> tuple[Segment, ...]:
        """A value at a placeholder: what only has a name stands where the placeholder is."""
        if isinstance(value, Segment) and value.kind not in STAYS:
            return (value._replace(start=place[0], end=place[1], text=self.source[place[0] : place[1]]),)
        self.explained.add(place[0])
        return pieces_of(value, place)

    def _list(self, node: ast.List | ast.Tuple, scope: Scope) -> Value:
        return Items(tuple(self.value(item, scope) for item in node.elts[:MOST_PIECES]))

    def _starred(self, node: ast.Starred, scope: Scope) -> Value:
        inner = self.value(node.value, scope)
        return Star(inner)

    def _set(self, node: ast.Set, scope: Scope) -> Value:
        return (
            Bag(self.place(node))
            if len(node.elts) > 1
            else Items(tuple(self.value(item, scope) for item in node.elts))
        )

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        table: dict[str, Value] = {}
        for key, item in zip(node.keys[:MOST_PIECES], node.values, strict=False):
            value = self.value(item, scope)
            if key is None:
                table.update(value.pairs if isinstance(value, Table) else ())
            elif isinstance(key, ast.Constant):
                table[str(key.value)] = value
            else:
                table[ast.dump(key)[:80]] = value
        return Table(tuple(table.items()))

    def _choice(self, node: ast.IfExp, scope: Scope) -> Value:
        return choose(self.value(node.body, scope), self.value(node.orelse, scope))

    def _or(self, node: ast.BoolOp, scope: Scope) -> Value:
        value: Value = None
        for each in node.values:
            value = choose(value, self.value(each, scope))
        return value

    def _await(self, node: ast.Await, scope: Scope) -> Value:
        return self.value(node.value, scope)

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        scope.names[node.target.id] = value
        return value

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Function(node, scope)

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, scope: Scope
    ) -> Value:
        inner = Scope(scope)
        over: Value = None
        for generator in node.generators:
            over = self.value(generator.iter, inner)
            if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
                unrolled = self._unrolled(node, over, generator, inner)
                if unrolled is not None:
                    return unrolled
            if isinstance(over, Bag):
                place = over.made or (None if isinstance(node, ast.SetComp) else self.place(node))
                return Bag(over.origin, None if isinstance(node, ast.DictComp) else place, over.changes)
            self.bind_loop(generator.target, over, generator.iter, inner)
        if isinstance(node, ast.SetComp):
            return Bag(self.place(node))
        if isinstance(node, ast.DictComp):
            return Items((Star(self.value(node.key, inner)), Star(self.value(node.value, inner))))
        found = volatile_in(over)
        return Items((Star(found or self.value(node.elt, inner)),))

    def _unrolled(
        self, node: ast.ListComp | ast.GeneratorExp, over: Value, generator: ast.comprehension, scope: Scope
    ) -> Value:
        """A comprehension over a short list that is known."""
        if not isinstance(over, Items) or not 0 < len(over.items) <= MOST_UNROLLED:
            return None
        self.unrolled += len(over.items)
        if self.unrolled > _MOST_UNROLLED_IN_ALL or any(isinstance(item, Star) for item in over.items):
            return None
        values = []
        for item in over.items:
            self.bind(generator.target, item, generator.iter, scope)
            values.append(self.value(node.elt, scope))
        return Items(tuple(values))

    def bind_loop(self, target: ast.expr, over: Value, over_node: ast.expr, scope: Scope) -> None:
        """Bind the variables of a loop to an item of what it goes through."""
        if isinstance(over, Items):
            item: Value = None
            for each in over.items[:MOST_UNROLLED]:
                item = choose(item, each.value if isinstance(each, Star) else each)
            self.bind(target, item, over_node, scope)
        elif isinstance(over, Bag):
            start, end = over.made or (self.place(target)[0], self.place(over_node)[1])
            item = self.made(over_node, calls.UNORDERED, over.changes)._replace(start=start, end=end)
            self.bind(target, item, over_node, scope)
        else:
            self.bind(target, over if isinstance(over, Segment) else None, over_node, scope)

    def bind(self, target: ast.expr, value: Value, node: ast.expr, scope: Scope) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value if value is not None else self.unknown(target, target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            known = value.items if isinstance(value, Items) and len(value.items) == len(target.elts) else None
            for index, each in enumerate(target.elts):
                self.bind(
                    each,
                    known[index] if known else value if isinstance(value, Segment) else None,
                    node,
                    scope,
                )
        elif isinstance(target, ast.Attribute):
            receiver = self.value(target.value, scope)
            if isinstance(receiver, Instance):
                receiver.attributes.names[target.attr] = value
        elif isinstance(target, ast.Subscript):
            self._put(target, value, scope)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value, node, scope)

    def _put(self, target: ast.Subscript, value: Value, scope: Scope) -> None:
        """``table["key"] = value``."""
        if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
            table = self.value(target.value, scope)
            if isinstance(table, Table):
                self.bind(target.value, table.put(target.slice.value, value), target, scope)


def _call(self: Compound, node: ast.Call, scope: Scope) -> Value:
    return self.call(node, scope)


Compound.handlers = {
    ast.Constant: Compound._constant,
    ast.JoinedStr: Compound._joined,
    ast.Name: Compound._name,
    ast.Attribute: Compound._attribute,
    ast.Subscript: Compound._subscript,
    ast.BinOp: Compound._binary,
    ast.List: Compound._list,
    ast.Tuple: Compound._list,
    ast.Set: Compound._set,
    ast.Dict: Compound._dict,
    ast.Starred: Compound._starred,
    ast.IfExp: Compound._choice,
    ast.BoolOp: Compound._or,
    ast.Await: Compound._await,
    ast.NamedExpr: Compound._walrus,
    ast.Lambda: Compound._lambda,
    ast.ListComp: Compound._comprehension,
    ast.GeneratorExp: Compound._comprehension,
    ast.SetComp: Compound._comprehension,
    ast.DictComp: Compound._comprehension,
    ast.Call: _call,
}


def _items(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Items):
        return value.items
    return () if value is None else (Star(value),)
