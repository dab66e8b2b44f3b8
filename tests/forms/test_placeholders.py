"""Placeholders in text files: all syntaxes at once, and what only looks like one."""

from __future__ import annotations

import pytest
from linted import RULES, found, prompts

FILLED = {
    "{question}": "question", "{ question }": "question", "{{question}}": "question", "{{ question }}": "question",
    "{{{question}}}": "question", "${question}": "question", "$question": "question", "%(question)s": "question",
    "<%= question %>": "question", "<%- question -%>": "question", "{{$question}}": "question",
    "{{#sys.query#}}": "sys.query",
    "{user.name}": "user.name", "{user[name]}": "user[name]", "{price:.2f}": "price", "{name!r}": "name",
    "{{ $json.chatInput }}": "json.chatInput", "{{ user | upper }}": "user", "{{end_date}}": "end_date", "{{iffy}}": "iffy",
}  # fmt: skip
TEXT = [
    "\\{{ date }}", "\\${date}", "{{! note }}", "{{/if}}", "{{else}}", "{{> part}}", '{"date": 1}', "{ }", "{}", "{{}}",
    "\\frac{date}{time}", "\\d{2}", "costs $5", "a{b}", "`{date}`", "`{{date}}` and `{time}`", "function() { return now; }",
    "{date}: the current day", "- {{name}} becomes the guest", "{{#each items}}", "{one, two}", "#{}", "$(pwd)", "US$date",
]  # fmt: skip


@pytest.mark.parametrize("source", FILLED)
def test_placeholders(source: str) -> None:
    segments = prompts(f"For {source} now", "text", "tea.txt")[0].segments
    assert [s.text for s in segments] == ["For ", source, " now"]
    assert segments[1].name == FILLED[source]
    assert (segments[1].start, segments[1].end) == (4, 4 + len(source))


@pytest.mark.parametrize("text", TEXT)
def test_what_only_looks_like_one(text: str) -> None:
    assert [s.text for s in prompts(text, "text", "tea.txt")[0].segments] == [text]


FINDINGS = {
    "It is {now}.\n": [(1, "template-clock")],
    "It is {current_time}.\n": [(1, "clock-variable")],
    "Day: {{today}}\n": [(1, "template-clock")],
    "Day: ${CURRENT_DATE}\n": [(1, "date-variable")],
    "Day: {{CURRENT_WEEKDAY}}\n": [(1, "date-variable")],
    "Now {{ $now.toISO() }}\n": [(1, "template-clock")],
    "Now {{ new Date().toISOString() }}\n": [(1, "template-clock")],
    "Now {{timestamp}} for %(user_name)s\n": [(1, "clock-variable"), (1, "user-data")],
    "id {{$guid}}\n": [(1, "request-id")],
    "id {{ uuid4() }}\n": [(1, "random-call")],
    "Hello $user_name.\n": [(1, "user-data")],
    "Folder <%= cwd %>\n": [(1, "environment")],
    "Notes:\n```\n{context}\n```\n": [(3, "retrieved-context")],
    "Notes:\n\"\"\"\n{memories}\n\"\"\"\n": [(3, "retrieved-context")],
    "{{SITE}} {{char}} {{model_id}}\n": [],
    "```json\n{\"time\": \"{current_time}\"}\n```\n": [],
    "Use `{current_time}` for the time.\n": [],
    "Format: {date_format}, limit {time_limit}\n": [],
    "Due {due_date}, made {created_at}\n": [],
    "Model {{ created|strftime('%Y') }}\n": [],
}  # fmt: skip


@pytest.mark.parametrize("head", FINDINGS)
def test_what_the_names_say(head: str) -> None:
    assert found(head + RULES, "text", "tea.txt") == FINDINGS[head]


@pytest.mark.parametrize("head", FINDINGS)
def test_nothing_at_the_end(head: str) -> None:
    assert found(RULES + head, "text", "tea.txt") == []


def test_front_matter_of_markdown_is_not_sent() -> None:
    assert found("---\nmade: {now}\nid: 2031-05-06T07:08:09Z\n---\n" + RULES, "markdown", "tea.md") == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["{x} `" * 40000, "{" * 100000, "{{" * 50000, "${" * 50000, "$a" * 50000, "```\n" * 50000]
)
def test_long_lines_come_to_an_end(text: str) -> None:
    prompts(text, "text", "tea.txt")
