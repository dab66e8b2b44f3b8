"""``promptorder report``: run files as a page, as Markdown, as a table or for programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptorder.commands._format import out_options
from promptorder.commands._settings import show_settings_if_asked
from promptorder.errors import UsageError
from promptorder.plugins import Registry
from promptorder.settings import Key

if TYPE_CHECKING:
    from promptorder.console import Color

TABLES = {"prices": Key("prices", "a table of texts")}
"""Settings that are tables, and so have no option."""


@click.command(name="report", short_help="Show run files as a page, as Markdown, CSV or JSON.")
@click.argument("runs", nargs=-1, metavar="RUN.json...", required=True)
@out_options(Registry("promptorder.reports", "format").names(), default="html")
@click.option(
    "--per-day",
    type=click.IntRange(1),
    metavar="N",
    help="Say what is saved in a day with so many follow-ups.",
)
@click.pass_context
def command(
    ctx: click.Context, /, runs: tuple[str, ...], format_: str | None, out: Path | None, per_day: int | None
) -> int:
    """Make a report of one run, or of several side by side; the first is the base.

    A run is what `promptorder compare --out RUN.json` wrote. Runs of other documents, questions or
    prompts are refused; other models, engines and machines are what one compares.

    \b
    Examples:
      promptorder report run.json --out run.html --per-day 500
      promptorder report before.json after.json --format markdown
    """
    if show_settings_if_asked(ctx):
        return 0
    from promptorder.console import print_note, print_text, wants_color, width_of
    from promptorder.report_api import load_comparable
    from promptorder.reports import REGISTRY, check_format, format_of
    from promptorder.store import check_writable, write_output

    color: Color = ctx.find_root().meta.get("promptorder.color", "auto")
    name = format_ or (format_of(str(out)) if out is not None and out.suffix else "html")
    if name == "html" and out is None and sys.stdout.isatty():
        raise UsageError("a page is not for the terminal", hint="add --out report.html, or --format table")
    check_format(name)
    if out is not None:
        check_writable(out)
    prices = (ctx.default_map or {}).get("prices")
    loaded = load_comparable(runs, per_day=per_day, prices=prices)
    text = REGISTRY.load(name).render_runs(
        loaded, width=width_of(sys.stdout), color=out is None and wants_color(color, sys.stdout)
    )
    if out is None:
        print_text(text)
        return 0
    write_output(out, text)
    print_note("note", f"the report is in {out}", color=color)
    return 0
