"""The only importer of rich: reports, progress and errors on a terminal or in a log."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

from promptorder.model.report import Bars, Block, Bullets, Heading, Paragraph, Report, Table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Color = Literal["auto", "always", "never"]
MAX_WIDTH = 100
"""Prose is hard to read in longer lines; tables need no more."""


def wants_color(choice: Color, stream: TextIO) -> bool:
    """Whether to colour: as asked, else on a terminal where NO_COLOR is unset (https://no-color.org)."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return _is_terminal(stream) and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int:
    """Columns to fill: the terminal's, at most MAX_WIDTH; 80 where there is no terminal."""
    import shutil

    if not _is_terminal(stream) and not os.environ.get("COLUMNS"):
        return 80
    return max(40, min(MAX_WIDTH, shutil.get_terminal_size((80, 24)).columns))


def render_report(report: Report, *, width: int, color: bool) -> str:
    """The report as lines of at most ``width`` columns."""
    buffer = io.StringIO()
    console = _console(buffer, width=width, color=color)
    for block in report.blocks:
        for renderable in _renderables(block, width):
            console.print(renderable)
        if not isinstance(block, Heading):
            console.print()
    # Padding at line ends is noise in logs and in what people copy.
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def printable(text: str) -> str:
    """``text`` without what would steer a terminal: other white space as a space, the rest as U+FFFD.

    Names of files, models and layouts come from outside. Line feeds stay.
    """
    return "".join(c if c.isprintable() or c == "\n" else " " if c.isspace() else "\ufffd" for c in text)


def print_text(text: str, *, stream: TextIO | None = None) -> None:
    """Write text as it is, with characters that the stream cannot show replaced."""
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def print_note(label: str, text: str, *, color: Color = "auto") -> None:
    """``label: text`` on standard error, such as an error, its help, or a note."""
    stream = sys.stderr
    styles = {"error": "\x1b[1;31m", "help": "\x1b[1;36m", "warning": "\x1b[1;33m", "note": "\x1b[1m"}
    start, end = (styles.get(label, ""), "\x1b[0m") if wants_color(color, stream) else ("", "")
    print_text(f"{start}{label}:{end} {printable(text)}\n", stream=stream)


class Progress(Protocol):
    """What a running comparison tells its watcher."""

    def step(
        self, text: str, *, done: int, total: int | None, left_s: float | None, part: bool = False
    ) -> None:
        """Something has begun, with ``part`` a whole part of the run.

        ``left_s`` is the time that is left, None while it is unknown.
        """

    def line(self, text: str) -> None:
        """Something has ended and is worth a line of its own."""


@contextmanager
def progress(*, quiet: bool, color: Color) -> Iterator[Progress]:
    """A live line on a terminal, a plain line per finished step elsewhere, nothing where quiet."""
    if quiet:
        yield _Silence()
    elif _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb":
        with _live(color) as live:
            yield live
    else:
        yield _Lines()


class _Silence:
    def step(
        self, text: str, *, done: int, total: int | None, left_s: float | None, part: bool = False
    ) -> None:
        pass

    def line(self, text: str) -> None:
        pass


class _Lines:
    def step(
        self, text: str, *, done: int, total: int | None, left_s: float | None, part: bool = False
    ) -> None:
        if part:
            self.line(text if left_s is None else f"{text}; about {duration(left_s)} left")

    def line(self, text: str) -> None:
        print_text(f"{printable(text)}\n", stream=sys.stderr)


class _Live:
    def __init__(self, display: object, task: object) -> None:
        self._display, self._task = display, task

    def step(
        self, text: str, *, done: int, total: int | None, left_s: float | None, part: bool = False
    ) -> None:
        left = "" if left_s is None else f"about {duration(left_s)} left"
        self._display.update(self._task, description=_one_line(text), completed=done, total=total, left=left)  # type: ignore[attr-defined]

    def line(self, text: str) -> None:
        self._display.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)  # type: ignore[attr-defined]


@contextmanager
def _live(color: Color) -> Iterator[_Live]:
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as RichProgress

    console = _console(sys.stderr, width=None, color=wants_color(color, sys.stderr))
    display = RichProgress(
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        console=console,
        transient=True,
        refresh_per_second=4,
    )
    with display:
        yield _Live(display, display.add_task("", total=None, left=""))


def duration(seconds: float) -> str:
    """``8 s``, ``2 min 05 s``, ``1 h 20 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _console(stream: TextIO, *, width: int | None, color: bool) -> Console:
    from rich.console import Console

    return Console(
        file=stream,
        width=width,
        force_terminal=color or None,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def _one_line(text: str) -> str:
    return printable(text).replace("\n", " ")


def _renderables(block: Block, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    match block:
        case Heading(text):
            yield Text(_one_line(text), style="bold")
        case Paragraph(text):
            yield Text(_one_line(text))
        case Bullets(items):
            for item in items:
                yield _hanging("-", item)
        case Table(columns, rows):
            yield _table(Table(columns, rows))
        case Bars(title, bars):
            yield Text(title)
            # Long names, as of files, leave room for a bar.
            labels = [shorten(_one_line(each.label), width // 2) for each in bars]
            label_width = max(len(label) for label in labels)
            text_width = max(len(each.text) for each in bars)
            length = max(1, min(50, width - label_width - text_width - 6))
            for label, each in zip(labels, bars, strict=True):
                line = f"{label:<{label_width}}  {each.text:>{text_width}}  "
                yield Text.assemble(line, (bar(each.value, length), "green"))


def shorten(text: str, width: int) -> str:
    """``text``, with its middle left out where it is longer than ``width``."""
    return text if len(text) <= width else f"{text[: width // 2]}…{text[len(text) - (width - 1) // 2 :]}"


def bar(value: float | None, length: int) -> str:
    """A share from 0 to 1 as ``length`` characters, ``?`` where it is unknown."""
    if value is None:
        return "?"
    filled = round(value * length)
    # Something that was reused, or read, must not vanish by rounding.
    filled = max(1, filled) if value > 0 else 0
    return "#" * filled + "." * (length - filled)


def _hanging(mark: str, text: str) -> RenderableType:
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(mark, Text(_one_line(text)))
    return grid


def _table(table: Table) -> RenderableType:
    from rich.box import Box
    from rich.table import Table as RichTable
    from rich.text import Text

    rule = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
    # Two columns of air: one from the padding, one that the box puts between columns.
    rich_table = RichTable(
        box=rule, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for column in table.columns:
        rich_table.add_column(Text(column.title), justify=column.align, overflow="fold")
    for row in table.rows:
        rich_table.add_row(*(Text(_one_line(cell)) for cell in row))
    return rich_table


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:
        return False
