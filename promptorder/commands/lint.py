"""``promptorder lint``: what changes before static text, in prompts of every form."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from promptorder.forms import REGISTRY as FORMS
from promptorder.lint.formats import REGISTRY as FORMATS
from promptorder.settings import Key, Settings

if TYPE_CHECKING:
    from promptorder.lint.formats import Style
    from promptorder.lint_api import Linting
    from promptorder.model.lint_result import LintResult

TABLES = {
    "per-file-ignores": Key("per_file_ignores", "a table of lists"),
    "severity": Key("severity", "a table of texts"),
    "variables": Key("variables", "a table of texts"),
}
"""Settings that are tables, and so have no option."""
_NOTES = 3


@click.command(name="lint", short_help="Find what changes before static text in prompts.")
@click.argument("paths", nargs=-1)
@click.option(
    "--select", multiple=True, metavar="RULE", help="Only these rules: PO101, timestamp, PO1. Repeatable."
)
@click.option("--ignore", multiple=True, metavar="RULE", help="All but these rules. Repeatable.")
@click.option(
    "--include", multiple=True, metavar="PATTERN", help="Files of a folder that are prompts too. Repeatable."
)
@click.option(
    "--exclude", multiple=True, metavar="PATTERN", help="Files and folders to leave alone. Repeatable."
)
@click.option("--force-exclude", is_flag=True, help="Leave them alone even if they are named.")
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS.names()),
    metavar="FORM",
    help=f"Read every file as this: {', '.join(FORMS.names())}.",
)
@click.option("--stdin-filename", metavar="PATH", help="The name and place of what - reads.")
@click.option(
    "--min-tokens",
    type=click.IntRange(1),
    help="Report what makes at least so many static tokens be read again. Default: 40, behind a question 80.",
)
@click.option("--baseline", metavar="FILE", help="Report only what this file does not know yet.")
@click.option("--write-baseline", is_flag=True, help="Write what is found into that file instead.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS.names()),
    default="text",
    show_default=True,
    help="What standard output carries.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FORMAT=FILE",
    help="Write another format as well. Repeatable.",
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option(
    "--fail-on",
    type=click.Choice(["info", "warning", "error", "never"]),
    default="warning",
    show_default=True,
    help="Exit with 1 from this severity on.",
)
@click.option(
    "--show-files", is_flag=True, help="Print which files are read, as what, and why; lint nothing."
)
@click.option("--list-rules", is_flag=True, help="Print all rules.")
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **options: Any) -> int:
    """Find what makes a server read a prompt again.

    PATHS are files and folders, - is standard input; without any, the working folder. In folders, lint
    reads what is plainly a prompt (*.prompt, *.prompty, *.j2, *.jinja, *.mustache, *.hbs, Modelfile*,
    prompts/**), and Python, JavaScript, JSON, YAML and TOML files that hold one.

    \b
    Examples:
      promptorder lint prompts/ agent.py
      promptorder lint --select timestamp,PO11 --format github
      promptorder lint --baseline lint.json --write-baseline
    """
    if ctx.find_root().meta.get("promptorder.show_settings"):
        from promptorder.commands._settings import show_settings_if_asked

        show_settings_if_asked(ctx)
        return 0
    if options["list_rules"]:
        return _list_rules()
    outputs = [_output(text) for text in options["outputs"]]
    linting = _linting(ctx, options)
    result = linting.run(paths or (".",))
    if options["show_files"]:
        return _show_files(result)
    for format_, path in outputs:
        _write_output(format_, path, result, statistics=options["statistics"])
    _print(ctx, options, result)
    _note(ctx, options, result)
    if result.reaches(options["fail_on"]):
        return 1
    return 3 if result.errors and not result.files else 0


def _linting(ctx: click.Context, options: dict[str, Any]) -> Linting:
    from promptorder.lint_api import Linting, LintSettings

    file = ctx.find_object(Settings)
    path = str(file.path) if file is not None and file.path is not None else ""
    given = {name for name in options if not _is_setting(ctx, name)}
    tables = {name: value for name, value in (ctx.default_map or {}).items() if name in LintSettings._fields}
    baseline = options["baseline"]
    if baseline is not None and "baseline" not in given:
        baseline = os.path.join(os.path.dirname(path), baseline)
    known = {name: value for name, value in options.items() if name in LintSettings._fields}
    settings = LintSettings(**{**tables, **known, "baseline": baseline})
    return Linting(
        settings._replace(
            root=os.path.dirname(os.path.abspath(path)) if path else None,
            settings_name=path,
            given=frozenset(given),
        )
    )


def _is_setting(ctx: click.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def _style(ctx: click.Context, *, statistics: bool) -> Style:
    from promptorder.lint.formats import Style

    color = ctx.find_root().meta.get("promptorder.color", "auto")
    if color == "never" or (color == "auto" and not sys.stdout.isatty() and not os.environ.get("COLUMNS")):
        return Style(statistics=statistics)
    from promptorder.console import wants_color, width_of

    return Style(width_of(sys.stdout), wants_color(color, sys.stdout), statistics)


def _print(ctx: click.Context, options: dict[str, Any], result: LintResult) -> None:
    module = FORMATS.load(options["format_"])
    _write(module.render(result, _style(ctx, statistics=options["statistics"])))
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if page and hasattr(module, "job_summary"):
        from pathlib import Path

        from promptorder.store import append

        append(Path(page), module.job_summary(result))


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _note(ctx: click.Context, options: dict[str, Any], result: LintResult) -> None:
    """Say on standard error what the formats do not: files left alone, and where the baseline is."""
    notes = [("note", f"{file.path} was left alone: {file.reason}") for file in result.skipped[:_NOTES]]
    if len(result.skipped) > _NOTES:
        notes.append(("note", f"and {len(result.skipped) - _NOTES} more files; --show-files lists them"))
    if options["write_baseline"]:
        notes.append(("note", f"{options['baseline']} now knows {result.baselined} findings of these files"))
    if result.errors and not result.files:
        notes.append(("error", "not one of the files could be read"))
        notes.append(("help", "the result says why; --as FORM reads them as another form"))
    if not notes:
        return
    from promptorder.console import print_note

    sys.stdout.flush()
    for label, text in notes:
        print_note(label, text, color=ctx.find_root().meta.get("promptorder.color", "auto"))


def _output(text: str) -> tuple[str, str]:
    """Read ``--output FORMAT=FILE``, and find out now that the file can be written."""
    from promptorder.errors import OutputError, UsageError

    format_, equals, path = text.partition("=")
    if not equals or not path or format_ not in FORMATS.names():
        raise UsageError(
            f"cannot read --output {text}",
            hint=f"write a format ({', '.join(FORMATS.names())}) and a file: sarif=lint.sarif",
        )
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(folder, os.W_OK):
        reason = "it is a folder" if os.path.isdir(path) else f"nothing can be written in {folder}"
        raise OutputError(f"cannot write {path}: {reason}", hint="name another file")
    return format_, path


def _write_output(format_: str, path: str, result: LintResult, *, statistics: bool) -> None:
    from pathlib import Path

    from promptorder.lint.formats import Style
    from promptorder.store import write_output

    write_output(Path(path), FORMATS.load(format_).render(result, Style(statistics=statistics)))


def _show_files(result: LintResult) -> int:
    from promptorder.console import printable

    rows = [
        *((printable(file.path), file.form or "-", file.reason) for file in (*result.files, *result.skipped)),
        *((printable(problem.path), "-", problem.message) for problem in result.errors),
    ]
    path_width = max((len(path) for path, _, _ in rows), default=0)
    form_width = max((len(form) for _, form, _ in rows), default=0)
    for path, form, reason in rows:
        _write(f"{path:<{path_width}}  {form:<{form_width}}  {printable(reason)}\n")
    return 0


def _list_rules() -> int:
    from promptorder.lint.pages import name_of, rules, summary

    every = rules()
    width = max(len(name_of(rule)) for rule in every)
    for rule in every:
        _write(f"{rule.CODE}  {name_of(rule):<{width}}  {rule.SEVERITY:<7}  {summary(rule)}\n")
    return 0
