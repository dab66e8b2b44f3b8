"""YAML: which keys hold prompts, in which order they are sent, and where in the file their text stands."""

from __future__ import annotations

import contextlib
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linted import RULES, found, prompts

from promptorder.forms import FormError

CLOCK, NAMED, USER, QUESTION, CONTEXT = (
    "template-clock", "clock-variable", "user-data", "question-first", "retrieved-context",
)  # fmt: skip


def block(text: str, spaces: int = 2) -> str:
    return textwrap.indent(text, " " * spaces)


ONE_LINE = " ".join(RULES.split())

CHANGING = {
    "block": ("prompt: |\n" + block("At {{ now() }}.\n" + RULES), [(2, CLOCK)]),
    "folded": ("prompt: >-\n" + block("At {{ current_time }}.\n" + RULES), [(2, NAMED)]),
    "double quotes": (f'system: "At {{clock}}.\\n{ONE_LINE}"\n', [(1, NAMED)]),
    "single quotes": (f"system: 'It''s {{{{ now }}}}. {ONE_LINE.replace(chr(39), '')}'\n", [(1, CLOCK)]),
    "plain": (f"prompt: Asked at {{{{ current_time }}}}. {ONE_LINE.replace(': ', ' ')}\n", [(1, NAMED)]),
    "plain on several lines": (
        "prompt:\n  Asked at\n  {{ current_time }} by\n  {{ user_name }}.\n"
        + block(RULES.replace(": ", " ").replace("'", "")),
        [(3, NAMED), (4, USER)],
    ),
    "system after the user's part": (
        "user: |\n" + block("Ticket: {ticket}") + "\nsystem: |\n" + block("At {clock}\n" + RULES),
        [(4, NAMED)],
    ),
    "system in a map": (
        "prompts:\n  desk:\n    system: |\n" + block("At {clock}\n" + RULES, 6),
        [(4, NAMED)],
    ),
    "messages": (
        "messages:\n  - role: system\n    content: |\n"
        + block("At {{now}}.\n" + RULES, 6)
        + "  - role: user\n    content: '{{question}}'\n",
        [(4, CLOCK)],
    ),
    "messages with an answer": (
        "messages:\n  - role: system\n    content: 'You help at a counter. Time: {{current_time}}'\n"
        "  - role: user\n    content: Which tea is green?\n  - role: assistant\n    content: Sencha.\n"
        "  - role: user\n    content: '{{question}}'\n",
        [(3, NAMED)],
    ),
    "messages of one key": (
        "prompt:\n  - system: |\n" + block("At {clock}.\n" + RULES, 6) + "  - user: '{question}'\n",
        [(3, NAMED)],
    ),
    "content in blocks": (
        "messages:\n  - role: system\n    content:\n      - type: text\n        text: |\n"
        + block("At {{now}}.\n" + RULES, 10),
        [(6, CLOCK)],
    ),
    "a workflow's agent": (
        "nodes:\n  - parameters:\n      promptType: define\n      text: ={{ $json.chatInput }}\n      options:\n"
        f'        systemMessage: "=Time: {{{{ $now }}}}. {ONE_LINE}"\n',
        [(6, CLOCK)],
    ),
    "another workflow's prompt template": (
        "nodes:\n  - data:\n      type: llm\n      prompt_template:\n"
        "        - id: a1\n          role: system\n          text: |\n"
        + block("Question: {{#sys.query#}}\n" + RULES + RULES, 12),
        [(8, QUESTION)],
    ),
    "a workflow's context before its rules": (
        "pre_prompt: |\n" + block("Notes: {{#context#}}\n" + RULES),
        [(2, CONTEXT)],
    ),
    "a hub's template": (
        "_type: prompt\ninput_variables: [context, question]\ntemplate: |\n"
        + block("Notes: {context}\n" + RULES),
        [(4, CONTEXT)],
    ),
    "an evaluation's prompts": ("prompts:\n  - |\n" + block("Now {{now}}\n" + RULES, 4), [(3, CLOCK)]),
    "a home's conversation": (
        "conversation:\n  prompt: >-\n" + block("The time is {{ now().strftime('%X') }}.\n" + RULES, 4),
        [(3, CLOCK)],
    ),
    "a library's prompt file": (
        "name: Tea\nmodel: m\nmodelParameters:\n  temperature: 0\nmessages:\n  - role: system\n    content: >\n"
        + block("Guest {{user_name}}.\n" + RULES, 6)
        + "testData:\n  - question: At 10:15:31?\n",
        [(8, USER)],
    ),
    "instructions of an agent": (
        "agents:\n  tea:\n    instructions: |\n" + block("It is {clock}.\n" + RULES, 6),
        [(4, NAMED)],
    ),
    "a key that ends with prompt": ("summary_prompt: |\n" + block("At {clock}\n" + RULES), [(2, NAMED)]),
    "a literal clock": (
        "system_prompt: |\n" + block("Current time: 2026-03-14T09:26:53Z\n" + RULES),
        [(2, "timestamp")],
    ),
    "second document": ("name: a\n---\nprompt: |\n" + block("At {clock}\n" + RULES), [(4, NAMED)]),
    "behind an anchor": (
        "base: &rules |\n" + block("At {clock}\n" + RULES) + "prompt: *rules\n",
        [(2, NAMED)],
    ),
    "merged": (
        "base: &base\n  system: |\n"
        + block("At {clock}\n" + RULES, 4)
        + "desk:\n  <<: *base\n  user: '{question}'\n",
        [(3, NAMED)],
    ),
    "own tag": ("prompt: !tea |\n" + block("At {clock}\n" + RULES), [(2, NAMED)]),
    "flow": (f'prompts: {{desk: {{system: "At {{clock}}. {ONE_LINE}", user: "{{q}}"}}}}\n', [(1, NAMED)]),
    "other line ends": (("prompt: |\n" + block("At {clock}\n" + RULES)).replace("\n", "\r\n"), [(2, NAMED)]),
}

