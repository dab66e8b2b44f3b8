"""A program as a whole: its module, functions and classes, and which of its values are offered as prompts."""

from __future__ import annotations

import ast
import re

from promptorder.forms._python_flow import Frame, FunctionNode, Statements
from promptorder.forms._python_sinks import (
    LEAST,
    Candidate,
    is_chat,
    is_other_language,
    is_request,
    looks_like_prompt,
    messages,
    names_a_prompt,
    request,
    settled,
)
from promptorder.forms._python_strings import Positions
from promptorder.forms._python_values import (
    Bag,
    Function,
    Instance,
    Items,
    Scope,
    Table,
    Template,
    Text,
    Value,
    pieces_of,
    volatile_in,
)
from promptorder.model.lint import STATIC, VARIABLE, Segment

_DEEPEST = 5
"""Helpers that call helpers: nobody follows more than a few."""

_MOST_INLINED = 600
"""Statements that are run for the calls of one function: what comes behind is left unknown."""

_MOST_INLINED_OF_MODULE = 4000

_CACHES = ("cache", "lru_cache", "cached_property", "st.cache_data", "cache_data")

_WANTED = re.compile(
    r"rompt|PROMPT|[\"']role[\"']|role=|ystem|SYSTEM|nstruction|INSTRUCTION|You |messages|Message\(|chat|"
    r"invoke\(|generate\w*\(|complet\w+\(|predict\("
)


