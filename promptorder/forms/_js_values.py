"""What an expression of a JavaScript program can be: the values of programs in general, and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from promptorder.forms._python_values import MOST_PIECES, Items, Star, Text, Value, pieces_of
from promptorder.model.lint import STATIC, VARIABLE, Segment

if TYPE_CHECKING:
    from tree_sitter import Node

    from promptorder.forms._js_scopes import Env


class Closure(NamedTuple):
    """A function of the file, with the names that it sees."""

    node: Node
    env: Env


JsValue: TypeAlias = Value | Closure


def plain(value: JsValue) -> Value:
    """A value that is text if need be: the source of a function is the same each time."""
    if isinstance(value, Closure):
        return Segment("", value.node.start_byte, value.node.end_byte, "prompt", VARIABLE, "", "fixed")
    return value


def moved(value: JsValue, place: tuple[int, int]) -> JsValue:
    """A value as it is used at ``place``: what is no text itself is shown where it goes into one."""
    if isinstance(value, Segment):
        return value._replace(start=place[0], end=place[1]) if value.origin != STATIC else value
    if isinstance(value, Text):
        changing = [piece for piece in value.pieces if piece.origin != STATIC]
        if len(changing) == 1 and not any(p.text.strip(" \n:-") for p in value.pieces if p.origin == STATIC):
            return changing[0]._replace(start=place[0], end=place[1])
    return value


def constant(value: JsValue) -> str | None:
    """The text of a constant string, None of anything else."""
    if isinstance(value, Text) and all(piece.origin == STATIC for piece in value.pieces):
        return "".join(piece.text for piece in value.pieces)
    return None


def appended(value: JsValue, more: JsValue, place: tuple[int, int]) -> JsValue:
    """``value += more``."""
    before = pieces_of(plain(value), place)
    return Text((*before, *pieces_of(plain(more), place)) if len(before) < MOST_PIECES else before)


def with_item(value: JsValue, item: JsValue, *, first: bool) -> JsValue:
    """A list with one more item."""
    items = value.items if isinstance(value, Items) else () if value is None else (Star(plain(value)),)
    new = plain(item)
    if isinstance(new, Star) and isinstance(new.value, Items):
        return Items((*new.value.items, *items) if first else (*items, *new.value.items))
    return Items((new, *items) if first else (*items, new))
