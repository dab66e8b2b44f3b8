"""An examination as a report for people."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Examination, Status
from promptorder.model.report import Column, Paragraph, Report, Table

_COLUMNS = (Column("Status"), Column("What"), Column("Found, and -> what to do"))


def report(examination: Examination) -> Report:
    """A row for each line, its remedy below it, and what it comes to."""
    return Report((Table(_COLUMNS, tuple(_rows(examination))), Paragraph(_summary(examination))))


def _rows(examination: Examination) -> Iterator[tuple[str, str, str]]:
    before = ""
    for each in examination.checks:
        title = each.title if each.title != before else ""
        before = each.title
        yield (each.line.status.value, title, each.line.message)
        if each.line.remedy:
            yield ("", "", f"-> {each.line.remedy}")


def _summary(examination: Examination) -> str:
    problems, notes, unknown = (
        examination.count(each) for each in (Status.PROBLEM, Status.NOTE, Status.UNKNOWN)
    )
    found = "No problem." if not problems else "1 problem." if problems == 1 else f"{problems} problems."
    rest = [
        text
        for number, text in (
            (notes, f"{notes} note{'s' if notes != 1 else ''}"),
            (unknown, f"{unknown} unknown"),
        )
        if number
    ]
    return f"{found} {' and '.join(rest).capitalize()}." if rest else found
