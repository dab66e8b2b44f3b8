"""``promptorder compare``: measure layouts of a document and questions on a real model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promptorder.commands._engine import engine_options, parse_headers, plugin_names, stopping_politely
from promptorder.commands._format import format_option
from promptorder.commands._settings import show_settings_if_asked
from promptorder.errors import PromptorderError, UsageError

if TYPE_CHECKING:
    from promptorder.api import CompareSettings, Comparing
    from promptorder.console import Color
    from promptorder.model.comparison import Comparison
    from promptorder.model.run import Run


@click.command(name="compare", short_help="Measure prompt layouts of a document on a real model.")
@click.argument("document")
@click.option(
    "--questions", "-q", metavar="FILE", help="One question a line, or JSON lines; - is standard input."
)
@engine_options
@click.option("--allow-remote", is_flag=True, help="Let the document go to a cloud model.")
@click.option(
    "--layout",
    "layouts",
    multiple=True,
    metavar="NAME|FILE",
    help=f"Repeatable. {', '.join(plugin_names('layouts', 'layout'))}, or a file with [system] and [user] sections. "
    "Default: static-first, question-first, clock-first.",
)
@click.option("--rules", metavar="TEXT|FILE", help="The instructions that stand in every prompt.")
@click.option("--pages", metavar="RANGES", help="Pages of a PDF, such as 20-31 or 1-3,7.")
@click.option("--password", metavar="TEXT", help="The password of a PDF.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Measure each layout so often, in a shuffled order each time.",
)
@click.option(
    "--num-ctx", type=click.IntRange(16), help="The context in tokens. Default: what the prompts need."
)
@click.option(
    "--num-predict",
    type=click.IntRange(1),
    default=80,
    show_default=True,
    help="Tokens of an answer at most.",
)
@click.option(
    "--seed",
    type=int,
    default=7,
    show_default=True,
    help="The seed of every call, at temperature 0, and of the order of the repeats.",
)
@click.option(
    "--check-answers",
    is_flag=True,
    help="Ask a follow-up of each layout again cold, and compare the answers.",
)
@click.option(
    "--clock-gap",
    "clock_gap_s",
    type=click.FloatRange(0),
    default=1.1,
    show_default=True,
    metavar="SECONDS",
    help="Wait before each follow-up of a layout with a clock.",
)
@click.option(
    "--cold",
    type=click.Choice(["unload", "nonce"]),
    help="How each layout starts cold: unload the model, or begin with a random line. "
    "Default: unload on this machine, nonce on another.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Longest silence of the server. Default: by the speed seen, 900 at first.",
)
@click.option(
    "--server-log",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The server's own log: what it says was reused is taken from there.",
)
@click.option(
    "--calibration",
    type=click.Path(path_type=Path),
    metavar="RUN.json",
    help="An earlier run of this model and context: its calibration is used again where nothing is counted.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="RUN.json", help="Keep the run, with every sample."
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a report too; its name says which: .html, .md, .csv, .json, .txt. Repeatable.",
)
@click.option("--resume", is_flag=True, help="Go on with a run that broke off.")
@click.option(
    "--dry-run", is_flag=True, help="Show prompts, calls and an estimate of the time; measure nothing."
)
@click.option(
    "--show-prompt",
    is_flag=True,
    help="Print the first prompt of each layout as sent, and as the model sees it.",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="LAYOUT=SHARE",
    help="Exit with 1 if less was reused, such as static-first=0.9; 5 if it cannot be told.",
)
@format_option(plugin_names("reports", "format"), default="table")
@click.option("--quiet", is_flag=True, help="No progress and no notes; the result alone.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Measure what the order of a prompt costs, on your own model.

    DOCUMENT is a PDF, text, Markdown or HTML file, or - for standard input. Each layout sends it with
    every question, starting cold; the table shows how much of each prompt was read again.

    \b
    Examples:
      promptorder compare report.pdf --questions questions.txt
      promptorder compare report.pdf -q questions.txt --pages 20-31 --out run.json
      promptorder compare - -q questions.txt --layout static-first --layout mine.txt < notes.md
    """
    if show_settings_if_asked(ctx):
        return 0
    from promptorder.api import Comparing
    from promptorder.console import print_note

    color: Color = ctx.find_root().meta.get("promptorder.color", "auto")
    settings = _settings(options)
    gates = _gates(options["fail_under"])
    quiet = options["quiet"]
    reports = _reports(options["reports"], options["format_"])

    def note(text: str) -> None:
        if not quiet:
            print_note("note", text, color=color)

    with stopping_politely(), Comparing(settings, stdin=sys.stdin.buffer) as comparing:
        unknown = sorted(set(gates) - {layout.name for layout in comparing.plan.layouts})
        if unknown:
            raise UsageError(
                f"--fail-under names {unknown[0]}, which is not measured", hint="add it with --layout"
            )
        for text in comparing.plan.document.notes:
            note(text)
        if options["show_prompt"]:
            return _show_prompts(comparing, note)
        if not options["dry_run"]:
            comparing.open_output()
        comparing.connect()
        for text in _notes(comparing):
            note(text)
        comparing.prepare()
        if options["dry_run"]:
            return _dry_run(comparing)
        _measure(comparing, quiet=quiet, color=color, note=note)
        run = comparing.run
    result = run.comparison
    _print(run, options["format_"], color)
    if settings.out is not None:
        note(f"the run is in {settings.out}")
    _write_reports(run, reports, note)
    return _gate(result, gates) or _all_failed(result)


