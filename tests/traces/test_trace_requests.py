"""Bodies of requests: what becomes of them in tokens, blocks and marks, and what their answers say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trace_logs import LETTERS, WithBos, blocks_of, jsonl, opened, read, text_of, written

from promptorder.errors import InputError
from promptorder.model.trace import Breakpoint, TraceRequest
from promptorder.traces import TraceOptions

One = Callable[[dict[str, Any]], TraceRequest]


@pytest.fixture
def one(tmp_path: Path) -> One:
    def read_one(value: dict[str, Any]) -> TraceRequest:
        (found,) = read(written(tmp_path, jsonl(value)))
        return found

    return read_one


TOOL = {"name": "t", "input_schema": {"type": "object"}}
TOOL_TEXT = '{"name": "t", "input_schema": {"type": "object"}}'
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def text_block(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


CLAUDE_READ = {"cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}
CLAUDE: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9,
    "tools": [TOOL, {**TOOL, "cache_control": HOUR}],
    "system": [text_block("one"), text_block("two", cache_control=MARK)],
    "messages": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [text_block("a"), text_block("b", cache_control=MARK)]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "i", "content": "res"}]},
    ],
}


def test_anthropic_blocks_and_marks_stand_where_they_were_set(one: One) -> None:
    found = one({"ts": 1700000000, "session": "s", "request": CLAUDE})
    assert blocks_of(found) == [
        f"\ntools\n{TOOL_TEXT}",
        f"\ntools\n{TOOL_TEXT}",
        "\nsystem\none",
        "\nsystem\ntwo",
        "\nuser\nhello",
        "\nassistant\na",
        "b",
        "\nuser\nires",
    ]
    assert text_of(found, found.block_ends[-1]) == "\nassistant\n"
    assert found.breakpoints == (Breakpoint(1, 3600.0), Breakpoint(3, 300.0), Breakpoint(6, 300.0))
    assert (found.messages_from, found.opening_blocks) == (4, 4)
    assert (found.api, found.model, found.session) == ("anthropic", "claude-sonnet-4-5", "s")


def test_a_mark_on_the_request_is_one_on_its_last_block(one: One) -> None:
    found = one({**CLAUDE, "cache_control": MARK})
    assert found.breakpoints[-1] == Breakpoint(7, 300.0)
    assert len(found.breakpoints) == 4


def test_what_parts_the_messages_of_anthropic(one: One) -> None:
    plain = one(CLAUDE)
    assert plain.messages_key == ""
    choices: list[dict[str, Any]] = [
        {"tool_choice": {"type": "any"}},
        {"thinking": {"type": "enabled", "budget_tokens": 9}},
        {"output_config": {"effort": "low"}},
    ]
    keys = {one({**CLAUDE, **choice}).messages_key for choice in choices}
    assert len(keys) == 3
    assert "" not in keys
    picture = {"role": "user", "content": [{"type": "image", "source": {"data": "AAAA"}}]}
    assert one({**CLAUDE, "messages": [picture]}).messages_key
    assert one({**CLAUDE, "temperature": 0.5}).messages_key == ""
    same = one({**CLAUDE, "tool_choice": {"type": "any"}})
    assert same.ids == plain.ids


def test_openai_has_tools_first_and_marks_and_keys_of_its_own(one: One) -> None:
    mark = {"mode": "explicit"}
    found = one(
        {
            "model": "gpt-5.6",
            "prompt_cache_key": "k",
            "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
            "tools": [{"type": "function"}],
            "messages": [
                {"role": "developer", "content": [text_block("rules", prompt_cache_breakpoint=mark)]},
                {"role": "user", "content": "q"},
            ],
        }
    )
    assert blocks_of(found) == ['\ntools\n{"type": "function"}', "\ndeveloper\nrules", "\nuser\nq"]
    assert found.breakpoints == (Breakpoint(1, None),)
    assert (found.cache_key, found.retention_s, found.implicit_breakpoint) == ("k", 1800.0, False)
    assert (found.api, found.messages_from, found.opening_blocks) == ("openai", 1, 2)
    kept = one(
        {"model": "gpt-5.1", "prompt_cache_retention": "24h", "messages": [{"role": "user", "content": "q"}]}
    )
    assert (kept.retention_s, kept.implicit_breakpoint, kept.breakpoints) == (86400.0, True, ())


def test_openai_responses(one: One) -> None:
    found = one(
        {
            "model": "gpt-5",
            "instructions": "rules",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "q"}]},
                {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
                {"type": "function_call_output", "call_id": "c", "output": "42"},
            ],
        }
    )
    assert "".join(blocks_of(found)).startswith("\nsystem\nrules\nuser\nq\n")
    assert found.messages_from == 1
    assert "42" in text_of(found)


@pytest.mark.parametrize(
    ("body", "order"),
    [
        ({"model": "gpt-4o"}, "TS"),
        ({"model": "qwen3:8b"}, "ST"),
        ({"model": "deepseek-chat"}, "ST"),
        ({"model": "mistral-large"}, "TS"),
    ],
)
def test_tools_stand_where_the_service_puts_them(one: One, body: dict[str, Any], order: str) -> None:
    messages = [{"role": "system", "content": "RULES"}, {"role": "user", "content": "q"}]
    text = text_of(one({**body, "messages": messages, "tools": [{"name": "TOOL"}]}))
    assert (text.index("TOOL") < text.index("RULES")) == (order == "TS")


def test_texts_that_go_to_the_model_as_they_are(tmp_path: Path) -> None:
    options = TraceOptions(tokenizer=WithBos)
    bodies = [
        {"prompt": "as is", "n_predict": 5},
        {"model": "m", "prompt": "as is", "max_tokens": 5},
        {"model": "m:1b", "prompt": "as is", "raw": True, "options": {}},
        {"prompt": [1, *map(ord, "as is"), 2], "n_predict": 5},
        {"prompt": [1, ord("a"), "s is", 2], "n_predict": 5},
    ]
    found = read(written(tmp_path, jsonl(*bodies)), options)
    assert {tuple(each.ids) for each in found} == {(1, *map(ord, "as is"), 2)}
    assert {each.block_ends for each in found} == {(7,)}


def test_a_prompt_in_a_template_has_its_opening_once(tmp_path: Path) -> None:
    options = TraceOptions(tokenizer=WithBos)
    body = {"model": "m:1b", "system": "S", "prompt": "P", "options": {}, "context": [7, 8]}
    (found,) = read(written(tmp_path, jsonl(body)), options)
    assert list(found.ids[:3]) == [1, 7, 8]
    assert text_of(found, 3) == "\nsystem\nS\nuser\nP\nassistant\n"
    assert found.ids.count(1) == 1


def test_ollama_keeps_its_model_as_long_as_asked(one: One) -> None:
    body = {"model": "m:1b", "messages": [{"role": "user", "content": "q"}]}
    asked = {"10m": 600.0, "-1m": float("inf")}
    assert {each: one({**body, "keep_alive": each}).retention_s for each in asked} == asked
    assert one(body).retention_s is None


def test_gemini(one: One) -> None:
    found = one(
        {
            "url": "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
            "model": "gemini-2.5-flash",
            "request": {
                "systemInstruction": {"parts": [{"text": "rules"}]},
                "tools": [{"functionDeclarations": [{"name": "f"}]}],
                "contents": [
                    {"role": "user", "parts": [{"text": "q"}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"r": 2}}}]},
                ],
            },
            "response": {"usageMetadata": {"promptTokenCount": 30, "cachedContentTokenCount": 12}},
        }
    )
    text = text_of(found)
    assert text.startswith('\ntools\n{"name": "f"}\nsystem\nrules\nuser\nq\nassistant\nf {"a": 1}\nuser\n')
    assert (found.api, found.model, found.observed_cached_tokens) == ("gemini", "gemini-2.5-flash", 12)


@pytest.mark.parametrize(
    ("model", "beside", "prompt", "cached", "output"),
    [
        ("gpt-4o", {"usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}}, 9, 4, 2),
        ("gpt-4o", {"response": {"usage": {"prompt_tokens": 9, "prompt_tokens_details": None}}}, 9, None, None),
        ("gpt-5", {"response": {"usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 0}}}}, 9, 0, None),
        ("claude-x", {"response": {"usage": {"input_tokens": 9, **CLAUDE_READ, "output_tokens": 1}}}, 15, 4, 1),
        ("claude-x", {"response": {"usage": {"input_tokens": 9}}}, 9, None, None),
        ("deepseek-chat", {"usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}}, 9, 4, None),
        ("m:1b", {"response": {"prompt_eval_count": 9, "prompt_eval_cached_count": 4, "eval_count": 3}}, 9, 4, 3),
        ("m:1b", {"response": {"prompt_eval_count": 9}}, 9, None, None),
        ("m", {"response": {"timings": {"cache_n": 4, "prompt_n": 5, "predicted_n": 3}}}, 9, 4, 3),
        ("gpt-4o", {"response": [{"choices": []}, {"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}}]}, 9, 4, None),
        ("gpt-4o", {"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 12}}}, 9, None, None),
        ("gpt-4o", {"usage": {"prompt_tokens": "9", "prompt_tokens_details": {"cached_tokens": True}}}, None, None, None),
        ("gpt-4o", {}, None, None, None),
    ],
)  # fmt: skip
def test_reuse_as_each_api_defines_it(
    one: One, model: str, beside: dict[str, Any], prompt: int | None, cached: int | None, output: int | None
) -> None:
    found = one({"request": {"model": model, "messages": [{"role": "user", "content": "q"}]}, **beside})
    assert found.prompt_tokens == prompt
    assert found.observed_cached_tokens == cached
    assert found.output_tokens == output


ANSWERS = [
    ("gpt-4o", {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}),
    ("m:1b", {"message": {"role": "assistant", "content": "yes"}}),
    ("claude-x", {"content": [{"type": "text", "text": "yes"}]}),
    ("m", {"content": "yes"}),
    ("gpt-5", {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("model", "response"), ANSWERS)
def test_an_answer_has_the_ids_that_it_comes_back_with(
    tmp_path: Path, model: str, response: dict[str, Any]
) -> None:
    question = {"role": "user", "content": "q"}
    later = [question, {"role": "assistant", "content": "yes"}, question]
    log = jsonl(
        {"request": {"model": model, "messages": [question]}, "response": response},
        {"request": {"model": model, "messages": later}},
    )
    first, second = read(written(tmp_path, log))
    assert second.ids[: len(first.ids) + 3] == first.ids + first.generated  # type: ignore[operator]


def test_pictures_are_estimated_and_equal_where_they_are(tmp_path: Path) -> None:
    def asked(data: str, **more: Any) -> dict[str, Any]:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}", **more}}
        return {"model": "gpt-4o", "messages": [{"role": "user", "content": [picture, text_block("q")]}]}

    log = opened(written(tmp_path, jsonl(asked("AA"), asked("AA"), asked("BB"), asked("AA", detail="low"))))
    first, same, other, small = log.requests()
    assert first.ids == same.ids
    assert first.ids[:6] == other.ids[:6]
    assert first.ids[6] != other.ids[6]
    assert len(first.block_ends) == 2
    assert len(small.ids) < len(first.ids)
    assert (log.report.pictures, log.report.estimated_tokens) == (4, 3 * 765 + 85)


def test_models_and_adapters_share_nothing(tmp_path: Path) -> None:
    message = {"messages": [{"role": "user", "content": "q"}]}
    bodies: list[dict[str, Any]] = [
        {"model": "a"},
        {"model": "b"},
        {"model": "a", "lora": [1]},
        {"model": "a", "cache_salt": "t"},
    ]
    found = read(written(tmp_path, jsonl(*({**body, **message} for body in bodies))))
    assert len({each.namespace for each in found}) == 4
    assert [each.model for each in found] == ["a", "b", "a", "a"]


def test_apis_may_be_mixed_and_are_counted(tmp_path: Path) -> None:
    user = [{"role": "user", "content": "q"}]
    log = opened(
        written(
            tmp_path,
            jsonl(
                {"model": "gpt-4o", "messages": user},
                {"api": "ollama", "request": {"model": "gpt-4o", "messages": user}},
                {"model": "claude-x", "messages": user},
                {"prompt": "x", "n_predict": 1},
                {"something": "else"},
                {"model": "m", "prompt": "", "keep_alive": 0},
            ),
        )
    )
    assert [each.api for each in log.requests()] == ["openai", "ollama", "anthropic", "llama-server"]
    assert log.report.files[0].first_skipped == [(5, "no request; it has something")]
    assert log.report.files[0].other_lines == 1  # it unloads a model


def test_requests_as_text_in_an_envelope(one: One) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "q"}]}
    usage = {"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}}
    found = one({"request": json.dumps(body), "response": json.dumps(usage)})
    assert (text_of(found), found.observed_cached_tokens) == ("\nuser\nq\nassistant\n", 4)


def test_what_servers_counted_is_held_beside_what_the_tokenizer_counts(tmp_path: Path) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "q"}]}
    log = opened(written(tmp_path, jsonl({"request": body, "usage": {"prompt_tokens": 10}}, body)))
    assert len(list(log.requests())) == 2
    assert (log.report.said_tokens, log.report.counted_tokens) == (10, len("\nuser\nq\nassistant\n"))
    assert (log.report.tokenizer, log.report.tokenizer_exact) == ("letters", False)


def test_earlier_responses_that_the_service_keeps_are_told(tmp_path: Path) -> None:
    body = {"model": "gpt-5", "input": [{"role": "user", "content": "q"}], "previous_response_id": "r"}
    log = opened(written(tmp_path, jsonl(body)))
    assert len(list(log.requests())) == 1
    assert any("previous response" in each for each in log.report.remarks)


@pytest.mark.parametrize("prompt", [[], [[1, 2], [3]], ["a", -1], [1 << 40]])
def test_prompts_that_cannot_be_read_are_skipped(tmp_path: Path, prompt: list[Any]) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "q"}]}
    log = opened(written(tmp_path, jsonl(body, {"model": "m", "n_predict": 1, "prompt": prompt}, body)))
    assert len(list(log.requests())) == 2
    assert log.report.skipped_lines + log.report.files[0].other_lines == 1


@pytest.mark.parametrize(
    "around", ['"tools":[{"a":%s}],', '"x":0,"messages":[{"role":"user","content":%s}],']
)
def test_deep_nesting_ends_no_reading(tmp_path: Path, around: str) -> None:
    deep = '[{"type":"tool_result","content":' * 500 + '"x"' + "}]" * 500
    plain = '{"model":"gpt-4o","messages":[{"role":"user","content":"q"}]}'
    nested = plain.replace('"messages"', (around % deep) + '"messages"', 1)
    log = opened(written(tmp_path, f"{plain}\n{nested}\n{plain}\n"))
    assert len(list(log.requests())) + log.report.skipped_lines == 3
    assert all("too deeply" in each.reason for each in log.report.files[0].first_skipped)


def test_texts_need_a_tokenizer(tmp_path: Path) -> None:
    log = opened(
        written(tmp_path, jsonl({"model": "gpt-4o", "messages": [{"role": "user", "content": "q"}]})),
        TraceOptions(),
    )
    with pytest.raises(InputError, match="no tokenizer"):
        list(log.requests())


def test_tokenizers_are_not_asked_for_ids(tmp_path: Path) -> None:
    def never() -> Any:
        raise AssertionError

    assert len(read(written(tmp_path, jsonl({"prompt": [1]})), TraceOptions(tokenizer=never))) == 1
    assert LETTERS.tokenizer is not None


def test_a_request_may_switch_reuse_off(tmp_path: Path) -> None:
    body = {"prompt": "hello", "n_predict": 3}
    lines = [body, {**body, "cache_prompt": True}, {**body, "cache_prompt": False}]
    assert [each.may_reuse for each in read(written(tmp_path, jsonl(*lines)))] == [True, True, False]
    ids = [{"prompt": [1, 2]}, {"prompt": [1, 2], "cache_prompt": False}]
    assert [each.may_reuse for each in read(written(tmp_path, jsonl(*ids)))] == [True, False]


def test_what_a_service_wrote_is_part_of_what_it_did_not_reuse(one: One) -> None:
    long = {"cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1}}
    for usage, written_tokens, of_an_hour in (
        ({"input_tokens": 3, **CLAUDE_READ}, 2, 0),
        ({"input_tokens": 3, **CLAUDE_READ, **long}, 2, 1),
        ({"input_tokens": 3, "cache_read_input_tokens": 4}, None, 0),
    ):
        found = one({"request": CLAUDE, "usage": usage})
        assert (found.observed_written_tokens, found.observed_written_long_tokens) == (
            written_tokens,
            of_an_hour,
        )
        assert found.prompt_tokens == 7 + (written_tokens or 0)


def test_pictures_of_the_same_checksum_are_not_taken_for_one(tmp_path: Path) -> None:
    """The CRC-32 of these two words is the same."""
    bodies = [
        {"model": "llava", "messages": [{"role": "user", "content": "q", "images": [data]}]}
        for data in ("plumless", "buckeroo", "plumless")
    ]
    one, other, again = read(written(tmp_path, jsonl(*bodies)))
    assert one.ids != other.ids
    assert one.ids == again.ids
