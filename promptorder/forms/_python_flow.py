"""Statements of a program, each run once in its order, as far as they make text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from promptorder.forms._python_known import Known
from promptorder.forms._python_sinks import (
    history,
    is_message,
    messages,
)
from promptorder.forms._python_strings import Positions
from promptorder.forms._python_values import (
    Bag,
    Instance,
    Items,
    Scope,
    Star,
    Text,
    Value,
    choose,
    merged,
    pieces_of,
    volatile_in,
)
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Frame:
    """One run of a function: what it has returned so far."""

    def __init__(self, name: str, depth: int) -> None:
        self.name = name
        self.depth = depth
        self.returned: Value = None
        self.yielded: list[Value] = []
        self.seeded = False
        self.sent: set[str] = set()


class Statements(Known):
    """Runs statements; functions, classes and what is done with a value that has a name is left to the class above it."""

    def __init__(self, source: str, positions: Positions, imports: dict[str, str]) -> None:
        super().__init__(source, positions, imports)
        self.frame = Frame("", 0)
        self.fuel = 0
        """How many statements of helpers may still be run."""

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        """Run statements; whether they end with a ``return``, ``raise`` or the like."""
        if self.frame.depth:
            self.fuel -= len(body)
        return any(self._statement(statement, scope) for statement in body)

    def _statement(self, node: ast.stmt, scope: Scope) -> bool:
        match node:
            case ast.Expr(value):
                self._expression(value, scope)
            case ast.Assign(targets, value):
                self._assign(targets, self.value(value, scope), value, scope)
            case ast.AnnAssign(target, _, value) if value is not None:
                self._assign([target], self.value(value, scope), value, scope)
            case ast.AugAssign(target, op, value):
                self._augmented(target, op, value, scope)
            case ast.Return(value):
                self.frame.returned = choose(self.frame.returned, self.value(value, scope))
                return True
            case ast.Raise() | ast.Continue() | ast.Break():
                return True
            case ast.If():
                return self._if(node, scope)
            case ast.For(target, over, body, orelse) | ast.AsyncFor(target, over, body, orelse):
                self._for(target, over, body, scope)
                self.block(orelse, scope)
            case ast.While(_, body, orelse):
                self.block(body, scope)
                self.block(orelse, scope)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                for item in items:
                    opened = self.value(item.context_expr, scope)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, opened, item.context_expr, scope)
                return self.block(body, scope)
            case ast.Try() | ast.TryStar():
                return self._try(node, scope)
            case ast.Match(_, cases):
                self._branches([case.body for case in cases], scope, exhaustive=False)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.define(node, scope)
            case ast.ClassDef():
                self.define_class(node, scope)
        return False

    def _expression(self, node: ast.expr, scope: Scope) -> None:
        if isinstance(node, ast.Yield):
            self.frame.yielded.append(self.value(node.value, scope))
        elif not isinstance(node, ast.Constant):
            self.value(node, scope)

    def _assign(self, targets: list[ast.expr], value: Value, node: ast.expr, scope: Scope) -> None:
        for target in targets:
            name = _name_of(target)
            before = scope.names.get(name) if name else None
            if before is not None and not _mentions(node, name):
                self.named(name, before)
            self.bind(target, value, node, scope)
            if isinstance(target, ast.Attribute | ast.Subscript):
                self.named(_key_of(target), value)

    def _augmented(self, target: ast.expr, op: ast.operator, node: ast.expr, scope: Scope) -> None:
        before, more = self.value(target, scope), self.value(node, scope)
        if isinstance(op, ast.Add):
            self.bind(target, self.added(before, more, target, node), node, scope)
        elif isinstance(op, ast.Mod) and isinstance(before, Text):
            self.bind(target, self.percent(before, node, scope), node, scope)

    def _if(self, node: ast.If, scope: Scope) -> bool:
        bodies = [node.body]
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            bodies.append(node.body)
        if node.orelse:
            bodies.append(node.orelse)
        return self._branches(bodies, scope, exhaustive=bool(node.orelse))

    def _branches(self, bodies: Iterable[Sequence[ast.stmt]], scope: Scope, *, exhaustive: bool) -> bool:
        ways: list[dict[str, Value]] = [] if exhaustive else [{}]
        for body in bodies:
            branch = Scope(scope)
            if not self.block(body, branch):
                ways.append(branch.names)
        scope.names.update(merged(ways, scope))
        return not ways

    def _try(self, node: ast.Try | ast.TryStar, scope: Scope) -> bool:
        main = Scope(scope)
        ended = self.block([*node.body, *node.orelse], main)
        ways = [] if ended else [main.names]
        for handler in node.handlers:
            branch = Scope(scope)
            if not self.block(handler.body, branch):
                ways.append(branch.names)
        scope.names.update(merged(ways, scope))
        return self.block(node.finalbody, scope) or not ways

    def _for(self, target: ast.expr, over_node: ast.expr, body: Sequence[ast.stmt], scope: Scope) -> None:
        over = self.value(over_node, scope)
        if isinstance(over, Bag):
            over = over._replace(made=over.made or (self.place(target)[0] - 4, self.place(over_node)[1]))
        self.bind_loop(target, over, over_node, scope)
        inside = Scope(scope)
        self.block(body, inside)
        for name, new in inside.names.items():
            scope.names[name] = _repeated(scope.get(name), new, over)

    def named(self, name: str, value: Value) -> None:
        """A variable that was given a value."""
        raise NotImplementedError

    def define(
        self, node: FunctionNode, scope: Scope, owner: Instance | None = None, prefix: str = ""
    ) -> None:
        """A function or a method."""
        raise NotImplementedError

    def define_class(self, node: ast.ClassDef, scope: Scope) -> None:
        """A class."""
        raise NotImplementedError


def _repeated(before: Value, after: Value, over: Value) -> Value:
    """A list of messages behind a loop: what is appended for each earlier turn is the history, else it is examples."""
    if not isinstance(before, Items) or not isinstance(after, Items):
        return after
    more = after.items[len(before.items) :]
    if not any(is_message(item) for item in more):
        return after
    pieces = pieces_of(over, (0, 0))
    past = next((piece for piece in pieces if kind_of_name(piece.name) == "history"), None)
    if past is not None:
        return Items((*before.items, Star(history(past))))
    shown = messages(Items(more), (0, 0))
    text = Text(tuple(piece for piece in shown if piece.origin == STATIC or volatile_in(piece)))
    return Items((*before.items, Star(text)))


def _name_of(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ""


def _key_of(target: ast.Attribute | ast.Subscript) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    return str(target.slice.value) if isinstance(target.slice, ast.Constant) else ""


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(child, ast.Name) and child.id == name for child in ast.walk(node))
