"""The case folders beside the project: each place is found, and nothing else; skipped where the folders are not there."""

from __future__ import annotations

import pytest
from shared_cases import Score, SharedCase, score, shared_cases

import promptorder

CASES = shared_cases()

pytestmark = pytest.mark.skipif(not CASES, reason="the case folders are not there")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_shared_case_is_right(case: SharedCase) -> None:
    result = promptorder.lint(case.path)
    lines = {finding.line for finding in result.findings if finding.severity != "info"}
    assert not result.errors
    assert score(case, lines) == Score(len(case.wanted), 0, 0), result.findings
