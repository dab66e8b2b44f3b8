"""Methods of texts, lists, dates and templates in a JavaScript program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms import _js_calls as calls
from promptorder.forms._js_fill import Filling
from promptorder.forms._js_scopes import Env
from promptorder.forms._js_values import Closure, JsValue, plain
from promptorder.forms._python_values import (
    Items,
    Star,
    Table,
    Template,
    Text,
    pieces_of,
    volatile_in,
)
from promptorder.model.lint import Segment

if TYPE_CHECKING:
    from tree_sitter import Node


_SAME_TEXT = frozenset(
    "trim trimStart trimEnd toString toUpperCase toLowerCase normalize valueOf padStart padEnd dedent toWellFormed".split()
)
_SAME_LIST = frozenset(
    "filter slice reverse flat toReversed splice values keys then catch finally toArray toSorted sort".split()
)
SHUFFLED = re.compile(r"Math\.random")


class Methods(Filling):
    """Expressions with methods of values that are known."""

    def _method(self, method: str, target: Node, nodes: list[Node], node: Node, env: Env) -> JsValue:
        receiver_name = self.code.source(target)[-60:]
        arguments = "".join(self.code.source(n)[:200] + ", " for n in nodes)
        if method == "format" and "DateTimeFormat" in self.code.source(target):
            found = volatile_in(plain(self.value(nodes[0], env))) if nodes else None
            if nodes and found is None:
                return None
            clock = found or self.made(node, calls.CLOCK, "request", env)
            return changing(
                clock,
                calls.options(self.code.source(target)) if clock.changes == "request" else clock.changes,
            )
        if method in ("entries", "keys", "values") and receiver_name == "Object" and nodes:
            return self._entries(method, nodes[0], env)
        if method == "fromEntries" and nodes:
            return self.value(nodes[0], env)
        if calls.is_search(receiver_name, method):
            return self.made(node, calls.RETRIEVED, "request", env, method)
        receiver = self.value(target, env)
        if method in ("sort", "toSorted"):
            return self._sorted(receiver, arguments, node, env)
        if isinstance(receiver, Segment) and receiver.kind == calls.CLOCK:
            return self._of_clock(receiver, method, arguments)
        if method == "concat":
            return self._concatenated(receiver, nodes, env)
        if method in ("replace", "replaceAll"):
            return self._replaced(receiver, nodes, env)
        if method == "join":
            return self._joined(receiver, nodes, node, env)
        if method in ("map", "flatMap", "reduce", "reduceRight"):
            return self._mapped(receiver, method, nodes, node, env)
        if isinstance(receiver, Template):
            return self._filled(receiver.value, nodes, env) if nodes else receiver
        if method in _SAME_TEXT or (method in _SAME_LIST and isinstance(receiver, Items)):
            return receiver
        if (
            method in ("slice", "filter", "at", "toString", "substring", "toFixed", "then", "get")
            and receiver is not None
        ):
            return receiver
        if method == "repeat":
            return receiver
        if isinstance(receiver, Segment) and (
            receiver.kind == "fixed" or method.startswith("to") or method == "format"
        ):
            return receiver
        return volatile_in(plain(receiver))

    def _of_clock(self, clock: Segment, method: str, arguments: str) -> JsValue:
        if method == "split":
            return Items((changing(clock, "day" if clock.changes == "request" else clock.changes), clock))
        seldom = calls.of_moment(method, arguments, "request") == "fixed"
        if clock.changes != "request" and (clock.changes == "process" or not seldom):
            return clock
        return changing(clock, calls.of_moment(method, arguments, clock.changes))

    def _sorted(self, receiver: JsValue, arguments: str, node: Node, env: Env) -> JsValue:
        if SHUFFLED.search(arguments):
            return self.made(node, calls.RANDOM, "request", env)
        found = volatile_in(plain(receiver))
        if found is not None and found.kind == calls.UNORDERED:
            return found._replace(kind="fixed", changes="")
        return receiver

    def _entries(self, method: str, node: Node, env: Env) -> JsValue:
        value = self.value(node, env)
        if not isinstance(value, Table):
            return value
        if method == "values":
            return Items(tuple(item for _, item in value.pairs))
        keys = [(self._text(key, node), item) for key, item in value.pairs]
        return Items(tuple(key if method == "keys" else Items((key, item)) for key, item in keys))

    def _concatenated(self, receiver: JsValue, nodes: list[Node], env: Env) -> JsValue:
        more = self.items(nodes, env)
        if isinstance(receiver, Items):
            flat = [
                x
                for item in more.items
                for x in (
                    item.items
                    if isinstance(item, Items)
                    else (Star(item) if isinstance(item, Segment) else item,)
                )
            ]
            return Items((*receiver.items, *flat))
        if isinstance(receiver, Segment) and any(isinstance(item, Items | Table) for item in more.items):
            return Items((Star(receiver), *more.items))
        return Text((*pieces_of(plain(receiver), (0, 0)), *pieces_of(more, (0, 0))))

    def _joined(self, receiver: JsValue, nodes: list[Node], node: Node, env: Env) -> JsValue:
        if not isinstance(receiver, Items):
            return receiver
        between = pieces_of(plain(self.value(nodes[0], env)), (0, 0)) if nodes else ()
        found: list[Segment] = []
        for item in receiver.items:
            here = pieces_of(item, self.code.place(node))
            if found and here:
                found.extend(between)
            found.extend(here)
        return Text(tuple(found))

    def _mapped(self, receiver: JsValue, method: str, nodes: list[Node], node: Node, env: Env) -> JsValue:
        callback = self.value(nodes[0], env) if nodes else None
        if isinstance(receiver, Items) and method.endswith("ap"):
            if not isinstance(callback, Closure):
                return receiver
            return Items(
                tuple(plain(self._applied(callback, item, nodes[0])) for item in receiver.items[:100])
            )
        if isinstance(callback, Closure) and method == "map" and isinstance(receiver, Segment):
            made = self.inline(callback, [receiver], nodes[0])
            if isinstance(made, Table) and made.get("role") is not None:
                return receiver  # the turns of a chat in another shape
            found = volatile_in(plain(made))
            return found if found is not None else receiver
        return receiver

    def _applied(self, callback: Closure, item: JsValue, node: Node) -> JsValue:
        result = self.inline(callback, [item.value if isinstance(item, Star) else item], node)
        return result if result is not None else item


def changing(clock: Segment, changes: str) -> Segment:
    """A time that is written less often, unless it is made less often anyway."""
    if changes == "fixed":
        return clock._replace(kind="fixed", changes="")
    if clock.changes in ("process", "session"):
        return clock
    return clock._replace(changes=changes)