CLEAN = {
    "clock last": "prompt: |\n" + block(RULES + "At {{ now() }}.\n"),
    "in the user's part": "system: |\n" + block(RULES) + "user: |\n" + block("At {clock}: {question}\n"),
    "user's part first in the file": "user: |\n" + block("At {clock}: {question}\n") + "system: |\n" + block(RULES),
    "metadata": "created: 2026-03-14T09:26:53Z\nid: 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10\nprompt: |\n" + block(RULES),
    "examples": "system: |\n" + block(RULES) + "examples:\n  - ticket: '2026-03-14 09:26 lamp dead'\n    label: tea\n",
    "tests": "prompt: |\n" + block(RULES)
    + "tests:\n  - vars:\n      prompt: 'At 09:26:53: " + ONE_LINE.replace("'", "") + "'\n",
    "a deployment": "kind: Deployment\n"
    "spec:\n  template:\n    metadata:\n      name: '{{ now }}'\n  message: a\n" + "x: y\n" * 50,
    "a letter": "template: |\n" + block("Dear {{user_name}},\nyour parcel {{order_id}} left at {{time}}.\n"
    + "It is brown and heavy. " * 20),
    "a letter of a mailer": "type: email\ntemplate: |\n"
    + block("Dear {{user_name}},\nyou are number {{order_id}}. Always keep the receipt.\n" + "It is brown. " * 40),
    "a page": "template: |\n" + block("<div>{{ now() }}</div>\n" + "<p>You are here. Always answer the phone.</p>\n" * 9),
    "a log line": "message: '{{ now() }} started'\n",
    "escaped": "prompt: |\n" + block("Write \\{{now}} for the time.\n" + RULES),
    "several prompts of one question": "title_prompt: 'Title for {question}'\n"
    "summary_prompt: |\n" + block(RULES + "{question}\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CHANGING.values(), ids=CHANGING)
def test_what_changes_is_found(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text, "yaml", "config/desk.yaml") == expected


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_what_stays_is_left_alone(text: str) -> None:
    assert found(text, "yaml", "config/desk.yaml") == []


def test_every_long_text_of_a_file_named_for_prompts_is_one() -> None:
    text = "greeting: |\n" + block("At {clock}\n" + RULES)
    assert found(text, "yaml", "app/prompts.yaml") == [(2, NAMED)]
    assert found(text, "yaml", "app/words.yaml") == []


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('"a\\u00e9\\n\\x41 {clock} b\\\n    c\\U0001F375 d"', "aé\nA {clock} bc🍵 d"),
        ("'it''s {clock}\n\n  here'", "it's {clock}\nhere"),
        (">\n  a {clock}\n  b\n\n  c\n", "a {clock} b\nc\n"),
        ("|-\n    a\n      {clock} b\n    c", "a\n  {clock} b\nc"),
        ("|2\n    a {clock}\n  b\n", "  a {clock}\nb\n"),
        ("a\n  {clock} b\n\n  c", "a {clock} b\nc"),
    ],
)
def test_places_in_the_file(source: str, value: str) -> None:
    text = "茶: 1\nprompt: " + source + "\n"
    (prompt,) = prompts(text, "yaml", "a.yaml")
    assert "".join(s.text for s in prompt.segments) == value
    for segment in prompt.segments:
        if segment.origin == "variable":
            assert text[segment.start : segment.end] == "{clock}"
            continue
        for offset, character in enumerate(segment.text):
            if character.isalpha() and text[segment.place(offset)] != "\\":
                assert text[segment.place(offset)] == character


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("prompt: 'a\nb: c\n", 3),
        ("prompt: a\n  - b: {\n", 2),
        ("prompt: a\n" + BOMB, 8),
        ("prompt: &a [*a]\n", 1),
        ("prompt: " + "[" * 5000, 1),
        ("prompt: " + "{a: " * 900, 1),
        ("prompt: a\nb: \x07\n", 2),
    ],
)
def test_what_breaks_the_form_is_refused(text: str, line: int) -> None:
    with pytest.raises(FormError) as caught:
        prompts(text, "yaml", "a.yaml")
    assert caught.value.line == line


