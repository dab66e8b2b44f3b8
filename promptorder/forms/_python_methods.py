"""What the methods of strings, lists, dicts, templates and clocks do to what is known of them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from promptorder.forms import _python_calls as calls
from promptorder.forms._python_base import formatted
from promptorder.forms._python_eval import Compound
from promptorder.forms._python_templates import fill, first_name, replace, variable
from promptorder.forms._python_values import (
    MOST_PIECES,
    Bag,
    Function,
    Items,
    Scope,
    Star,
    Table,
    Template,
    Text,
    Value,
    fixed,
    pieces_of,
)
from promptorder.model.lint import VARIABLE, Segment

CHANGES_LIST = frozenset(
    ("append", "extend", "insert", "write", "writelines", "add", "appendleft", "update", "setdefault")
)
_RENDERS = frozenset(
    "format format_messages format_prompt invoke ainvoke substitute safe_substitute render render_async partial".split()
)
_SAME = frozenset(
    "strip lstrip rstrip removeprefix removesuffix lower upper title expandtabs copy getvalue splitlines items keys values "
    "to_string encode decode".split()
)


def of_text(self: Compound, text: Text, method: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a string whose parts are known."""
    if method in ("format", "format_map"):
        return Text(filled(self, text.pieces, "format", node, scope))
    if method == "replace" and len(node.args) >= 2:
        old, new = node.args[0], node.args[1]
        if isinstance(old, ast.Constant) and isinstance(old.value, str) and old.value:
            value = self.value(new, scope)
            return Text(
                replace(text.pieces, old.value, lambda place: self.fill_in(value, place))[:MOST_PIECES]
            )
        return text
    if method == "join" and node.args:
        return joined(self, text, self.value(node.args[0], scope), node)
    return text


def joined(self: Compound, separator: Text, items: Value, node: ast.Call) -> Value:
    """``separator.join(items)``."""
    if not isinstance(items, Items):
        return Text(pieces_of(items, self.place(node)))
    pieces: list[Segment] = []
    for index, item in enumerate(items.items):
        if index:
            pieces.extend(separator.pieces)
        pieces.extend(pieces_of(item, self.place(node)))
        if len(pieces) > MOST_PIECES:
            break
    return Text(tuple(pieces[:MOST_PIECES]))


def filled(
    self: Compound, pieces: tuple[Segment, ...], syntax: str, node: ast.Call, scope: Scope
) -> tuple[Segment, ...]:
    """A template with the arguments of a call filled in."""
    positional: list[Value] = []
    named: dict[str, Value] = {}
    for argument in node.args:
        value = self.value(argument, scope)
        if isinstance(value, Table):
            named.update(value.pairs)
        else:
            positional.append(value)
    for keyword in node.keywords:
        value = self.value(keyword.value, scope)
        if keyword.arg is not None:
            named[keyword.arg] = value if value is not None else Text(())
        elif isinstance(value, Table):
            named.update(value.pairs)
    automatic = iter(positional)

    def lookup(name: str, place: tuple[int, int]) -> tuple[Segment, ...] | None:
        if name == "":
            return self.fill_in(next(automatic, None), place)
        if name.isdigit():
            return self.fill_in(positional[int(name)], place) if int(name) < len(positional) else ()
        first = first_name(name).partition(".")[0]
        if first not in named:
            return None
        result = self.fill_in(named[first], place)
        source = self.source[place[0] : place[1]]
        return tuple(formatted(piece, source) for piece in result) if ":" in source else result

    return fill(pieces, syntax, lookup)[:MOST_PIECES]


def of_template(self: Compound, template: Template, method: str, node: ast.Call, scope: Scope) -> Value:
    """``template.format(...)`` and its like; anything else leaves it a template."""
    if method not in _RENDERS:
        return template
    if method == "partial":
        given = {keyword.arg: self.value(keyword.value, scope) for keyword in node.keywords if keyword.arg}
        return Template(partly(self, template.value, template.syntax, given, node), template.syntax)
    return each_text(template.value, lambda pieces: filled(self, pieces, template.syntax, node, scope))


