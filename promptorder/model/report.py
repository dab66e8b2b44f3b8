"""One neutral report: what every format shows, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain words."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Points of equal weight."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title, and the side that its cells keep to."""

    title: str
    align: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One share as a bar: ``value`` with its band from 0 to 1, or None where it is unknown."""

    label: str
    text: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Bars:
    """Shares at a glance, one below the other."""

    title: str
    bars: tuple[Bar, ...]


Block = Heading | Paragraph | Bullets | Table | Bars


@dataclass(frozen=True, slots=True)
class Report:
    """Blocks from top to bottom."""

    blocks: tuple[Block, ...]