class Program(Statements):
    """Runs a module and then each of its functions that could make a prompt, and collects what may be one."""

    def __init__(self, source: str, positions: Positions, imports: dict[str, str]) -> None:
        super().__init__(source, positions, imports)
        self.candidates: list[Candidate] = []
        self._waiting: list[tuple[str, Function]] = []
        self._active: set[int] = set()
        self.fuel = _MOST_INLINED_OF_MODULE
        self._classes: dict[str, Instance] = {}

    def run(self, module: ast.Module) -> None:
        """The module, then its functions in their order."""
        scope = Scope()
        self.moment = "process"
        self.block(module.body, scope)
        self._finish(scope)
        for name, function in self._waiting:
            self._run_alone(name, function)

    def define(
        self, node: FunctionNode, scope: Scope, owner: Instance | None = None, prefix: str = ""
    ) -> None:
        function = Function(node, scope, owner)
        scope.names[node.name] = function
        if self.frame.depth == 0 and self._could_make_a_prompt(node):
            self._waiting.append((f"{prefix}{node.name}()", function))

    def _could_make_a_prompt(self, node: FunctionNode) -> bool:
        start, end = self.positions.span(node)
        code = self.source[start:end]
        return bool(_WANTED.search(code))

    def define_class(self, node: ast.ClassDef, scope: Scope) -> None:
        parent = next(
            (
                self._classes[base.id]
                for base in node.bases
                if isinstance(base, ast.Name) and base.id in self._classes
            ),
            None,
        )
        inside = Scope(scope)
        attributes = Scope(parent.attributes if parent else None)
        instance = Instance(attributes)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.define(statement, inside, instance, f"{node.name}.")
                attributes.names[statement.name] = inside.names.pop(statement.name)
            else:
                self._statement(statement, inside)
        attributes.names.update(inside.names)
        self._finish(inside, f"{node.name}.")
        self._classes[node.name] = instance
        scope.names[node.name] = instance
        start = attributes.names.get("__init__")
        if isinstance(start, Function):
            self._construct(start, instance)

    def _construct(self, start: Function, instance: Instance) -> None:
        """``__init__``, for the attributes that it sets: what it makes lives as long as the object."""
        moment, self.moment = self.moment, "session"
        try:
            self.inline(start, [], {}, None, instance)
        finally:
            self.moment = moment

    def _run_alone(self, name: str, function: Function) -> None:
        """A function with arguments of which only the names are known."""
        node = function.node
        assert not isinstance(node, ast.Lambda)
        self.moment = _moment_of(node)
        seeded = self.seeded
        self.fuel = _MOST_INLINED
        outer, self.frame = self.frame, Frame(name, 0)
        owner = Instance(Scope(function.owner.attributes)) if function.owner else None
        scope = self._parameters(function, [], {}, owner)
        self._active.add(id(node))
        self.block(node.body, scope)
        self._active.discard(id(node))
        self._finish(scope)
        self._returned(node.name, self._result())
        self.frame, self.seeded = outer, seeded

    def _result(self) -> Value:
        return Items(tuple(self.frame.yielded)) if self.frame.yielded else self.frame.returned

    def inline(
        self,
        function: Function,
        arguments: list[Value],
        keywords: dict[str, Value],
        node: ast.expr | None,
        owner: Instance | None,
    ) -> Value:
        """What a function of the file returns for these arguments; unknown where it calls itself or calls too deep."""
        body = function.node.body
        too_much = self.fuel <= 0 or self.frame.depth >= _DEEPEST
        if id(function.node) in self._active or too_much:
            return self.unknown(node, getattr(function.node, "name", "")) if node is not None else None
        scope = self._parameters(function, arguments, keywords, owner)
        outer, self.frame = self.frame, Frame(self.frame.name, self.frame.depth + 1)
        moment = self.moment
        positions, self.positions = self.positions, self.whole
        self.moment = moment or _moment_of(function.node)
        self._active.add(id(function.node))
        try:
            if not isinstance(body, list):
                return self.value(body, scope)
            self.block(body, scope)
            self.left = scope
            return self._result()
        finally:
            self._active.discard(id(function.node))
            self.frame, self.moment, self.positions = outer, moment, positions

    def _parameters(
        self, function: Function, arguments: list[Value], keywords: dict[str, Value], owner: Instance | None
    ) -> Scope:
        """The names of a function when it starts: arguments, defaults, and for the rest what their names say."""
        scope = Scope(function.scope)
        args = function.node.args
        every = [*args.posonlyargs, *args.args]
        given = list(arguments)
        if owner is not None and every and not _is_static(function.node):
            scope.names[every[0].arg] = owner
            every = every[1:]
        defaults = dict(zip([a.arg for a in every][::-1], args.defaults[::-1], strict=False))
        defaults.update(
            {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=False) if d is not None}
        )
        for argument in (*every, *args.kwonlyargs):
            name = argument.arg
            if name in keywords:
                scope.names[name] = keywords[name]
            elif given and argument not in args.kwonlyargs:
                scope.names[name] = given.pop(0)
            else:
                scope.names[name] = self._default(argument, defaults.get(name), function.scope)
        for rest in (args.vararg, args.kwarg):
            if rest is not None:
                scope.names[rest.arg] = self._parameter(rest)
        return scope

    def _default(self, argument: ast.arg, default: ast.expr | None, scope: Scope) -> Value:
        """A default is what a parameter is, where it is text or is made when the function is defined."""
        if default is not None:
            moment, self.moment = self.moment, "process"
            value = self.value(default, scope)
            self.moment = moment
            if volatile_in(value) is not None or (
                isinstance(value, Text) and any(p.text.strip() for p in value.pieces)
            ):
                return value
        return self._parameter(argument)

    def _parameter(self, argument: ast.arg) -> Segment:
        start = self.positions.offset(argument.lineno, argument.col_offset)
        return Segment(argument.arg, start, start + len(argument.arg), "prompt", VARIABLE, argument.arg)

    def _finish(self, scope: Scope, prefix: str = "") -> None:
        """The variables that are left when a module, a class or a function ends."""
        for name, value in scope.names.items():
            if name not in self.frame.sent:
                self.named(prefix + name, value)

    def named(self, name: str, value: Value) -> None:
        """A variable that was given a value: a prompt if its name or its text says so."""
        if isinstance(value, Function | Instance | Segment | Bag) or value is None:
            return
        self._offer(name, value, named=names_a_prompt(name))

    def _returned(self, function: str, value: Value) -> None:
        self._offer("", value, named=names_a_prompt(function))

    def _offer(self, name: str, value: Value, *, named: bool) -> None:
        full = ".".join(part for part in (self.frame.name, name) if part)
        if is_chat(value):
            self.send(full, settled(list(messages(value, (0, 0)))))
        elif isinstance(value, Table) and is_request(value):
            self.send(full, request(dict(value.pairs), (0, 0)))
        elif isinstance(value, Text | Template):
            pieces = pieces_of(value, (0, 0))
            if sum(len(p.text) for p in pieces if p.origin == STATIC) < LEAST and len(pieces) < 2:
                return
            if (named or looks_like_prompt(pieces)) and not is_other_language(pieces):
                self.candidates.append(Candidate(full, pieces, isinstance(value, Template)))
        elif isinstance(value, Items | Table) and named:
            for item in value.items if isinstance(value, Items) else (v for _, v in value.pairs):
                if isinstance(item, Text):
                    self._offer(name, item, named=True)

    def send(self, name: str, segments: tuple[Segment, ...]) -> None:
        """A prompt that is sent as it stands."""
        if segments:
            self.candidates.append(Candidate(name, segments, True))

    def sent_variable(self, node: ast.expr) -> None:
        """A variable that a call has sent need not be told again when the function ends."""
        if isinstance(node, ast.Name):
            self.frame.sent.add(node.id)


def _moment_of(node: ast.AST) -> str:
    for decorator in getattr(node, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if getattr(called, "attr", getattr(called, "id", "")) in _CACHES:
            return "process"
    return "session" if getattr(node, "name", "") == "__init__" else ""


def _is_static(node: ast.AST) -> bool:
    return any(getattr(d, "id", "") == "staticmethod" for d in getattr(node, "decorator_list", ()))
