"""Logs of requests: what was lost between them, on which line it shows, and what is no loss at all."""

from __future__ import annotations

import log_around_cases
import log_form_cases
import log_head_cases
import log_history_cases
import pytest
from request_building import RULES, Case, chat, session, text

from promptorder.forms import jsonl
from promptorder.lint.engine import lint
from promptorder.lint.logs import Follower
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Source

CASES = [
    *log_head_cases.CASES,
    *log_form_cases.CASES,
    *log_history_cases.CASES,
    *log_around_cases.CASES,
]


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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_stream_says_the_same(case: Case, rules: Rules) -> None:
    content = text(case)
    stream = jsonl.log_findings(content.encode().splitlines(keepends=True), "log.jsonl", rules)
    # A line is quoted up to some length only where it is not in memory any more.
    loose = [
        [each._replace(line_text="", fingerprint="") for each in findings]
        for findings in (stream, found(content, rules))
    ]
    assert loose[0] == loose[1]


def test_what_a_finding_says(rules: Rules) -> None:
    log = Case(
        "",
        session(
            chat(f"Rules.\nClock 10:00:01. {RULES}", "Hi"),
            chat(f"Rules.\nClock 10:00:44. {RULES}", "Hi", "Hello.", "Tea?"),
            chat(f"Rules.\nClock 10:01:20. {RULES}", "Hi", "Hello.", "Tea?", "No.", "Why?"),
        ),
        [],
    )
    (finding,) = found(text(log), rules)
    line = text(log).split("\n")[1]
    assert line[finding.column - 1 : finding.end_column - 1] == "10:00:44."
    assert (finding.severity, finding.occurrences, finding.changes) == ("error", 2, "request")
    assert [related.line for related in finding.related] == [1]
    assert finding.stranded_tokens is not None
    assert 100 < finding.stranded_tokens < 160
    assert "10:00:01. became 10:00:44." in finding.message


def test_a_rule_that_is_off_says_nothing() -> None:
    log = Case(
        "", session(chat(f"10:00:01 {RULES}", "Hi"), chat(f"10:00:44 {RULES}", "Hi", "Hello.", "Tea?")), []
    )
    few = Rules(["tool-order"])
    assert not found(text(log), few)
    assert not list(jsonl.log_findings(text(log).encode().splitlines(keepends=True), "log.jsonl", few))


def test_many_sessions_are_told_in_bounded_room(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptorder.lint.logs._MOST_RECORDS", 5)
    lines = [
        line
        for n in range(20)
        for line in session(
            chat(f"10:00:01 {RULES}", "Hi"), chat(f"10:00:44 {RULES}", "Hi", "Hello.", "Tea?"), name=f"s{n}"
        )
    ]
    findings = found(text(Case("", lines, [])), rules)
    assert len(findings) == 5
    assert "15 more sessions" in findings[0].message


def test_what_is_kept_is_bounded(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptorder.lint.logs._BUDGET", 20_000)
    follower = Follower()
    for n in range(200):
        follower.feed({"session": n % 50, "request": chat(RULES, f"Question {n} {'of boats ' * 200}")}, n + 1)
        assert follower.kept_bytes <= 20_000 + 6_000
    assert follower.requests == 200