def _settings(options: dict[str, Any]) -> CompareSettings:
    from dataclasses import fields

    from promptorder.api import CompareSettings

    if not options["questions"]:
        raise UsageError(
            "there are no questions: --questions is missing",
            hint="write one question a line into a file, and name it",
        )
    known = {field.name for field in fields(CompareSettings)}
    values = {key: value for key, value in options.items() if key in known}
    values["layouts"] = tuple(options["layouts"])
    values["headers"] = parse_headers(options["headers"])
    values["gates"] = _gates(options["fail_under"])
    return CompareSettings(**values)


def _gates(texts: tuple[str, ...]) -> dict[str, float]:
    gates = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not name or not 0 <= share <= 1:
            raise UsageError(
                f"cannot read --fail-under {text}", hint="write a layout and a share: static-first=0.9"
            )
        gates[name] = share
    return gates


def _notes(comparing: Comparing) -> Iterator[str]:
    engine = comparing.engine
    if comparing.why_engine:
        yield comparing.why_engine
    place = engine.info.document_goes_to
    if place:
        cold = (
            "so as not to disturb others, each layout starts with a random line instead of an unloaded model"
            if engine.cold == "nonce"
            else "its model is unloaded before each layout"
        )
        yield f"the document is sent to {place}, which is not this machine; {cold}"
    yield from engine.info.notes


def _measure(comparing: Comparing, *, quiet: bool, color: Color, note: Any) -> None:
    from promptorder.commands._progress import watch
    from promptorder.console import progress

    try:
        with progress(quiet=quiet, color=color) as display:
            watch(comparing, display)
    except (PromptorderError, KeyboardInterrupt):
        if comparing.saved_samples:
            resume = "repeat the command with --resume to go on"
            note(f"{comparing.saved_samples} finished samples are safe in {comparing.saved_to}; {resume}")
        raise


def _show_prompts(comparing: Comparing, note: Any) -> int:
    from datetime import datetime

    from promptorder.console import print_text, printable
    from promptorder.errors import EngineError

    # On a terminal a document's control characters could do harm; a file or a pipe gets them as they are.
    def show(text: str) -> None:
        print_text((printable(text) if sys.stdout.isatty() else text) + "\n")

    engine = None
    try:
        comparing.connect()
        engine = comparing.engine
    except EngineError as error:
        note(f"{error}, so the model's template cannot be shown")
    for layout in comparing.plan.layouts:
        prompt = comparing.plan.sketch(layout, datetime.now())[0]
        show(f"===== {layout.name}: sent =====")
        for message in prompt.messages:
            show(f"----- {message.role} -----\n{message.text}")
        rendered = engine.render(prompt) if engine is not None else None
        if rendered is not None:
            show(f"===== {layout.name}: as the model sees it =====\n{rendered}")
        elif engine is not None:
            note(f"{engine.info.name} {engine.info.version} does not show a prompt as the model sees it")
    return 0


def _dry_run(comparing: Comparing) -> int:
    from promptorder.commands._progress import dry_run_report
    from promptorder.console import print_text, render_report, width_of

    report = dry_run_report(comparing)
    print_text(render_report(report, width=width_of(sys.stdout), color=False))
    return 0


def _reports(paths: tuple[Path, ...], shown: str) -> dict[Path, str]:
    """The format of each report; that all can be made and written is known before anything is measured."""
    from promptorder.reports import check_format, format_of
    from promptorder.store import check_writable

    if shown == "html" and sys.stdout.isatty():
        raise UsageError("a page is not for the terminal", hint="use --report report.html instead")
    reports = {path: format_of(str(path)) for path in paths}
    for name in (shown, *reports.values()):
        check_format(name)
    for path in reports:
        check_writable(path)
    return reports


def _write_reports(run: Run, reports: dict[Path, str], note: Any) -> None:
    from promptorder.model.run import Runs
    from promptorder.reports import REGISTRY
    from promptorder.store import write_output

    for path, name in reports.items():
        write_output(path, REGISTRY.load(name).render_runs(Runs((run,)), width=80, color=False))
        note(f"the report is in {path}")


def _print(run: Run, format_: str, color: Color) -> None:
    from promptorder.console import print_text, wants_color, width_of
    from promptorder.reports import REGISTRY

    text = REGISTRY.load(format_).render(
        run, width=width_of(sys.stdout), color=wants_color(color, sys.stdout)
    )
    print_text(text)


def _gate(result: Comparison, gates: dict[str, float]) -> int:
    """0 where every gate is met, 1 where one is missed for sure, 5 where the band covers one."""
    from promptorder.console import print_note

    code = 0
    for name, share in gates.items():
        layout = result.layout(name)
        estimate = layout.reused_fraction
        if layout.verdict.value == "void" or estimate.low is None or estimate.high is None:
            print_note("error", f"{name}: what was reused cannot be told, so the gate {share} was not tested")
            code = code or 5
        elif estimate.high < share:
            print_note("error", f"{name}: at most {estimate.high:.3f} was reused, the gate is {share}")
            code = 1
        elif estimate.low < share:
            print_note(
                "error",
                f"{name}: {estimate.low:.3f} to {estimate.high:.3f} was reused, the gate {share} lies between",
            )
            code = code or 5
    return code


def _all_failed(result: Comparison) -> int:
    """4 where not one reply came whole: then nothing was measured at all."""
    from promptorder.console import print_note

    if any(sample.sample.reply for layout in result.layouts for sample in layout.samples):
        return 0
    print_note("error", "not one reply came whole, so nothing was measured")
    print_note("help", "try the model by hand (`ollama run`); the server's log says more")
    return 4
