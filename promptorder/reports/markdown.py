"""For a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.console import printable
from promptorder.model.report import Bars, Block, Bullets, Heading, Paragraph, Table
from promptorder.model.run import Run, Runs
from promptorder.reports._build import build_report

SUMMARY = "for a pull request or a wiki"
SUFFIXES = (".md", ".markdown")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~&])")
_LIST_START = re.compile(r"^(\d*)([-+=.)])")


def render(run: Run, *, width: int, color: bool) -> str:
    """GitHub's Markdown; text from document and model is escaped."""
    return render_runs(Runs((run,)), width=width, color=color)


def render_runs(runs: Runs, *, width: int, color: bool) -> str:
    """The same for one or several runs."""
    lines = [line for block in build_report(runs).blocks for line in _block(block)]
    return "\n".join(["## Prompt layouts compared", "", *lines]).rstrip() + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            yield f"### {_escape(text)}"
        case Paragraph(text):
            yield _prose(text)
        case Bullets(items):
            yield from (f"- {_prose(item)}" for item in items)
        case Table(columns, rows):
            yield "| " + " | ".join(_escape(column.title) for column in columns) + " |"
            yield "|" + "|".join(" ---: " if column.align == "right" else " --- " for column in columns) + "|"
            yield from ("| " + " | ".join(_escape(cell) for cell in row) + " |" for row in rows)
        case Bars():
            return  # the table above says the same
    yield ""


def _prose(text: str) -> str:
    return _LIST_START.sub(r"\1\\\2", _escape(text))


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))