def test_a_file_without_prompts_is_not_parsed() -> None:
    assert prompts("steps: [unclosed\n", "yaml", "ci.yaml") == []


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["prompt:", "system:", "messages:", "- ", "role: user", "\n", "  ", "|", ">", "'", '"', "{clock}",
             "{{ now }}", "&a ", "*a", "<<: ", "? ", "---\n", "\\u12", "\\", "[", "]", "{", "}", ": ",
             "茶", "\ud800", "\x00",
             "\r", "!x ", "%TAG", "content: "]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_no_text_breaks_the_reader(words: list[str]) -> None:
    with contextlib.suppress(FormError):
        prompts("".join(words), "yaml", "prompts.yaml")


@pytest.mark.parametrize(
    "value",
    [
        '&rules "You sort mail.\n\n\n\n  Now {now}. {rest}"',
        "!text 'You sort mail.\n  Now {now}. {rest}'",
        "!text &a You sort mail.\n\n  Now {now}. {rest}",
        "|\n  You sort mail.\n" + " " * 60 + "Now {now}. {rest}",
        ">\n  You sort mail.\n\n\n\n\n  Now {now}. {rest}",
    ],
)
def test_a_place_behind_joined_lines_tags_and_deep_indentation(value: str) -> None:
    text = f"system: {value}\n"
    segments = [
        s for prompt in prompts(text, "yaml", "boats.yaml") for s in prompt.segments if s.name == "now"
    ]
    assert [text[s.start : s.end] for s in segments] == ["{now}"]
