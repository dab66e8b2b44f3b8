"""What an expression of a Python program can be, as far as prompts are concerned."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from promptorder.model.lint import STATIC, Segment

MADE = frozenset(
    ("clock-call", "random-call", "unordered", "environment", "retrieved-context", "question-first")
)
"""Kinds that a call gives to its value, and that go with it wherever it goes."""
MOST_PIECES = 2000
"""More pieces in one text are no prompt that anybody reads; what doubles itself in a loop ends here."""


class Text(NamedTuple):
    """A string: static text and what is filled into it."""

    pieces: tuple[Segment, ...]


class Items(NamedTuple):
    """A list, a tuple or a buffer that is written to."""

    items: tuple[Value, ...] = ()


class Star(NamedTuple):
    """Some more items of a list, nobody knows how many."""

    value: Value


class Table(NamedTuple):
    """A dict whose keys are constant."""

    pairs: tuple[tuple[str, Value], ...] = ()

    def get(self, key: str) -> Value:
        """The value of a key, None where there is none."""
        for name, value in reversed(self.pairs):
            if name == key:
                return value
        return None

    def put(self, key: str, value: Value) -> Table:
        """The dict with one more key, or another value of one that it has."""
        kept = self.pairs if self.get(key) is None else tuple(p for p in self.pairs if p[0] != key)
        return Table((*kept, (key, value)))


class Bag(NamedTuple):
    """Something without an order: a set, or what was made by going through one.

    ``made`` is the place where its order arose, None while it has none yet, ``origin`` where the thing itself was made.
    """

    origin: tuple[int, int]
    made: tuple[int, int] | None = None
    changes: str = ""


class Template(NamedTuple):
    """A template object: ``PromptTemplate``, ``string.Template``, jinja's; ``value`` is a text or a list of messages."""

    value: Value
    syntax: str


class Function(NamedTuple):
    """A function of the file with the names that it sees."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    owner: Instance | None = None


class Instance(NamedTuple):
    """An object of a class of the file, or the class itself: its attributes."""

    attributes: Scope


Value: TypeAlias = Text | Segment | Items | Star | Table | Bag | Template | Function | Instance | None


class Scope:
    """Names and their values; a branch of an ``if`` is a scope of its own until it is known how it ends."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.parent = parent

    def get(self, name: str) -> Value:
        """The nearest value of a name, None where it has none."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def __contains__(self, name: str) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.parent
        return False


def fixed(segment: Segment) -> Segment:
    """The same thing, known never to change."""
    return segment._replace(kind="fixed", changes="")


def pieces_of(value: Value, place: tuple[int, int], depth: int = 0) -> tuple[Segment, ...]:
    """A value written as text at ``place``."""
    match value:
        case Text(pieces):
            return pieces
        case Segment():
            return (value,)
        case Bag(origin, made, changes):
            start, end = made or (place if place[1] else origin)
            return (Segment("", start, end, "prompt", "computed", "", "unordered", changes),)
        case Star(inner) | Template(inner):
            return pieces_of(inner, place, depth + 1) if depth < 20 else ()
        case Items(items) if depth < 20:
            return tuple(_all(items, place, depth))[:MOST_PIECES]
        case Table(pairs) if depth < 20:
            return tuple(_all([value for _, value in pairs], place, depth))[:MOST_PIECES]
    return ()


def _all(values: tuple[Value, ...] | list[Value], place: tuple[int, int], depth: int) -> Iterator[Segment]:
    for value in values:
        yield from pieces_of(value, place, depth + 1)


def is_volatile(segment: Segment) -> bool:
    """Whether a call made the piece something that changes."""
    return segment.kind in MADE


def volatile_in(value: Value) -> Segment | None:
    """The first piece of a value that a call made volatile."""
    for piece in pieces_of(value, (0, 0)):
        if is_volatile(piece):
            return piece
    return None


def choose(a: Value, b: Value) -> Value:
    """One value for two branches: the longer where one goes on from the other, else the one that changes more."""
    if a == b or b is None:
        return a
    if a is None:
        return b
    if isinstance(a, Text) and isinstance(b, Text):
        return a if _weight(a.pieces) >= _weight(b.pieces) else b
    if isinstance(a, Items) and isinstance(b, Items):
        return a if len(a.items) >= len(b.items) else b
    if isinstance(a, Table) and isinstance(b, Table):
        return a if len(a.pairs) >= len(b.pairs) else b
    return a if _rank(a) >= _rank(b) else b


def _weight(pieces: tuple[Segment, ...]) -> tuple[int, int]:
    changing = sum(1 for piece in pieces if piece.origin != STATIC and piece.kind != "fixed")
    return changing, sum(len(piece.text) for piece in pieces if piece.origin == STATIC)


def _rank(value: Value) -> int:
    if isinstance(value, Segment):
        return 3 if is_volatile(value) else 0
    return 1 if isinstance(value, Function | Instance) else 2


def cut(segment: Segment, start: int, end: int) -> Segment:
    """A part of static text, which keeps its place in the file."""
    marks: tuple[tuple[int, int], ...] = ()
    if segment.marks:
        first = bisect_left(segment.marks, (start, -1))
        last = bisect_left(segment.marks, (end, -1))
        inside = [(at - start, place) for at, place in segment.marks[first:last]]
        if not inside or inside[0][0] > 0:
            inside.insert(0, (0, segment.place(start)))
        marks = tuple(inside)
    place = segment.place(start)
    return segment._replace(
        text=segment.text[start:end],
        start=place,
        end=segment.place(max(start, end - 1)) + 1,
        marks=marks,
    )


def merged(tables: Sequence[Mapping[str, Value]], outer: Scope) -> dict[str, Value]:
    """What the names of an ``if`` are behind it, from what each of its branches made of them."""
    result: dict[str, Value] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        values = [table[name] if name in table else outer.get(name) for table in tables]
        value = values[0]
        for other in values[1:]:
            value = choose(value, other)
        result[name] = value
    return result
