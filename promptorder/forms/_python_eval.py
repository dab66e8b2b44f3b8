"""Expressions of a program, as far as they make text: what each is, and where it stands in the file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from promptorder.forms import _python_calls as calls
from promptorder.forms._python_strings import Field, Positions, parts
from promptorder.forms._python_values import (
    MADE,
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
    fixed,
    pieces_of,
    volatile_in,
)
from promptorder.lint._names import kind_of_name, words
from promptorder.model.lint import COMPUTED, STATIC, VARIABLE, Segment

_STAYS = MADE - {"retrieved-context"} | {"fixed", "static-part"}
"""Kinds that are reported where they are made; what was retrieved, where it is put into the prompt."""
_MANUALS = frozenset(
    "prompt prompts rules handbook instructions system policy policies guide guidelines manual persona preamble".split()
)
_CLOCK_PARTS = {
    "year": "fixed",
    "month": "fixed",
    "day": "day",
    "date": "day",
    "weekday": "day",
    "isoweekday": "day",
}
_RULES = frozenset(("prompt", "instructions", "rules", "guidelines", "preamble", "persona", "system"))
_ASKED = frozenset(
    ("user", "human", "customer", "input", "current", "question", "query", "request", "full", "final", "llm")
)
_CONTENTS = frozenset(
    "text content page_content body value data description details title summary name id raw output result answer question "
    "query input message email role snippet excerpt chunk passage".split()
)
"""Attributes that say less than the name of what they belong to: ``ticket.text``, ``customer.name``."""
_HOLDERS = frozenset(
    ("state", "context", "ctx", "self", "config", "session", "request", "memory", "message", "msg", "task")
)
"""Objects that hold all sorts of things: what matters is which one of them."""
_MOST_UNROLLED = 64


class Expressions:
    """Evaluates expressions; what a call of a function of the file does is left to the class that knows statements."""

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

    # --- places ---------------------------------------------------------------------------------------------

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

    # --- expressions ----------------------------------------------------------------------------------------

    def value(self, node: ast.expr | None, scope: Scope) -> Value:
        """What an expression is."""
        if node is None:
            return None
        if id(node) in self.ready:
            return self.ready[id(node)]
        handler = _HANDLERS.get(type(node))
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
        if node.id in self.imports and _is_manual(node.id):
            return self.manual(node)
        return self.unknown(node, node.id)

    def manual(self, node: ast.expr) -> Segment:
        """Text that is kept elsewhere and stays: a constant of another module, a file that is read."""
        return self.unknown(node, "", "static-part")

    def at_use(self, value: Value, node: ast.expr, name: str) -> Value:
        """A variable's value where it is used: of what nobody knows, the place is the one of the use."""
        if not isinstance(value, Segment) or value.kind in _STAYS:
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
        if whole.kind in _STAYS - {"static-part"} or whole.role == "history":
            return whole
        start, end = self.place(node)
        name = f"{whole.name}.{attribute}" if whole.name and attribute else whole.name or attribute
        kind = whole.kind
        if attribute == "prompt":
            kind = (
                "fixed"  # of a task, a model or a configuration: more often rules than what a user has asked
            )
        elif attribute and (attribute not in _CONTENTS or whole.name.rpartition(".")[2] in _HOLDERS):
            name = attribute
        if is_rules(name):
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
        for item in items.items[:_MOST_UNROLLED]:
            value = choose(value, item)
        index = volatile_in(self.value(node.slice, Scope()))
        return index or value or self.unknown(node, "")

    def environment_variable(self, node: ast.expr, key: ast.expr | None) -> Value:
        """``os.environ[key]``: the surroundings, or a setting."""
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
        known = calls.of_environment_variable(name)
        return self.made(node, *known, name) if known else fixed(self.unknown(node, name))

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
        from promptorder.forms._python_templates import fill

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
        if isinstance(value, Segment) and value.kind not in _STAYS:
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
        if not isinstance(over, Items) or not 0 < len(over.items) <= _MOST_UNROLLED:
            return None
        if any(isinstance(item, Star) for item in over.items):
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
            for each in over.items[:_MOST_UNROLLED]:
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

    # --- what the class with the statements knows -------------------------------------------------------------

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


def _call(self: Expressions, node: ast.Call, scope: Scope) -> Value:
    return self.call(node, scope)


_HANDLERS: dict[type, Callable[..., Value]] = {
    ast.Constant: Expressions._constant,
    ast.JoinedStr: Expressions._joined,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.BinOp: Expressions._binary,
    ast.List: Expressions._list,
    ast.Tuple: Expressions._list,
    ast.Set: Expressions._set,
    ast.Dict: Expressions._dict,
    ast.Starred: Expressions._starred,
    ast.IfExp: Expressions._choice,
    ast.BoolOp: Expressions._or,
    ast.Await: Expressions._await,
    ast.NamedExpr: Expressions._walrus,
    ast.Lambda: Expressions._lambda,
    ast.ListComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.Call: _call,
}


@lru_cache(maxsize=4096)
def is_rules(name: str) -> bool:
    """Whether a name says that it holds rules, which stay: ``system_prompt``, ``judge_prompt``, ``house_rules``."""
    found = words(name.rpartition(".")[2])
    if len(found) < 2 and found not in {("instructions",), ("rules",)}:
        return False
    if found[-1] == "template":
        found = found[:-1]
    return bool(found) and found[-1] in _RULES and not set(found) & _ASKED


def is_property(function: Function) -> bool:
    """Whether a method is read like an attribute."""
    decorators = getattr(function.node, "decorator_list", ())
    return any(
        getattr(d, "id", "") in ("property", "cached_property") or getattr(d, "attr", "") == "cached_property"
        for d in decorators
    )


def _is_manual(name: str) -> bool:
    """Whether an imported constant's name says that it is a text of rules."""
    return name.isupper() and bool(frozenset(words(name)) & _MANUALS)


def _items(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Items):
        return value.items
    return () if value is None else (Star(value),)


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
