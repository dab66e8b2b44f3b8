"""What a run of lint gives: findings, and what became of the files."""

from typing import NamedTuple

from promptorder.model.lint import Finding, Problem

SEVERITIES = ("info", "warning", "error")
"""From the mildest to the worst."""
CHANGES = (
    "request",
    "turn",
    "session",
    "process",
    "day",
    "checkout",
    "machine",
    "user",
    "rendering",
    "never-cached",
    "unknown",
)
"""How often a value can change."""


class FileRead(NamedTuple):
    """A file that lint looked at: ``form`` is empty where it was left alone, and ``reason`` says why either way."""

    path: str
    form: str
    reason: str


class LintResult(NamedTuple):
    """All that a run of lint found; findings stand in the order of files and places.

    ``files`` are those that hold a prompt, ``skipped`` those that were left alone though they were named or look like
    a prompt by name. ``suppressed`` counts findings that an inline comment silences, ``baselined`` those that the
    baseline knows.
    """

    findings: tuple[Finding, ...] = ()
    errors: tuple[Problem, ...] = ()
    files: tuple[FileRead, ...] = ()
    skipped: tuple[FileRead, ...] = ()
    suppressed: int = 0
    baselined: int = 0

    def count(self, severity: str) -> int:
        """How many findings have this severity."""
        return sum(1 for finding in self.findings if finding.severity == severity)

    def reaches(self, severity: str) -> bool:
        """Whether a finding is as bad as ``severity`` or worse; ``never`` is never reached."""
        if severity == "never":
            return False
        enough = SEVERITIES[SEVERITIES.index(severity) :]
        return any(finding.severity in enough for finding in self.findings)
