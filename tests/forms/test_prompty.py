"""Prompty files, and ``.prompt`` files with front matter."""

from __future__ import annotations

import pytest
from linted import RULES, found, prompts

from promptorder.forms import FormError

HEAD = """---
name: Tea counter
created: 2031-05-06T07:08:09Z
inputs:
  question: {type: string}
  now: 2031-05-06 07:08
sample:
  request_id: 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10
---
"""
LINES = HEAD.count("\n")

CASES = {
    "clean": (HEAD + "system:\n" + RULES + "\nuser:\n{{question}}\n", []),
    "clock in the system message": (
        HEAD + "system:\nIt is {{now}}.\n" + RULES + "user:\n{{question}}",
        [(2, "clock-variable")],
    ),
    "call in the system message": (
        HEAD + "system:\nIt is {{ now() }}.\n" + RULES + "user:\n{{question}}",
        [(2, "template-clock")],
    ),
    "literal date": (HEAD + "system:\nToday is 2031-05-06.\n" + RULES + "user:\n{{question}}", [(2, "date")]),
    "customer": (
        HEAD + "system:\nYou speak with {{customer.first_name}}.\n" + RULES + "user:\n{{question}}",
        [(2, "user-data")],
    ),
    "context before rules": (
        HEAD + "system:\n{{context}}\n" + RULES + "user:\n{{question}}",
        [(2, "retrieved-context")],
    ),
    "context in the user message": (
        HEAD + "system:\n" + RULES + "user:\nAbout {{context}}:\n{{question}}",
        [],
    ),
    "history": (
        HEAD
        + "system:\nIt is {{ now() }}.\n{% for item in history %}\n{{item.role}}:\n{{item.content}}\n{% endfor %}\n"
        + "user:\n{{question}}",
        [(2, "template-clock")],
    ),
    "question before rules": (
        HEAD + "system:\nBe kind.\nuser:\n{{question}}\n" + RULES * 2,
        [(4, "question-first")],
    ),
    "examples": (
        HEAD + "system:\n" + RULES + "user:\nQuestion: at 2031-05-06 07:08, is it open?\nassistant:\nYes.\n"
        "user:\nToday is 2031-05-06. What now?\nassistant:\nTea.\nuser:\n{{question}}",
        [],
    ),
    "mustache": (
        HEAD.replace("name:", "template: mustache\nname:", 1)
        + "system:\n{{#memories}}\n- {{text}}\n{{/memories}}\n"
        + RULES
        + "user:\n{{question}}",
        [(3, "retrieved-context")],
    ),
    "mustache by its tags": (
        HEAD + "system:\n{{#memories}}\n- {{text}}\n{{/memories}}\n" + RULES + "user:\n{{question}}",
        [(2, "retrieved-context")],
    ),
    "marker with a number sign": (
        HEAD + "# system:\nIt is {{now}}.\n" + RULES + "# user:\n{{question}}",
        [(2, "clock-variable")],
    ),
    "a word that is no marker": (HEAD + "system:\n" + RULES + "The user: {{question}}\n", []),
}


@pytest.mark.parametrize("name", CASES)
def test_prompty(name: str) -> None:
    text, expected = CASES[name]
    assert found(text, "prompty", "tea.prompty") == [(LINES + line, rule) for line, rule in expected]


@pytest.mark.parametrize("name", CASES)
def test_line_ends_of_other_systems(name: str) -> None:
    text, expected = CASES[name]
    text = text.replace("\n", "\r\n")
    assert found(text, "prompty", "tea.prompty") == [(LINES + line, rule) for line, rule in expected]


def test_roles_and_what_is_sent() -> None:
    segments = prompts(HEAD + "system:\nA\nuser:\nB {{q}}\nassistant:\nC\nuser:\n{{q}}", "prompty")[
        0
    ].segments
    assert [(s.role, s.text) for s in segments] == [
        ("system", "A\n"), ("prompt", "B "), ("prompt", "{{q}}"), ("prompt", "\n"), ("prompt", "C\n"), ("prompt", "{{q}}"),
    ]  # fmt: skip


def test_without_front_matter() -> None:
    assert found("system:\nIt is {{now}}.\n" + RULES, "prompty") == [(2, "clock-variable")]


def test_front_matter_that_is_not_closed() -> None:
    with pytest.raises(FormError) as error:
        prompts("---\nname: x\nsystem:\nA", "prompty")
    assert error.value.line == 1


def test_front_matter_of_a_prompt_file_is_not_sent() -> None:
    text = HEAD + "{{role 'system'}}\n" + RULES + "{{role 'user'}}{{question}}"
    assert found(text, "text", "tea.prompt") == []
    assert found(text.replace("{{role 'system'}}", "{{now}}"), "text", "tea.prompt") == [
        (LINES + 1, "template-clock")
    ]
