"""Single requests, and files that keep prompts as JSON: what is found in them, and where."""

from __future__ import annotations

import json

import pytest
import request_cases
import request_more_cases
from request_building import RULES
from request_cases import RequestCase

from promptorder.forms import json as json_form
from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Source
from promptorder.providers import anthropic_minimum_tokens


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


def found(content: str, rules: Rules) -> list[Finding]:
    source = Source("request.json", "json", content)
    return list(lint(source, json_form.prompts(source), rules))


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize(
    "case", [*request_cases.CASES, *request_more_cases.CASES], ids=lambda case: case.name
)
def test_what_a_request_holds(case: RequestCase, indent: int | None, rules: Rules) -> None:
    content = json.dumps(case.value, indent=indent)
    findings = [each for each in found(content, rules) if each.severity != "info"]
    lines = content.split("\n")
    assert [each.name for each in findings] == [rule for rule, _ in case.wanted]
    for each, (_, words) in zip(findings, case.wanted, strict=True):
        assert words in lines[each.line - 1]


def test_a_finding_points_at_the_value_behind_escapes(rules: Rules) -> None:
    content = '{"model": "qwen3:8b",\n "messages": [{"role": "system", "content":'
    content += ' "\\u2693 \\"Boats\\"\\n\\ud83d\\udea2 Now: 2026-03-14 09:26:53\\n%s"}]}'
    content %= RULES.replace("\n", "\\n")
    finding = found(content, rules)[0]
    line = content.split("\n")[finding.line - 1]
    assert line[finding.column - 1 : finding.end_column - 1] == "2026-03-14 09:26:53"


def test_the_minimum_is_the_models() -> None:
    assert (
        anthropic_minimum_tokens("claude-haiku-4-5-20251001")
        == anthropic_minimum_tokens("claude-opus-4-6")
        == 4096
    )
    assert (
        anthropic_minimum_tokens("anthropic.claude-3-5-haiku-20241022-v1:0")
        == anthropic_minimum_tokens("claude-opus-4-7")
        == 2048
    )
    assert (
        anthropic_minimum_tokens("claude-sonnet-4-5")
        == anthropic_minimum_tokens("claude-opus-4-8")
        == anthropic_minimum_tokens("claude-opus-4-1")
        == 1024
    )
    assert anthropic_minimum_tokens("claude-opus-5") == 512