def partly(self: Compound, value: Value, syntax: str, given: dict[str, Value], node: ast.expr) -> Value:
    """A template some of whose variables are filled in; a function among them is called each time."""

    def lookup(name: str, place: tuple[int, int]) -> tuple[Segment, ...] | None:
        found = given.get(name)
        if isinstance(found, Function):
            moment, self.moment = self.moment, ""
            found = self.inline(found, [], {}, node, None)
            self.moment = moment
        return None if found is None else self.fill_in(found, place)

    return each_text(value, lambda pieces: fill(pieces, syntax, lookup))


def each_text(
    value: Value, change: Callable[[tuple[Segment, ...]], tuple[Segment, ...]], depth: int = 0
) -> Value:
    """A text, or each text in a list of messages, changed; roles and keys stay."""
    if depth > 8:
        return value
    match value:
        case Text(pieces):
            return Text(change(pieces))
        case Table(pairs):
            return Table(tuple((k, v if k == "role" else each_text(v, change, depth + 1)) for k, v in pairs))
        case Items(items):
            return Items(tuple(each_text(item, change, depth + 1) for item in items))
        case Template(inner):
            return each_text(inner, change, depth + 1)
    return value


def placeholders(self: Compound, value: Value, syntax: str) -> Value:
    """A template with its placeholders as variables."""

    def lookup(name: str, place: tuple[int, int]) -> tuple[Segment, ...]:
        return (variable(self.source[place[0] : place[1]], place, name, syntax),)

    return each_text(value, lambda pieces: fill(pieces, syntax, lookup))


def of_list(self: Compound, items: Items, method: str, node: ast.Call, scope: Scope) -> Items:
    """A list behind ``append``, ``extend``, ``insert`` or ``write``."""
    if method == "insert" and len(node.args) == 2:
        value = self.value(node.args[1], scope)
        at = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if at == 0:
            return Items((value, *items.items)[:MOST_PIECES])
        if isinstance(at, int) and 0 < at < len(items.items):
            return Items((*items.items[:at], value, *items.items[at:]))
        return Items((*items.items, value)[:MOST_PIECES])
    if not node.args:
        return items
    value = self.value(node.args[0], scope)
    if method in ("extend", "writelines", "update"):
        more = value.items if isinstance(value, Items) else (Star(value),)
        return Items((*items.items, *more)[:MOST_PIECES])
    return Items((*items.items, value)[:MOST_PIECES])


def of_segment(self: Compound, whole: Segment, method: str, node: ast.Call, scope: Scope) -> Value:
    """A method of something of which only the name or the kind is known."""
    if whole.kind == calls.CLOCK:
        return _of_clock(whole, method, node)
    if whole.kind:
        return whole
    if method in ("get", "pop", "getlist") and node.args and isinstance(node.args[0], ast.Constant):
        key = node.args[0].value
        return self.part_of(whole, node, key if isinstance(key, str) else "")
    if method in _SAME or method in ("replace", "split", "join", "format"):
        return whole
    if method in ("iterdir", "glob", "rglob") and not (method == "glob" and "glob" in whole.name):
        return Bag(self.place(node), self.place(node), "rendering")
    if method in ("read_text", "read"):
        return self.manual(node)
    start, end = self.place(node)
    name = method if whole.name in ("", "self") else f"{whole.name}.{method}"
    return whole._replace(text=self.source[start:end], start=start, end=end, name=name, origin=VARIABLE)


def _of_clock(whole: Segment, method: str, node: ast.Call) -> Segment:
    if method in (
        "date",
        "toordinal",
        "weekday",
        "isoweekday",
        "isocalendar",
        "to_date_string",
        "date_string",
    ):
        return whole._replace(changes="day") if whole.changes == "request" else whole
    if method == "replace":
        by = {keyword.arg for keyword in node.keywords}
        return whole._replace(changes="day") if "hour" in by and whole.changes == "request" else whole
    if method in ("strftime", "format", "isoformat", "to_format") and node.args:
        pattern = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
        return by_pattern(whole, pattern if isinstance(pattern, str) else "")
    return whole


def by_pattern(clock: Segment, pattern: str) -> Segment:
    """A clock written with a pattern, of ``strftime`` or with letters such as ``YYYY-MM-DD``."""
    if "%" in pattern:
        return formatted(clock, pattern)
    if any(letters in pattern for letters in ("HH", "hh", "mm", "ss", "H:", "h:")):
        return clock
    if any(letters in pattern for letters in ("DD", "Do", "dddd", "D,")):
        return clock._replace(changes="day") if clock.changes == "request" else clock
    return fixed(clock) if "YYYY" in pattern else clock
