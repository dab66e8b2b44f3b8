"""Annotations for a pull request on GitHub, and the rest in the job's summary."""

from __future__ import annotations

from collections.abc import Sequence

from promptorder.lint.formats import Style
from promptorder.lint.formats._words import conclusion, printable, worst_first
from promptorder.model.lint import Finding
from promptorder.model.lint_result import SEVERITIES, LintResult

SUMMARY = "Annotations for GitHub Actions; what does not fit goes to the job's summary."
MOST = 10
"""GitHub shows so many annotations of each level of one step."""
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(result: LintResult, style: Style) -> str:
    """Workflow commands, the worst first, then one line for whoever reads the log."""
    lines = [_annotation(finding) for finding in _shown(result)]
    lines += [
        f"::warning file={_property(problem.path)},line={problem.line or 1}::{_data(problem.message)}"
        for problem in result.errors[: max(0, MOST - result.count("warning"))]
    ]
    return "\n".join([*lines, conclusion(result)]) + "\n"


def job_summary(result: LintResult) -> str:
    """Markdown: all findings in a table, the worst first."""
    parts = ["### promptorder lint", "", _cell(conclusion(result)), ""]
    if result.findings:
        parts += ["| place | rule | severity | what |", "| --- | --- | --- | --- |"]
        parts += [
            f"| {_cell(f'{finding.path}:{finding.line}')} | {finding.code} {finding.name} | {finding.severity} "
            f"| {_cell(finding.message)} |"
            for finding in worst_first(result.findings)
        ]
        parts.append("")
    parts += [
        f"- {_cell(f'{problem.path}:{problem.line or 1}')}: {_cell(problem.message)}"
        for problem in result.errors
    ]
    return "\n".join(parts).rstrip() + "\n\n"


def _shown(result: LintResult) -> Sequence[Finding]:
    by_level = dict.fromkeys(SEVERITIES, 0)
    shown = []
    for finding in worst_first(result.findings):
        by_level[finding.severity] += 1
        if by_level[finding.severity] <= MOST:
            shown.append(finding)
    return shown


def _annotation(finding: Finding) -> str:
    place = f"file={_property(finding.path)},line={finding.line},endLine={finding.end_line}"
    if finding.line == finding.end_line:  # columns of two lines confuse GitHub
        place += f",col={finding.column},endColumn={finding.end_column}"
    title = _property(f"{finding.code} {finding.name}")
    return (
        f"::{_COMMANDS[finding.severity]} {place},title={title}::{_data(f'{finding.message}. {finding.tip}')}"
    )


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cell(text: str) -> str:
    """Text from a file inside of a Markdown table: nothing in it may be read as Markdown or HTML."""
    plain = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{c}" if c in "\\|`*_[]{}#@" else c for c in plain)
