"""SARIF 2.1.0, for code scanning and for editors."""

from __future__ import annotations

from typing import Any

from promptorder._version import __version__
from promptorder.lint.formats import Style
from promptorder.lint.pages import markdown, name_of, plain, rules, summary
from promptorder.model.lint import Finding, Problem
from promptorder.model.lint_result import LintResult

SUMMARY = "SARIF 2.1.0, for code scanning."
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(result: LintResult, style: Style) -> str:
    """The log as JSON."""
    import json

    return json.dumps(to_sarif(result), indent=1) + "\n"


def to_sarif(result: LintResult) -> dict[str, Any]:
    """The log: one run, all rules with their pages, one result a finding."""
    described = [_rule(rule) for rule in rules()]
    index = {rule["id"]: number for number, rule in enumerate(described)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "promptorder",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": described,
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [_notification(problem) for problem in result.errors],
                    }
                ],
                "results": [_result(finding, index[finding.code]) for finding in result.findings],
            }
        ],
    }


def _rule(rule: Any) -> dict[str, Any]:
    return {
        "id": rule.CODE,
        "name": name_of(rule),
        "shortDescription": {"text": summary(rule)},
        "fullDescription": {"text": summary(rule)},
        "help": {"text": plain(rule), "markdown": markdown(rule, heading=False)},
        "defaultConfiguration": {"level": _LEVELS[rule.SEVERITY]},
        "properties": {"tags": ["prompt", "performance"]},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.tip}"},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(finding.path), "region": region}}],
        "relatedLocations": [
            {
                "id": number,
                "physicalLocation": {
                    "artifactLocation": _artifact(related.path),
                    "region": {"startLine": related.line, "endLine": related.end_line},
                },
                "message": {"text": related.message},
            }
            for number, related in enumerate(finding.related, 1)
        ],
        "partialFingerprints": {"promptorder/v1": finding.fingerprint},
        "properties": {
            "changes": finding.changes,
            "confidence": finding.confidence,
            "occurrences": finding.occurrences,
            "strandedTokens": finding.stranded_tokens,
        },
    }


def _notification(problem: Problem) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(problem.path)}
    if problem.line is not None:
        place["region"] = {"startLine": problem.line}
    return {
        "level": "warning",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": place}],
    }


def _artifact(path: str) -> dict[str, str]:
    from urllib.parse import quote

    uri = quote(path.replace("\\", "/").removeprefix("./"), errors="replace")
    return {"uri": f"file://{uri}" if uri.startswith("/") else uri}
