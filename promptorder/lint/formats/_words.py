"""What the formats for people share: sentences, an order, and text that is safe to show."""

from __future__ import annotations

from collections.abc import Iterable

from promptorder.model.lint import Finding
from promptorder.model.lint_result import SEVERITIES, LintResult


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """By severity, then by what is lost; equal ones stay as they stand."""
    return sorted(findings, key=lambda f: (-SEVERITIES.index(f.severity), -(f.stranded_tokens or 0)))


def conclusion(result: LintResult) -> str:
    """One sentence: what was found, in how many files, at what cost, and what is left out of it."""
    if not result.files and not result.findings:
        text = "no prompts found"
    elif not result.findings:
        text = f"nothing found in {_many(len(result.files), 'file')}"
    else:
        counted = ", ".join(
            _many(result.count(severity), severity)
            if severity != "info"
            else f"{result.count(severity)} info"
            for severity in reversed(SEVERITIES)
            if result.count(severity)
        )
        touched = len({finding.path for finding in result.findings})
        text = f"{counted} in {touched} of {_many(len(result.files), 'file')}"
        lost = sum(finding.stranded_tokens or 0 for finding in result.findings)
        if lost:
            text += f", about {lost:,} tokens read again for nothing"
    more = [f"{_many(len(result.errors), 'file')} not read"] if result.errors else []
    more += [f"{result.suppressed} suppressed"] if result.suppressed else []
    more += [f"{result.baselined} in the baseline"] if result.baselined else []
    return f"{text} ({', '.join(more)})" if more else text


def printable(text: str) -> str:
    """``text`` without what would steer a terminal: white space as a space, the rest as U+FFFD; one character each."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
