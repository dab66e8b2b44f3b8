"""The command: what it prints and exits with, for people in 80 columns and for programs by its schema."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import promptorder
from promptorder.cli import run
from promptorder.contracts import schema
from promptorder.contracts.diff import to_json
from promptorder.difference import kinds
from promptorder.difference.drift import DATE, TEXT
from promptorder.model.diff import Diff

RULES = "\n".join(f"Rule {number}: passengers of boat {number} arrive early." for number in range(1, 31))
REQUIRED = {"a", "b", "shared_tokens", "a_tokens", "b_tokens", "tokenizer", "first_difference"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("a.txt", f"You help.\nNow: 2026-03-14T09:26:53Z\n{RULES}\n"),
        ("b.txt", f"You help.\nNow: 2026-03-14T10:02:11Z\n{RULES}\n"),
        ("c.txt", f"You help.\nNow: 2026-03-14T10:02:11Z\n{RULES}\nBye."),
    ):
        Path(name).write_text(text)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(["diff", *arguments]) == code
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    value = json.loads(printed(capsys, *arguments, "--format", "json"))
    jsonschema.Draft202012Validator(schema("diff-1")).validate(value)
    return value


def width(line: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line
    )


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "a.txt", "b.txt")
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line != line.rstrip() for line in lines)
    excerpts = [number for number, line in enumerate(lines) if line.startswith("  a | ")]
    [at] = excerpts
    caret = lines[at + 2].index("^")
    assert lines[at][caret] == "0"
    assert lines[at + 1][caret] == "1"
    assert lines[at][:caret][4:] == lines[at + 1][:caret][4:]
    assert "They part at line 2, column 17: a clock" in text
    assert "Instead: move line 2 (Now: 2026-03-14T10:02:11Z) behind line 32" in text
    assert re.search(r"^\[#+-+\.*\]$", text, re.MULTILINE)


def test_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "a.txt", "b.txt", "c.txt")
    assert value["schema"] == "promptorder.diff/1"
    assert value["tool_version"] == promptorder.__version__
    assert [(pair["a"], pair["b"]) for pair in value["pairs"]] == [("a.txt", "b.txt"), ("b.txt", "c.txt")]
    first, second = value["pairs"]
    assert set(first) >= REQUIRED
    place = first["first_difference"]
    assert place == {**place, "path": None, "line": 2, "column": 17, "kind": "timestamp"}
    assert first["suggestion"]["shared_tokens"] > first["shared_tokens"]
    assert second["first_difference"]["kind"] == "appended"
    assert as_json(capsys, "a.txt", "a.txt")["pairs"][0]["first_difference"] is None


@pytest.mark.parametrize("key", sorted(REQUIRED))
def test_the_schema_demands_the_keys_of_the_contract(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "a.txt", "b.txt")
    del value["pairs"][0][key]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema("diff-1")).validate(value)


def test_the_schema_knows_each_kind() -> None:
    known = set(schema("diff-1")["$defs"]["first_difference"]["properties"]["kind"]["enum"])
    assert known == set(kinds.WORDS)
    jsonschema.Draft202012Validator.check_schema(schema("diff-1"))
    assert {DATE, TEXT} <= known


def test_a_long_log_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    requests = [
        {
            "model": "m:1b",
            "messages": [
                {"role": "system", "content": f"Now 09:26:{10 + n}\n{RULES}"},
                {"role": "user", "content": "x"},
            ],
        }
        for n in range(6)
    ]
    Path("log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in requests) + "{cut\n")
    assert run(["diff", "log.jsonl"]) == 0
    out, err = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("timestamp $.messages[0]") == 5
    assert "promptorder diff log.jsonl:1 log.jsonl:2" in out
    assert "left out: log.jsonl:7" in err
    assert len(as_json(capsys, "log.jsonl")["pairs"]) == 5


def test_of_many_pairs_those_that_lose_most_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    turn = {"role": "user", "content": "x"}
    systems = [f"Now 09:26:{10 + n % 2 * (n < 4)}\n{RULES}" for n in range(40)]
    lines = ({"model": "m:1b", "messages": [{"role": "system", "content": text}, turn]} for text in systems)
    Path("log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    out = printed(capsys, "log.jsonl")
    assert out.count("timestamp") == 4
    assert "and 35 more pairs" in out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["a.txt"], 2),
        (["a.txt", "none.txt"], 3),
        (["a.txt", "."], 3),
        (["a.txt", "b.txt", "--tokenizer", "o300k"], 2),
        (["a.txt", "b.txt", "--tokenizer", "none.gguf"], 3),
        (["a.txt", "b.txt", "--host", "127.0.0.1:9", "--engine", "ollama"], 4),
        (["a.txt", "b.txt", "--engine", "none"], 2),
        (["a.txt", "b.txt", "--model", "none.gguf", "--engine", "embedded"], 4),
    ],
)
def test_exit_codes(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(("error: ", "Usage"))
    assert "help:" in err or "Usage" in err


def test_counts_with_a_model_file(capsys: pytest.CaptureFixture[str], tiny_gguf: Path) -> None:
    [pair] = as_json(capsys, "a.txt", "b.txt", "--tokenizer", str(tiny_gguf))["pairs"]
    assert pair["method"] == "counted"
    assert pair["tokenizer"] == tiny_gguf.name
    assert "counted with tiny.gguf" in printed(capsys, "a.txt", "b.txt", "--tokenizer", str(tiny_gguf))


HOSTILE = st.text(
    st.sampled_from("ab \n\t\r\x1b\x07\x08\x9b\u202e\u200b\u0301\ud800日🎉[31m\u2028\x00"),
    min_size=1,
    max_size=60,
)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=HOSTILE, a=HOSTILE, b=HOSTILE)
def test_nothing_in_a_prompt_steers_the_terminal(
    start: str, a: str, b: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("x.json", start + a), ("y.json", start + b)):
        Path(name).write_text(
            json.dumps([{"role": "user", "content": "x" + text}, {"role": "user", "content": text + "y"}])
        )
    out = printed(capsys, "x.json", "y.json")
    assert all(c.isprintable() or c == "\n" for c in out)
    assert max(map(width, out.splitlines())) <= 80
    as_json(capsys, "x.json", "y.json")


def test_a_library_call_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    result = promptorder.diff("a.txt", "b.txt")
    assert isinstance(result, Diff)
    assert json.loads(json.dumps(to_json(result))) == as_json(capsys, "a.txt", "b.txt")


def test_the_example_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    rules = "".join(f"Rule {n}: keep the boxes of boat {n} closed, dear friends.\n" for n in range(1, 23))
    for name, clock, question in (("monday.txt", "09:26:53", "dogs"), ("tuesday.txt", "10:02:11", "wifi")):
        Path(name).write_text(
            f"Ferry desk\nCurrent time: 2026-03-14T{clock}Z\nYou help at the pier. Boats leave at nine.\n{rules}"
            f"Lost gloves are kept in the blue chest\nQuestion: {question}?\n"
        )
    page = (Path(__file__).resolve().parents[2] / "docs" / "diff.md").read_text(encoding="utf-8")
    assert printed(capsys, "monday.txt", "tuesday.txt") in page


def test_every_kind_is_documented() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "diff.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in page for kind in kinds.WORDS)
