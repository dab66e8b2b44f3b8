"""Requests side by side: files, lines of logs, and what became of the prompt between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import promptorder
from promptorder.difference.rendering import JOINED, chat, joined
from promptorder.errors import InputError, UsageError
from promptorder.forms._requests import parts
from promptorder.model.diff import Pair

RULES = "\n".join(
    f"{number}. Passengers of boat {number} arrive {number + 5} minutes early." for number in range(1, 31)
)
USER, ANSWER = (
    {"role": "user", "content": "May dogs come?"},
    {"role": "assistant", "content": "They may, on a lead."},
)


def request(*turns: dict[str, Any], system: str = RULES, **more: Any) -> dict[str, Any]:
    return {
        "model": "qwen3:8b",
        **more,
        "messages": [{"role": "system", "content": system}, *(turns or (USER,))],
    }


def tool(
    name: str, description: str = "Looks something up in the timetable of the ferries"
) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def pair(folder: Path, a: Any, b: Any) -> Pair:
    for name, value in (("a.json", a), ("b.json", b)):
        (folder / name).write_text(json.dumps(value))
    [found] = promptorder.diff(folder / "a.json", folder / "b.json").pairs
    return found


def log(folder: Path, *lines: Any) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_a_clock_in_the_system_text(tmp_path: Path) -> None:
    a, b = (request(system=f"Now: 09:26:{second}\n{RULES}") for second in (53, 58))
    found = pair(tmp_path, a, b)
    place = found.first_difference
    assert place is not None
    assert (place.path, place.line, place.column, place.kind) == ("$.messages[0].content", 1, 13, "timestamp")
    assert [block.what for block in found.lost] == [
        "lines 2 to 31 of message 1 (system text)",
        "message 2 (user)",
    ]
    assert found.suggestion is not None
    assert found.suggestion.behind == "what stands last in message 2 (user)"
    end = {"role": "user", "content": "May dogs come?\n\nNow: 09:26:53"}
    other = {"role": "user", "content": "May dogs come?\n\nNow: 09:26:58"}
    tried = pair(tmp_path, request(end, system=RULES), request(other, system=RULES))
    assert found.suggestion.shared_tokens == tried.shared_tokens
    assert (found.method, found.rendering) == ("estimated", JOINED)


def test_a_chat_that_grows_loses_nothing(tmp_path: Path) -> None:
    found = pair(tmp_path, request(USER), request(USER, ANSWER, {"role": "user", "content": "And cats?"}))
    assert found.relation == "appended"
    assert found.first_difference is None
    assert found.shared_tokens == found.a_tokens < found.b_tokens
    assert pair(tmp_path, request(USER, ANSWER), request(USER)).relation == "shortened"
    assert pair(tmp_path, request(USER), request(USER, temperature=0.2)).relation == "same"


def test_another_question_is_no_loss(tmp_path: Path) -> None:
    found = pair(tmp_path, request(USER), request({"role": "user", "content": "Is there wifi?"}))
    assert found.first_difference is not None
    assert (found.first_difference.path, found.first_difference.kind) == ("$.messages[1].content", "question")
    assert found.lost_tokens == 0
    assert found.suggestion is None


@pytest.mark.parametrize(
    ("key", "values", "kind", "path"),
    [
        ("model", ("qwen3:8b", "qwen3:4b"), "model", "$.model"),
        ("lora", (None, [{"id": 0, "scale": 1}]), "adapter", "$.lora"),
        ("options", ({"num_ctx": 4096}, {"num_ctx": 8192}), "options", "$.options.num_ctx"),
        ("prompt_cache_key", ("a", "b"), "cache-key", "$.prompt_cache_key"),
    ],
)
def test_what_makes_another_cache(
    key: str, values: tuple[Any, Any], kind: str, path: str, tmp_path: Path
) -> None:
    a, b = ({**request(USER), key: value} for value in values)
    found = pair(tmp_path, a, b)
    assert found.other_cache is not None
    assert (found.other_cache.kind, found.other_cache.path) == (kind, path)
    assert found.first_difference is None
    assert found.reusable_tokens == 0
    assert found.shared_tokens == found.b_tokens
    seeds = pair(tmp_path, request(USER, options={"seed": 1}), request(USER, options={"seed": 2}))
    assert seeds.other_cache is None
    assert pair(tmp_path, request(USER), request(USER)["messages"]).other_cache is None


def test_tools_in_another_order(tmp_path: Path) -> None:
    tools = [tool("find"), tool("book"), tool("cancel")]
    found = pair(tmp_path, request(tools=tools), request(tools=[tools[0], tools[2], tools[1]]))
    assert found.first_difference is not None
    assert (found.first_difference.path, found.first_difference.kind) == (
        "$.tools[1].function.name",
        "tool-order",
    )
    assert found.suggestion is not None
    assert (found.suggestion.action, found.suggestion.shared_tokens) == ("sort", found.b_tokens)


def test_keys_in_another_order(tmp_path: Path) -> None:
    turned = tool("find")
    turned["function"] = dict(reversed(turned["function"].items()))
    found = pair(tmp_path, request(tools=[tool("find")]), request(tools=[turned]))
    assert found.first_difference is not None
    assert found.first_difference.kind == "json-order"
    assert found.suggestion is not None
    assert found.suggestion.shared_tokens == found.b_tokens


def test_a_tool_that_changed_and_one_with_a_date(tmp_path: Path) -> None:
    other = pair(
        tmp_path,
        request(tools=[tool("find")]),
        request(tools=[tool("find", "Looks up the fares of the ferries")]),
    )
    assert other.first_difference is not None
    assert other.first_difference.kind == "tool-changed"
    assert other.first_difference.path == "$.tools[0].function.description"
    dated = [request(tools=[tool("find", f"Timetable of 2026-03-{day}, all ferries")]) for day in (14, 15)]
    found = pair(tmp_path, *dated)
    assert found.first_difference is not None
    assert found.first_difference.kind == "date"


HISTORY = (
    USER,
    ANSWER,
    {"role": "user", "content": "And cats?"},
    {"role": "assistant", "content": "Cats in a basket."},
)
NEXT = {"role": "user", "content": "Thanks. When does it leave?"}


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        (HISTORY, ({**USER, "content": "May my dog come?"}, *HISTORY[1:], NEXT), "history-rewritten"),
        (
            (*HISTORY, NEXT),
            (*HISTORY[2:], NEXT, {**ANSWER, "content": "At nine."}, {**USER, "content": "And back?"}),
            "history-dropped",
        ),
        (
            (USER, {**ANSWER, "content": "<think>Dogs.</think>They may, on a lead."}, NEXT),
            (USER, ANSWER, NEXT, ANSWER, USER),
            "reasoning-stripped",
        ),
        (
            ({**USER, "images": ["aGVsbG8gd29ybGQ="]}, ANSWER),
            ({**USER, "images": ["aGVsbG8gd29ybGQh"]}, ANSWER, NEXT),
            "image-reencoded",
        ),
    ],
)
def test_what_becomes_of_earlier_turns(was: Any, now: Any, kind: str, tmp_path: Path) -> None:
    found = pair(tmp_path, request(*was), request(*now))
    assert found.first_difference is not None
    assert found.first_difference.kind == kind
    assert found.suggestion is None
    assert bool(found.notes) == (kind == "image-reencoded")


def test_the_system_text_changed(tmp_path: Path) -> None:
    found = pair(tmp_path, request(system=f"Be kind.\n{RULES}"), request(system=f"Be brief.\n{RULES}"))
    assert found.first_difference is not None
    assert found.first_difference.kind == "system-changed"


def test_other_providers_and_lists_of_messages(tmp_path: Path) -> None:
    system = [{"type": "text", "text": f"tag 0aaa9f11\n{RULES}", "cache_control": {"type": "ephemeral"}}]
    a = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": system, "messages": [USER]}
    b = json.loads(json.dumps(a).replace("0aaa9f11", "0aab7c22"))
    found = pair(tmp_path, a, b)
    assert found.first_difference is not None
    assert (found.first_difference.path, found.first_difference.kind) == ("$.system[0].text", "id")
    lists = pair(tmp_path, request(USER)["messages"], request(NEXT)["messages"])
    assert lists.first_difference is not None
    assert lists.first_difference.path == "$[1].content"
    raw = [{"model": "m", "prompt": f"It is 09:2{minute}.\n{RULES}", "stream": False} for minute in (1, 2)]
    prompts = pair(tmp_path, *raw)
    assert prompts.first_difference is not None
    assert (prompts.first_difference.path, prompts.first_difference.column) == ("$.prompt", 11)


def test_lines_of_a_log(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        {"ts": "2026-05-02T10:00:00Z", "session": "s", "request": request(USER)},
        "",
        {"event": "started"},
        request(USER, ANSWER, NEXT),
        request(NEXT),
    )
    every = promptorder.diff(path).pairs
    assert [(pair.a, pair.b) for pair in every] == [(f"{path}:1", f"{path}:4"), (f"{path}:4", f"{path}:5")]
    assert promptorder.diff(f"{path}:1-5").pairs == every
    assert promptorder.diff(f"{path}:4", f"{path}:5").pairs == every[1:]
    assert every[0].relation == "appended"


def test_lines_that_are_not_there(tmp_path: Path) -> None:
    path = log(tmp_path, request(USER), {"event": "started"}, '{"model": "cut')
    for spec, message in (
        (f"{path}:9", "has no line 9"),
        (f"{path}:2", "is not a request"),
        (f"{path}:3", "is not JSON"),
        (str(path), "the only request there"),
    ):
        with pytest.raises(InputError, match=message):
            promptorder.diff(spec)
    with pytest.raises(UsageError, match="names no lines"):
        promptorder.diff(f"{path}:3-1")
    with pytest.raises(InputError, match="holds no requests"):
        promptorder.diff(log(tmp_path, {"event": "started"}))
    broken = tmp_path / "broken.json"
    broken.write_text('{"messages": [')
    with pytest.raises(InputError, match="not JSON"):
        promptorder.diff(broken, broken)


def test_a_request_beside_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(RULES)
    (tmp_path / "b.json").write_text(json.dumps({"model": "m", "prompt": RULES + " more", "stream": False}))
    [found] = promptorder.diff(tmp_path / "a.txt", tmp_path / "b.json").pairs
    assert found.relation == "appended"


def test_the_chat_that_servers_take() -> None:
    body = {
        "system": [{"type": "text", "text": "Be kind."}],
        "tools": [{"name": "find", "description": "d", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"role": "assistant", "content": "three"},
        ],
    }
    made = chat(body)
    assert [(each["role"], each["content"]) for each in made["messages"]] == [
        ("system", "Be kind."),
        ("user", "one\ntwo"),
        ("assistant", "three"),
    ]
    assert made["tools"][0]["function"]["name"] == "find"
    assert all(part.text in joined(body) for part in parts(body))
