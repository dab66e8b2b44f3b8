"""Where a JavaScript program has requests: by their keys, and by the shape of message lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from promptorder.forms._js_offers import KEYS, Offers, body_of, enclosing
from promptorder.forms._js_scopes import FUNCTIONS
from promptorder.forms._python_sinks import is_chat, request
from promptorder.forms._python_values import Table

if TYPE_CHECKING:
    from tree_sitter import Node


_SURE = frozenset(
    "systemPrompt systemMessage system_prompt systemInstruction system_instruction systemInstructions messages".split()
)
_BESIDE = frozenset(
    "model temperature max_tokens maxTokens maxOutputTokens stream tools messages system instructions".split()
)
THROUGH = frozenset((
    "template_substitution", "template_string", "binary_expression", "parenthesized_expression", "as_expression",
    "satisfies_expression", "non_null_expression", "await_expression", "ternary_expression", "array",
))  # fmt: skip


class Requests(Offers):
    """Looks at messages, and at objects that are the body of a request."""

    def _role(self, node: Node) -> None:
        """A message: the list that it stands in, or the list that it is added to."""
        message = enclosing(node, ("object",))
        outer = message.parent if message is not None else None
        if message is None or outer is None:
            return
        while outer.parent is not None and outer.type in (
            "spread_element",
            "parenthesized_expression",
            "ternary_expression",
            "as_expression",
            "binary_expression",
        ):
            outer = outer.parent
        if outer.type == "array":
            self._list(outer)
        elif outer.type == "arguments" and outer.parent is not None:
            called = outer.parent.child_by_field_name("function")
            target = called.child_by_field_name("object") if called is not None else None
            method = called.child_by_field_name("property") if called is not None else None
            if (
                target is not None
                and method is not None
                and self.code.source(method) in ("push", "unshift", "concat")
            ):
                self._variable(self.code.source(target), outer.parent)

    def _list(self, node: Node) -> None:
        """A list of messages: as part of its request, of its variable, or alone."""
        outer = node.parent
        while outer is not None and outer.type in (
            *THROUGH,
            "spread_element",
            "call_expression",
            "member_expression",
            "arguments",
        ):
            outer = outer.parent
        if outer is not None and outer.type == "pair":
            around = enclosing(outer, ("object",))
            if around is not None and self._object(around):
                return
        if outer is not None and outer.type in ("variable_declarator", "assignment_expression"):
            name = outer.child_by_field_name("name") or outer.child_by_field_name("left")
            if name is not None and name.type in ("identifier", "member_expression"):
                self._variable(self.code.source(name), outer)
                return
        if outer is not None and outer.type in FUNCTIONS | {"return_statement"}:
            self._function_of(outer)
        self._expression(node, "", named=True)

    def _key(self, node: Node) -> None:
        around = enclosing(node, ("object", "object_pattern", "statement_block", "program"))
        if around is not None and around.type == "object":
            self._object(around)

    def _object(self, node: Node) -> bool:
        """A request; true if it was looked at as one."""
        if node.id in self.seen:
            return True
        keys = {self.code.source(k).strip("\"'`") for k in _keys(node)}
        mine = keys & set(KEYS)
        outer = node.parent
        called = outer is not None and outer.type == "arguments"
        if not mine or not (keys & _SURE or len(keys & _BESIDE) > 1 or (called and mine)):
            return False
        self.seen.add(node.id)
        value = self.program.value(node, self.program.scopes.environment(node))
        if isinstance(value, Table):
            body = body_of(value)
            segments = request(body, self.code.place(node))
            sure = bool(keys & _SURE) or len(keys & _BESIDE) > 1 or is_chat(body.get("messages"))
            self._send(node, "", segments, sure=sure)
        return True


def _keys(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "pair":
            key = child.child_by_field_name("key")
            if key is not None:
                yield key
        elif child.type in ("shorthand_property_identifier", "method_definition"):
            yield child.child_by_field_name("name") or child
