"""Calls of a program: helpers of its own, methods of what is known, and functions of the standard library."""

from __future__ import annotations

import ast

from promptorder.forms import _python_calls as calls
from promptorder.forms import _python_methods as methods
from promptorder.forms._python_builtins import BUILTINS
from promptorder.forms._python_makes import Called, Makers
from promptorder.forms._python_sinks import (
    is_chat,
    is_message,
)
from promptorder.forms._python_values import (
    Bag,
    Function,
    Instance,
    Items,
    Scope,
    Star,
    Table,
    Template,
    Text,
    Value,
    choose,
    fixed,
    pieces_of,
    volatile_in,
)
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import Segment

_TRANSFORMS = (
    "format",
    "render",
    "to_",
    "truncate",
    "escape",
    "quote",
    "dumps",
    "clean",
    "strip",
    "summar",
    "humanize",
    "b64",
    "urlsafe_b64",
)
_HASHES = ("sha1", "sha2", "sha3", "sha5", "md5", "blake2", "crc32", "adler32")

_FRAMES = ("df", "data", "frame", "examples", "train", "pool", "shots", "pairs", "samples")


class Known(Makers):
    """Evaluates calls."""

    seeded = False

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """A call: its arguments are evaluated once, whoever asks for them."""
        arguments = [self.value(argument, scope) for argument in node.args]
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Table):
                keywords.update(value.pairs)
        nodes = [*node.args, *(keyword.value for keyword in node.keywords)]
        values = [
            *arguments,
            *(self.value(k.value, scope) if k.arg is None else keywords[k.arg] for k in node.keywords),
        ]
        self.ready.update(zip(map(id, nodes), values, strict=True))
        try:
            return self._called(node, arguments, keywords, scope)
        finally:
            for each in nodes:
                self.ready.pop(id(each), None)

    def _called(
        self, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
    ) -> Value:
        function = node.func
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        name = self.dotted(function, scope)
        call = Called(node, name, last, arguments, keywords, scope)
        made = self.made_by(call)
        if made is not None:
            return made
        sent = self.sends(call)
        if isinstance(function, ast.Name) and function.id in scope:
            return self._own(scope.get(function.id), call)
        if name:
            value = self._by_name(call)
            if value is not None:
                return value
        if isinstance(function, ast.Attribute):
            return self._method(call, function, sent=sent)
        if isinstance(function, ast.Lambda | ast.Call | ast.Subscript):
            value = self.value(function, scope)
            if isinstance(value, Function):
                return self.inline(value, arguments, keywords, node, None)
        return self.unknown(node, last) if sent else self._passed_through(node, last, arguments)

    def _own(self, value: Value, call: Called) -> Value:
        node, _, last, arguments, keywords, scope = call
        if isinstance(value, Function):
            result = self.inline(value, arguments, keywords, node, None)
            self._write_back(value, node, arguments, scope)
            return result
        if isinstance(value, Instance):
            attributes = Scope(value.attributes)
            attributes.names.update(keywords)
            return Instance(attributes)
        return self._passed_through(node, last, arguments)

    def _write_back(self, function: Function, node: ast.Call, arguments: list[Value], scope: Scope) -> None:
        """A list that the helper has appended to."""
        for parameter, argument, before in zip(function.node.args.args, node.args, arguments, strict=False):
            after = self.left.names.get(parameter.arg)
            if not isinstance(argument, ast.Name) or not isinstance(after, Items) or not is_chat(after):
                continue
            if isinstance(before, Items) and len(after.items) > len(before.items):
                scope.names[argument.id] = after

    def _method(self, call: Called, function: ast.Attribute, *, sent: bool) -> Value:
        node, _, method, arguments, keywords, scope = call
        receiver = self.value(function.value, scope)
        if isinstance(receiver, Instance):
            own = receiver.attributes.get(method)
            if isinstance(own, Function):
                return self.inline(own, arguments, keywords, node, receiver)
            return self._passed_through(node, method, arguments)
        if isinstance(receiver, Template):
            return methods.of_template(self, receiver, method, node, scope)
        if method in methods.CHANGES_LIST:
            changed = self._changed(receiver, method, node, keywords, scope)
            if changed is not None:
                self.bind(function.value, changed, node, scope)
                return None
        if isinstance(receiver, Text):
            return methods.of_text(self, receiver, method, node, scope)
        if isinstance(receiver, Items):
            if method == "getvalue":
                return Text(pieces_of(receiver, self.place(node)))
            if method == "copy":
                return receiver
            return volatile_in(receiver) or self.unknown(node, method)
        if isinstance(receiver, Table):
            return self._of_table(receiver, method, node, arguments)
        if isinstance(receiver, Bag):
            return receiver
        if isinstance(receiver, Segment):
            return self._of_segment(receiver, call, function, sent=sent)
        return self._passed_through(node, method, arguments)

    def _changed(
        self, receiver: Value, method: str, node: ast.Call, keywords: dict[str, Value], scope: Scope
    ) -> Value:
        """A list, a buffer or a dict behind a method that changes it; None where it is none of them."""
        if isinstance(receiver, Items):
            return methods.of_list(self, receiver, method, node, scope)
        if isinstance(receiver, Table) and method == "update":
            given = self.value(node.args[0], scope) if node.args else None
            for key, value in (*(given.pairs if isinstance(given, Table) else ()), *keywords.items()):
                receiver = receiver.put(key, value)
            return receiver
        if isinstance(receiver, Segment) and node.args and not receiver.kind:
            value = self.value(node.args[-1], scope)
            if is_message(value) or is_chat(value):
                return methods.of_list(self, Items((Star(receiver),)), method, node, scope)
        return None

    def _of_table(self, table: Table, method: str, node: ast.Call, arguments: list[Value]) -> Value:
        if method in ("get", "pop") and node.args and isinstance(node.args[0], ast.Constant):
            key = str(node.args[0].value)
            return choose(table.get(key), arguments[1] if len(arguments) > 1 else None) or self.unknown(
                node, key
            )
        if method in ("values", "items", "keys", "copy"):
            return Items(tuple(value for _, value in table.pairs)) if method == "values" else table
        return volatile_in(table) or self.unknown(node, method)

    def _of_segment(self, receiver: Segment, call: Called, function: ast.Attribute, *, sent: bool) -> Value:
        node, _, method, arguments, keywords, scope = call
        if receiver.name == "@generator":
            if receiver.kind == "fixed" or not calls.is_draw(method):
                return self._drawn(fixed(self.unknown(node, "")), method, node, scope)
            return self._drawn(self.made(node, calls.RANDOM, "request"), method, node, scope)
        if calls.is_search(_last(function.value) or receiver.name, method):
            return self.made(node, calls.RETRIEVED, "request", method)
        if method == "sample" and any(word in receiver.name.lower() for word in _FRAMES):
            return self.made(
                node, "fixed" if keywords.keys() & {"random_state", "seed"} else calls.RANDOM, "request"
            )
        if sent:
            return self.unknown(node, method)
        if receiver.kind == "" and isinstance(function.value, ast.Name) and function.value.id in self.imports:
            return self._passed_through(node, method, arguments)
        return methods.of_segment(self, receiver, method, node, scope)

    def _drawn(self, result: Segment, method: str, node: ast.Call, scope: Scope) -> Value:
        """What was drawn; ``shuffle`` changes its argument."""
        if method != "shuffle" or not node.args:
            return result
        if result.kind == calls.RANDOM:
            self.bind(node.args[0], result, node, scope)
        return None

    def _by_name(self, call: Called) -> Value:
        node, name, last, arguments, keywords, scope = call
        if name in BUILTINS:
            return BUILTINS[name](self, node, arguments, keywords, scope)
        if name in ("os.getenv", "os.environ.get"):
            return self.environment_variable(node, node.args[0] if node.args else None)
        if name in calls.SEEDS:
            self.seeded = self.seeded or (bool(arguments) and all(volatile_in(a) is None for a in arguments))
            return None
        if calls.is_generator(name):
            given = [*arguments, *keywords.values()]
            seeded = bool(node.args or node.keywords) and all(volatile_in(a) is None for a in given)
            segment = self.made(node, calls.RANDOM, "request", "@generator")
            return fixed(segment) if seeded else segment
        if calls.is_subprocess(name):
            return self.made(node, calls.ENVIRONMENT, "checkout", last)
        known = calls.of_call(name)
        if known is None or not known[0]:
            return None
        made = self.made(node, *known, last)
        if known[0] == calls.UNORDERED:
            return Bag(self.place(node), self.place(node) if known[1] != "process" else None, known[1])
        if known[0] == calls.RANDOM and self.seeded and not name.startswith(("uuid", "secrets", "os.")):
            made = fixed(made)
        if known[0] == calls.CLOCK and last == "strftime" and arguments:
            pattern = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
            return methods.by_pattern(made, pattern if isinstance(pattern, str) else "")
        if last == "strftime" or (
            known[0] == calls.CLOCK and last in ("localtime", "gmtime", "ctime") and arguments
        ):
            return volatile_in(arguments[0]) or (made if last == "strftime" else self.unknown(node, ""))
        return self._drawn(made, last, node, scope)

    def _passed_through(self, node: ast.Call, last: str, arguments: list[Value]) -> Value:
        """What a function that nobody knows makes of its arguments."""
        transforms = last.startswith((*_TRANSFORMS, *_HASHES))
        for argument in arguments:
            if isinstance(argument, Segment | Bag | Text) and not kind_of_name(last):
                found = volatile_in(argument)
                if found is not None and found.kind == calls.CLOCK and last.startswith(_HASHES):
                    return found._replace(kind=calls.RANDOM)  # no digit of it tells the time any more
                if found is not None and (transforms or (found is argument and found.kind == calls.CLOCK)):
                    return found
                if transforms and isinstance(argument, Segment) and not argument.kind:
                    return argument
        return self.unknown(node, last)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
