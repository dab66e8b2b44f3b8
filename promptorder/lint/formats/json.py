"""``promptorder.lint/1``: one object for programs."""

from __future__ import annotations

from typing import Any

from promptorder._version import __version__
from promptorder.lint.formats import Style
from promptorder.model.lint import Finding
from promptorder.model.lint_result import SEVERITIES, LintResult

SUMMARY = "One JSON object, promptorder.lint/1."
SCHEMA = "promptorder.lint/1"


def render(result: LintResult, style: Style) -> str:
    """The object on lines of its own."""
    import json

    # ASCII alone: a program with another encoding reads it too, and half a surrogate pair does no harm.
    return json.dumps(to_json(result), indent=1) + "\n"


def to_json(result: LintResult) -> dict[str, Any]:
    """The object of the contract."""
    findings = result.findings
    codes = sorted({finding.code for finding in findings})
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "findings": [_finding(finding) for finding in findings],
        "errors": [problem._asdict() for problem in result.errors],
        "skipped": [{"path": file.path, "reason": file.reason} for file in result.skipped],
        "summary": {
            "files": len(result.files),
            "findings": len(findings),
            "suppressed": result.suppressed,
            "baselined": result.baselined,
            "by_severity": {severity: result.count(severity) for severity in reversed(SEVERITIES)},
            "by_rule": {code: sum(1 for finding in findings if finding.code == code) for code in codes},
            "stranded_tokens": sum(finding.stranded_tokens or 0 for finding in findings),
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    value = finding._asdict()
    del value["line_text"]
    value["related"] = [related._asdict() for related in finding.related]
    value["stranded_tokens_method"] = None if finding.stranded_tokens is None else "estimated"
    value["fix"] = None
    return value
