"""Built-in functions and those of the standard library that make text or lists of what they are given."""

from __future__ import annotations

import ast
from collections.abc import Callable

from promptorder.forms import _python_calls as calls
from promptorder.forms._python_base import Expressions
from promptorder.forms._python_values import (
    Bag,
    Function,
    Items,
    Scope,
    Star,
    Text,
    Value,
    fixed,
    pieces_of,
    volatile_in,
)
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import Segment

_Builtin = Callable[[Expressions, ast.Call, list[Value], dict[str, Value], Scope], Value]


def _as_text(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    value = arguments[0] if arguments else Text(())
    if isinstance(value, Segment | Text):
        return value
    return Text(pieces_of(value, self.place(node)))


def _json(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    ordered = any(
        k.arg == "sort_keys" and isinstance(k.value, ast.Constant) and k.value.value for k in node.keywords
    )
    pieces = pieces_of(arguments[0] if arguments else None, self.place(node))
    if ordered:
        pieces = tuple(fixed(piece) if piece.kind == calls.UNORDERED else piece for piece in pieces)
    return Text(pieces)


def _same(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    return arguments[0] if arguments else self.unknown(node, "")


def _list(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    value = arguments[0] if arguments else Items()
    if isinstance(value, Bag):
        return value._replace(made=value.made or self.place(node))
    return value


def _sorted(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    value = arguments[0] if arguments else None
    if isinstance(value, Bag):
        return fixed(self.unknown(node, ""))
    if isinstance(value, Items):
        return Items(tuple(_without_disorder(item) for item in value.items))
    return value if value is not None else self.unknown(node, "")


def _without_disorder(value: Value) -> Value:
    if isinstance(value, Star):
        return Star(_without_disorder(value.value))
    if isinstance(value, Segment) and value.kind == calls.UNORDERED:
        return fixed(value)
    if isinstance(value, Text):
        return Text(tuple(fixed(p) if p.kind == calls.UNORDERED else p for p in value.pieces))
    return value


def _set(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    return Bag(self.place(node)) if arguments else Items()


def _enumerated(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    value = arguments[0] if arguments else None
    number = fixed(self.unknown(node, ""))
    if isinstance(value, Items):
        return Items(
            tuple(
                Star(Items((number, item.value))) if isinstance(item, Star) else Items((number, item))
                for item in value.items
            )
        )
    if isinstance(value, Segment):
        return Items((Star(Items((number, value))),))
    return value if value is not None else self.unknown(node, "")


def _zipped(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    if len(arguments) > 1 and all(isinstance(a, Items) for a in arguments):
        rows = zip(*(a.items for a in arguments if isinstance(a, Items)), strict=False)
        return Items(tuple(Items(row) for row in rows))
    found = next((a for a in arguments if isinstance(a, Bag)), None) or volatile_in(Items(tuple(arguments)))
    return found or next((a for a in arguments if isinstance(a, Segment)), None) or self.unknown(node, "")


def _mapped(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    function, over = (*arguments, None, None)[:2]
    if isinstance(over, Bag):
        return over._replace(made=over.made or self.place(node))
    if isinstance(function, Function):
        items = over.items if isinstance(over, Items) else (over,)
        results = (
            self.inline(function, [i.value if isinstance(i, Star) else i], {}, node, None) for i in items[:64]
        )
        return Items(tuple(Star(result) for result in results))
    return over if over is not None else self.unknown(node, "")


def _filtered(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    return arguments[1] if len(arguments) > 1 else self.unknown(node, "")


def _buffer(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    return Items(tuple(arguments))


def _file(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    return self.unknown(node, "open")


def _number(
    self: Expressions, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    found = volatile_in(Items(tuple(arguments)))
    given = arguments[0] if arguments else None
    if isinstance(given, Segment) and not given.kind and kind_of_name(given.name) == "history":
        return self.unknown(node, "turn_count")
    # how many there are, or which one is the largest, does not depend on an order
    return found if found is not None and found.kind != calls.UNORDERED else fixed(self.unknown(node, ""))


BUILTINS: dict[str, _Builtin] = {
    "str": _as_text,
    "repr": _as_text,
    "format": _as_text,
    "textwrap.dedent": _as_text,
    "dedent": _as_text,
    "inspect.cleandoc": _as_text,
    "textwrap.indent": _as_text,
    "textwrap.fill": _as_text,
    "json.dumps": _json,
    "orjson.dumps": _json,
    "yaml.dump": _json,
    "yaml.safe_dump": _json,
    "pprint.pformat": _as_text,
    "list": _list,
    "tuple": _list,
    "reversed": _same,
    "iter": _same,
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "itertools.chain": _zipped,
    "sorted": _sorted,
    "set": _set,
    "frozenset": _set,
    "enumerate": _enumerated,
    "zip": _zipped,
    "map": _mapped,
    "filter": _filtered,
    "io.StringIO": _buffer,
    "StringIO": _buffer,
    "open": _file,
    "int": _number,
    "float": _number,
    "round": _number,
    "len": _number,
    "sum": _number,
    "min": _number,
    "max": _number,
}
"""What a call of each name is: imports resolved, and only where the file has no value of that name itself."""
