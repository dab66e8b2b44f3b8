"""Logs of requests: what was lost between them, on which line it shows, and what is no loss at all."""

from __future__ import annotations

import pytest
from log_cases import CASES, RULES, Case, chat, session, text

from promptorder.forms import FormError, jsonl
from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Source


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


def found(content: str, rules: Rules) -> list[Finding]:
    source = Source("log.jsonl", "jsonl", content)
    return list(lint(source, jsonl.prompts(source), rules))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_log_lost(case: Case, rules: Rules) -> None:
    findings = [(f.line, f.name) for f in found(text(case), rules) if f.severity != "info"]
    assert findings == case.wanted
