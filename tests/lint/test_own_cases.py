"""The kinds of the public reports in texts of our own, in every form: each place is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import own_code_cases
import own_harmless_cases
import own_request_cases
import own_template_cases
import own_text_cases
import pytest
from own_cases import OwnCase
from shared_cases import Score, score

import promptorder

CASES = [
    *own_harmless_cases.CASES,
    *own_text_cases.CASES,
    *own_template_cases.CASES,
    *own_code_cases.CASES,
    *own_request_cases.CASES,
]


def test_names_are_given_once() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_own_case_is_right(case: OwnCase, tmp_path: Path) -> None:
    path = tmp_path / case.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(case.content, encoding="utf-8", newline="")
    result = promptorder.lint(path)
    wanted = case.expected()
    assert not result.errors
    lines = {finding.line for finding in result.findings if finding.severity != "info"}
    assert score(wanted, lines) == Score(len(wanted.wanted), 0, 0), (result.findings, wanted)
