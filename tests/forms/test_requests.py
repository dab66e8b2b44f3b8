"""JSON and JSON lines as a reader sees them: places, bad input, and streams of any size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptorder.forms import FormError, jsonl
from promptorder.forms import json as json_form
from promptorder.forms._json import at, load, places, string, strings
from promptorder.forms._requests import ANTHROPIC, LLAMA_SERVER, OLLAMA, OPENAI, UNKNOWN, parts, provider
from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Prompt, Source

RULES = Rules()
WORDS = "The launch leaves at high water and the crew counts the gloves before it does. " * 6


def read(text: str) -> list[Prompt]:
    return list(json_form.prompts(Source("x.json", "json", text)))


def test_places_of_values() -> None:
    text = '{"a": [1, {"b\\n": "x"}, "y"],\r\n "c": true}'
    root = places(text)
    for path, shown in [(("a", 0), "1"), (("a", 1, "b\n"), '"x"'), (("a", 2), '"y"'), (("c",), "true")]:
        node = at(root, path)
        assert node is not None
        assert text[node.start : node.end] == shown
    assert at(root, ("a", 3)) is None
    assert at(root, ("a", "b")) is None
    assert [(key, each.text) for key, each in strings(text, root)] == [("b\n", "x"), ("a", "y")]


@given(st.text())
def test_a_string_is_what_json_says_and_each_character_has_its_place(value: str) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        found = string(text, places(text))
        assert found.text == json.loads(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        prompt = read(json.dumps({"model": "m", "prompt": value}))
        assert (
            "".join(segment.text for segment in prompt[0].segments if segment.origin == "static")
            if value
            else True
        )


def test_places_behind_escapes() -> None:
    text = '{"model": "m", "prompt": "\\n\\u00e9\\ud83d\\udea2ab\\"c"}'
    (segment,) = read(text)[0].segments
    assert segment.text == '\né🚢ab"c'
    assert [text[segment.place(n)] for n in range(len(segment.text))] == [
        "\\",
        "\\",
        "\\",
        "a",
        "b",
        "\\",
        "c",
    ]


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert read('{"model": "m", "prompt": "a\\ud83d b"}')[0].segments[0].text == "a\ufffd b"


def test_the_order_of_rendering() -> None:
    body = {
        "messages": [{"role": "user", "content": "c"}],
        "system": "b",
        "tools": [{"name": "a", "description": "d", "input_schema": {"type": "object"}}],
    }
    assert [part.role for part in parts(body)] == ["tools", "system", "user"]
    segments = read(json.dumps({"model": "claude-x", **body}))[0].segments
    assert [(segment.role, segment.text) for segment in segments] == [
        ("schema", "a"), ("tools", "d"), ("schema", "object"), ("system", "b"), ("user", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "maker"),
    [
        ({"model": "qwen3:8b"}, OLLAMA),
        ({"model": "hf.co/org/name:Q4_K_M"}, OLLAMA),
        ({"model": "x", "options": {"num_ctx": 1}}, OLLAMA),
        ({"model": "gpt-5-mini"}, OPENAI),
        ({"model": "openai/gpt-4o"}, OPENAI),
        ({"model": "o3-mini"}, OPENAI),
        ({"model": "claude-sonnet-4-5"}, ANTHROPIC),
        ({"model": "anthropic.claude-haiku-4-5-20251001-v1:0"}, ANTHROPIC),
        ({"prompt": "x", "n_predict": 1}, LLAMA_SERVER),
        ({"model": "org/name"}, UNKNOWN),
        ({"model": 7}, UNKNOWN),
    ],
)
def test_whose_request_it_is(body: dict[str, Any], maker: str) -> None:
    assert provider(body) == maker


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1, // note\n"b": 2}', 1),
        ('{"a": 1,\n "b": [1,\n 2,],\n}', 3),
        ('{"a": 1,\r\n\r\n}', 3),
        ('{\r"a": 1,\r}', 3),
        ("", 1),
        ("{", 1),
        ('{"a": "\n"}', 1),
        ("[" * 200_000, None),
        ('{"a":' * 200_000, None),
        ("[" + "7" * 5000 + "]", None),
    ],
)
def test_what_is_no_json_says_where(text: str, line: int | None) -> None:
    with pytest.raises(FormError) as caught:
        load(text)
    assert caught.value.line == line


def test_deep_inside_a_request() -> None:
    deep = '{"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [%s1%s]}'
    for depth in (100, 900, 950, 990, 100_000):
        text = deep % ('{"a":' * depth, "}" * depth)
        try:
            read(text)
        except FormError as error:
            assert "nested too deeply" in str(error)
        source = Source("x.jsonl", "jsonl", f"{text}\n{text}\n")
        try:
            list(jsonl.prompts(source))
        except FormError as error:
            assert error.line == 1


def test_json_lines_under_another_name() -> None:
    line = json.dumps({"model": "m", "prompt": WORDS})
    (prompt,) = read(f"{line}\n{line}\n")
    assert prompt.segments == ()


def test_broken_lines_do_not_hide_the_others() -> None:
    lines = [json.dumps({"model": "m", "prompt": f"{time} {WORDS}"}) for time in ("09:10:00", "09:11:00")]
    source = Source("x.jsonl", "jsonl", f"{lines[0]}\nnonsense\n\n{lines[1]}\n{lines[1][:40]}")
    read_all = jsonl.prompts(source)
    assert [finding.line for finding in lint(source, [next(read_all)], RULES)] == [4]
    with pytest.raises(FormError) as caught:
        next(read_all)
    assert caught.value.line == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_numbers_with_any_line_end(end: str) -> None:
    lines = [
        json.dumps({"model": "m", "prompt": f"{time}\u2028\x85 {WORDS}"}, ensure_ascii=False)
        for time in ("09:10:00", "09:11:00")
    ]
    text = end.join((lines[0], "", lines[1], ""))
    source = Source("x.jsonl", "jsonl", text)
    findings = list(lint(source, jsonl.prompts(source), RULES))
    assert [(finding.line, finding.related[0].line) for finding in findings] == [(3, 1)]
    stream = list(jsonl.log_findings(("\ufeff" + text).encode().splitlines(keepends=True), "x.jsonl", RULES))
    assert stream == findings


def test_a_log_of_one_line_is_a_request() -> None:
    text = "\n\n" + json.dumps({"model": "m", "prompt": f"Now: 2026-03-14 09:26:53.\n{WORDS}"})
    source = Source("x.jsonl", "jsonl", text)
    (finding,) = lint(source, jsonl.prompts(source), RULES)
    line = text.split("\n")[2]
    assert (finding.name, finding.line) == ("timestamp", 3)
    assert line[finding.column - 1 : finding.end_column - 1] == "2026-03-14 09:26:53"


KEYS = [
    "model",
    "messages",
    "role",
    "content",
    "prompt",
    "input",
    "instructions",
    "system",
    "tools",
    "functions",
    "function",
    "name",
    "description",
    "parameters",
    "type",
    "text",
    "image_url",
    "source",
    "tool_calls",
    "id",
    "arguments",
    "tool_call_id",
    "cache_control",
    "ttl",
    "options",
    "num_ctx",
    "keep_alive",
    "lora",
    "prompt_cache_key",
    "ts",
    "session",
    "request",
    "requests",
    "prompts",
    "template",
    "kwargs",
    "lc",
    "thinking",
    "reasoning_content",
    "images",
    "format",
    "output",
    "stream",
    "user",
    "assistant",
]
LEAVES = st.none() | st.sampled_from(
    [
        True, 0, -1, 1e308, "", "user", "system", "assistant", "tool", "text", "tool_use", "tool_result", "thinking",
        "claude-x", "qwen3:8b", "gpt-5.6", "1h", "nan", "inf", "-5m", "2026-03-14T09:26:53Z", "Now: 2026-03-14 09:26:53",
        "{{now}}", "\ud800", '{"a": 1}', WORDS,
    ]
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=30,
)


@settings(max_examples=400)
@given(
    st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=6), min_size=1, max_size=4),
    st.booleans(),
)
def test_any_json_is_read_without_a_fall(values: list[Any], in_session: bool) -> None:
    named = [
        {"session": "s", "request": {"model": "qwen3:8b", **value}} if in_session else {"model": "m", **value}
        for value in values
    ]
    for each in (*values, *named, values):
        text = json.dumps(each)
        source = Source("x.json", "json", text)
        for finding in lint(source, json_form.prompts(source), RULES):
            assert finding.line == 1
    text = "".join(json.dumps(value) + "\n" for value in named)
    source = Source("x.jsonl", "jsonl", text)
    assert all(1 <= finding.line <= len(named) for finding in lint(source, jsonl.prompts(source), RULES))


@settings(max_examples=300)
@given(st.text(alphabet='{}[]",:\\ntu0ae1 \n\r', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for form, name in ((json_form, "x.json"), (jsonl, "x.jsonl")):
        try:
            list(form.prompts(Source(name, "json", text)))
        except FormError:
            continue
