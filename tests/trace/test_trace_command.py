"""The command: what it replays, what it writes, its exit codes, gates, settings, and how it is stopped."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import small_traces as small

import promptorder
from promptorder.cli import run
from promptorder.commands._policies import meanings
from promptorder.contracts import schema
from promptorder.policies._options import REGISTRY

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
MOONCAKE = SHARED / "mooncake-fast25" / "conversation_trace.jsonl"
HEAVY = ("rich", "pandas", "numpy", "jinja2", "tiktoken", "httpx", "ollama", "pypdf", "promptorder.api")

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def result(capsys: Capture, *arguments: str, code: int = 0) -> dict[str, Any]:
    """The one object on standard output."""
    assert run(["trace", *arguments, "--format", "json", "--quiet"]) == code
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema("trace-1")).validate(told)
    return told


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_policy_is_replayed_and_the_contract_kept(capsys: Capture) -> None:
    small.hash_log(Path("t.jsonl"))
    told = result(capsys, "t.jsonl", "--policy", "vllm,num_blocks=5000", "--per-request", "out.jsonl")
    assert told["schema"] == "promptorder.trace/1"
    assert told["tool_version"] == promptorder.__version__
    assert (told["requests"], told["skipped_lines"]) == (3, 0)
    [policy] = told["policies"]
    assert policy["name"] == "vllm"
    assert policy["options"] == {"num_blocks": 5000}
    assert policy["all_options"]["block_tokens"] == 16
    cached = [0, 1024, 1008]  # of a repeated prompt the last block is read again
    assert policy["input_tokens"] == 1024 + 1100 + 1024
    assert policy["cached_tokens"] == sum(cached)
    assert policy["hit_rate_tokens"] == pytest.approx(sum(cached) / 3148)
    assert policy["hit_rate_requests_mean"] == pytest.approx((0 + 1024 / 1100 + 1008 / 1024) / 3)
    assert rows(Path("out.jsonl")) == [
        {"policy": 0, "index": 0, "prompt_tokens": 1024, "cached_tokens": 0, "cause": "first-request"},
        {"policy": 0, "index": 1, "prompt_tokens": 1100, "cached_tokens": 1024, "cause": "first-difference"},
        {"policy": 0, "index": 2, "prompt_tokens": 1024, "cached_tokens": 1008, "cause": "repeated"},
    ]


@pytest.mark.parametrize("name", REGISTRY.names())
def test_every_policy_can_be_asked_for(name: str, capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"))
    told = result(capsys, "t.jsonl", "--policy", name, "--curve", "--per-request", "out.jsonl")
    [policy] = told["policies"]
    lost = sum(each["lost_tokens"] for each in policy["causes"].values())
    assert policy["input_tokens"] == policy["cached_tokens"] + policy["new_tokens"] + lost
    assert sum(row["cached_tokens"] for row in rows(Path("out.jsonl"))) == policy["cached_tokens"]
    assert (policy["size_option"] is None) == (policy["curve"] == [])
    rates = [each["hit_rate_tokens"] for each in policy["curve"]]
    assert rates == sorted(rates), "a larger cache of these loses nothing"


def test_policies_stand_side_by_side_in_their_order(capsys: Capture) -> None:
    small.two_topics(Path("t.jsonl"))
    asked = ["vllm,num_blocks=40", "unlimited", "vllm"]
    told = result(
        capsys,
        "t.jsonl",
        *(word for name in asked for word in ("--policy", name)),
        "--per-request",
        "o",
        "--what-if",
    )
    small_vllm, bound, vllm = told["policies"]
    assert [each["label"] for each in told["policies"]] == asked
    assert small_vllm["causes"]["eviction"]["lost_tokens"] > 1000
    assert small_vllm["cached_tokens"] < bound["cached_tokens"] / 2
    assert bound["lost_tokens"] == 0
    assert vllm["cached_tokens"] > 0.9 * bound["cached_tokens"]
    assert [row["policy"] for row in rows(Path("o"))] == [0, 1, 2] * 8
    assert (
        "With num_blocks=80 (--num-gpu-blocks-override 80, if they fit) it would reuse" in told["advice"][0]
    )
    worst = small_vllm["worst"][0]
    assert (worst["path"], worst["cause"]) == ("t.jsonl", "eviction")


@pytest.mark.parametrize(
    ("model", "more", "expected"),
    [
        ("llama3.2:3b", {}, ["unlimited", "ollama"]),
        ("gpt-5.1", {}, ["unlimited", "openai"]),
        ("claude-sonnet-4-5", {"max_tokens": 9}, ["unlimited", "anthropic"]),
    ],
)
def test_without_a_policy_what_fits_the_log_is_taken(
    model: str, more: dict[str, Any], expected: list[str], capsys: Capture
) -> None:
    small.chat_log(Path("t.jsonl"), model)
    lines = [json.loads(line) for line in Path("t.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["request"] |= more
        if more:  # Anthropic has its system text beside the messages
            line["request"]["system"] = line["request"]["messages"].pop(0)["content"]
    small.put(Path("t.jsonl"), *lines)
    told = result(capsys, "t.jsonl")
    assert [each["name"] for each in told["policies"]] == expected
    assert any("no --policy was given" in note for note in told["notes"])


def test_without_a_policy_ids_are_tried_on_engines(capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"))
    names = [each["name"] for each in result(capsys, "t.jsonl")["policies"]]
    assert names == ["unlimited", "llama-server", "vllm", "sglang"]
    small.hash_log(Path("h.jsonl"))
    assert [each["name"] for each in result(capsys, "h.jsonl")["policies"]] == ["unlimited", "vllm", "sglang"]


def test_what_the_server_said_stands_first(capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"), cached_tokens=170)
    assert run(["trace", "t.jsonl", "--policy", "vllm"]) == 0
    table = capsys.readouterr().out
    assert table.index("observed") < table.index("vllm")
    told = result(capsys, "t.jsonl", "--policy", "vllm")
    assert told["observed"]["requests"] == 8
    assert told["observed"]["hit_rate_tokens"] == 0.5
    assert told["observed"]["why"] is None


def test_a_server_log_tells_what_was_reused(capsys: Capture) -> None:
    Path("server.log").write_text(small.SERVER_LOG, encoding="utf-8")
    told = result(capsys, "server.log")
    assert told["policies"] == []
    assert (told["observed"]["input_tokens"], told["observed"]["cached_tokens"]) == (620, 288)
    assert told["observed"]["why"] == {"lru": 1, "lcp-similarity": 1}
    assert told["observed"]["worst"][0]["prompt_tokens"] == 300
    assert told["observed"]["saved_ns"] is None, "no time is claimed without a speed"
    timed = result(capsys, "server.log", "--prefill-tokens-per-s", "100")
    assert timed["observed"]["saved_ns"] == 2_880_000_000
    assert run(["trace", "server.log", "--fail-under", "0.4"]) == 0
    assert run(["trace", "server.log", "--fail-under", "0.5"]) == 1
    capsys.readouterr()
    assert run(["trace", "server.log", "--policy", "vllm"]) == 2
    assert "holds no prompts to replay" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["0.5"], 1),
        (["0"], 0),
        (["unlimited=0.7"], 0),
        (["vllm=0.0"], 0),
        (["unlimited=0.7", "vllm=0.7"], 1),
        (["vllm,num_blocks=40=0.5"], 1),
        (["sglang=0.1"], 2),
        (["1.5"], 2),
        (["vllm"], 2),
        (["vllm=nan"], 2),
    ],
)
def test_gates(gates: list[str], code: int, capsys: Capture) -> None:
    small.two_topics(Path("t.jsonl"))
    policies = ["--policy", "vllm,num_blocks=40", "--policy", "unlimited"]
    assert (
        run(["trace", "t.jsonl", *policies, *(word for gate in gates for word in ("--fail-under", gate))])
        == code
    )
    told = capsys.readouterr()
    assert (told.out == "") == (code == 2)
    assert ("of the tokens, less than" in told.err) == (code == 1)


def test_a_gate_that_cannot_tell(capsys: Capture) -> None:
    small.put(Path("t.jsonl"), {"prompt": []}, {"prompt": []})
    told = result(capsys, "t.jsonl", "--policy", "unlimited", "--fail-under", "0.5", code=5)
    assert told["policies"][0]["hit_rate_tokens"] is None


def test_lines_that_cannot_be_used_are_counted_or_end_it(capsys: Capture) -> None:
    small.put(Path("t.jsonl"), {"prompt": [1, 2, 3]}, "{broken", {"prompt": [1, 2, 3, 4]}, "[]")
    told = result(capsys, "t.jsonl", "--policy", "unlimited")
    assert (told["requests"], told["skipped_lines"]) == (2, 2)
    assert any("line 2" in note for note in told["notes"])
    assert run(["trace", "t.jsonl", "--strict", "--per-request", "out.jsonl"]) == 3
    told_error = capsys.readouterr()
    assert told_error.out == ""
    assert "line 2" in told_error.err
    assert [path.name for path in Path().iterdir()] == ["t.jsonl"], "nothing half is left"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "FILE is missing"),
        (["missing.jsonl"], 3, "missing.jsonl"),
        (["empty.jsonl"], 3, "empty.jsonl"),
        (["words.txt"], 3, "words.txt"),
        (["t.jsonl", "--policy", "vlm"], 2, "did you mean vllm?"),
        (["t.jsonl", "--policy", "vllm,blocks=4"], 2, "num_blocks"),
        (["t.jsonl", "--policy", "vllm", "--policy", "vllm"], 2, "given twice"),
        (["t.jsonl", "--sizes", "many"], 2, "1e5,1e6"),
        (["t.jsonl", "--sizes", "0"], 2, "--sizes"),
        (["t.jsonl", "--price", "cheap"], 2, "cheap"),
        (["t.jsonl", "--prefill-tokens-per-s", "0"], 2, "more than 0"),
        (["t.jsonl", "--out", "no/such/folder.json"], 74, "no/such"),
        (["t.jsonl", "--per-request", "."], 74, "folder"),
        (["-", "--curve"], 2, "--sizes"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_printed(
    arguments: list[str], code: int, words: str, capsys: Capture
) -> None:
    small.token_log(Path("t.jsonl"))
    Path("empty.jsonl").touch()
    Path("words.txt").write_text("Just some words.\n" * 5, encoding="utf-8")
    assert run(["trace", *arguments]) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert told.err.startswith("error: ")


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    data = small.token_log(Path("t.jsonl")).read_bytes()
    from_file = result(capsys, "t.jsonl", "--policy", "vllm", "--sizes", "100")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    from_stdin = result(capsys, "-", "--policy", "vllm", "--sizes", "100")
    assert from_stdin["policies"][0]["curve"] == from_file["policies"][0]["curve"] != []


def test_sizes_are_in_tokens_whatever_the_policy_counts(capsys: Capture) -> None:
    small.two_topics(Path("t.jsonl"))
    arguments = ["--policy", "vllm", "--policy", "sglang", "--policy", "unlimited", "--sizes", "400,1e3"]
    vllm, sglang, bound = result(capsys, "t.jsonl", *arguments)["policies"]
    assert [each["size_tokens"] for each in vllm["curve"]] == [400, 1000]
    assert [each["size"] for each in vllm["curve"]] == [26, 64]
    assert sglang["curve"][0]["hit_rate_tokens"] < sglang["curve"][1]["hit_rate_tokens"]
    assert bound["curve"] == []


def test_money_by_model_and_for_what_is_written(capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"), number=2)
    price = "3.00 USD per million tokens, 0.30 cached"
    told = result(capsys, "t.jsonl", "--policy", "unlimited", "--price", price)
    [policy] = told["policies"]
    new, cached = 340 + 40, 300
    assert policy["cached_tokens"] == cached
    assert policy["cost"] == pytest.approx((3 * new + 0.3 * cached) / 1e6)
    assert policy["cost_without_reuse"] == pytest.approx(3 * (new + cached) / 1e6)
    assert policy["currency"] == "USD"
    small.token_log(Path("t.jsonl"), number=2, model="a")
    Path("pyproject.toml").write_text(
        '[tool.promptorder.trace.prices]\nb = "1.00 EUR per hour"\n', encoding="utf-8"
    )
    told = result(capsys, "t.jsonl", "--policy", "unlimited")
    assert told["policies"][0]["cost"] is None
    assert any("there is no price for a" in note for note in told["notes"])


def test_a_price_by_the_hour_needs_a_speed(capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"), number=2)
    price = ["--policy", "unlimited", "--price", "7.20 EUR per hour"]
    assert result(capsys, "t.jsonl", *price)["policies"][0]["cost"] is None
    [policy] = result(capsys, "t.jsonl", *price, "--prefill-tokens-per-s", "38")["policies"]
    assert policy["cost"] == pytest.approx(380 / 38 / 3600 * 7.2)
    assert policy["saved_ns"] == round(300 / 38 * 1e9)


def test_a_clock_in_front_is_found_in_the_prompts(capsys: Capture) -> None:
    small.chat_log(Path("t.jsonl"), clock=True)
    told = result(capsys, "t.jsonl")
    assert told["policies"][0]["hit_rate_tokens"] < 0.1
    advice = " ".join(told["advice"])
    assert "promptorder lint t.jsonl" in advice
    early = told["early"][0]
    assert early["earlier"]["line"] == early["line"] - 1
    assert f"promptorder diff t.jsonl:{early['earlier']['line']} t.jsonl:{early['line']}" in advice


def test_settings_of_the_project(capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"))
    Path("pyproject.toml").write_text(
        '[tool.promptorder.trace]\npolicy = ["vllm,num_blocks=9", "unlimited"]\nfail-under = ["unlimited=0.99"]\n',
        encoding="utf-8",
    )
    assert [each["name"] for each in result(capsys, "t.jsonl", code=1)["policies"]] == ["vllm", "unlimited"]
    assert run(["--show-settings", "trace"]) == 0
    assert "vllm,num_blocks=9, unlimited" in capsys.readouterr().out


def test_policies_are_listed_with_what_their_options_mean(capsys: Capture) -> None:
    assert run(["trace", "--list-policies"]) == 0
    told = capsys.readouterr().out
    assert all(len(line) <= 80 for line in told.splitlines())
    for name, module in REGISTRY.load_all().items():
        assert re.search(rf"^{name}$", told, re.MULTILINE)
        meant = meanings(module.Options)
        for option in module.Options.__dataclass_fields__:
            assert meant[option], f"{name}: what {option} means is not told"
            assert f"  {option} (" in told


def test_the_table_fits_80_columns_and_has_no_colour(capsys: Capture) -> None:
    small.two_topics(Path("t.jsonl"))
    long = "llama-server,slots=1,context_tokens=1024,cache_ram_mib=0,slot_prompt_similarity=0.5"
    assert run(["trace", "t.jsonl", "--policy", long, "--policy", "unlimited", "--sizes", "400"]) == 0
    told = capsys.readouterr().out
    assert all(len(line) <= 80 for line in told.splitlines())
    assert "\x1b" not in told


def test_an_output_file_names_its_format(capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"))
    for name, start in (("a.json", "{"), ("a.html", "<!DOCTYPE html>"), ("a.txt", "t.jsonl: 8 requests")):
        assert run(["trace", "t.jsonl", "--policy", "vllm", "--out", name]) == 0
        assert Path(name).read_text(encoding="utf-8").startswith(start)
    assert capsys.readouterr().out == ""


def started(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "promptorder", "trace", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of Windows are others")
def test_what_is_done_is_kept_when_it_is_stopped(tmp_path: Path) -> None:
    with started(
        "-", "--policy", "unlimited", "--format", "json", "--per-request", "o.jsonl", stdin=subprocess.PIPE
    ) as going:
        assert going.stdin is not None
        # Read in large pieces: what is waited for comes behind the first of them
        line = json.dumps({"prompt": list(range(2000))}).encode() + b"\n"
        going.stdin.write(line * 400)
        going.stdin.flush()
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".o.jsonl*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        going.send_signal(signal.SIGINT)
        out, err = going.communicate(timeout=60)
    assert going.returncode == 130, err
    told = json.loads(out)
    jsonschema.Draft202012Validator(schema("trace-1")).validate(told)
    assert told["complete"] is False
    assert 0 < told["requests"] <= 400
    assert len(rows(tmp_path / "o.jsonl")) == told["requests"]
    assert b"interrupted after" in err
    assert [path.name for path in tmp_path.iterdir()] == ["o.jsonl"]


def test_nothing_heavy_is_loaded_for_json(tmp_path: Path) -> None:
    small.token_log(tmp_path / "t.jsonl")
    code = (
        "import sys; from promptorder.cli import run; "
        "assert run(['trace', 't.jsonl', '--policy', 'vllm', '--format', 'json']) == 0; "
        f"print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8")
    assert done.stderr.strip() == ""


def test_the_library_gives_the_same_figures(capsys: Capture) -> None:
    small.two_topics(Path("t.jsonl"))
    told = result(capsys, "t.jsonl", "--policy", "vllm,num_blocks=40", "--curve")
    found = promptorder.trace("t.jsonl", policies=["vllm,num_blocks=40"], curve=True)
    assert isinstance(found, promptorder.TraceResult)
    policy, [as_json] = found.policy("vllm"), told["policies"]
    assert policy is found.policy("vllm,num_blocks=40")
    assert policy.rates.hit_rate_tokens == as_json["hit_rate_tokens"]
    assert [point._asdict() for point in policy.curve] == as_json["curve"]
    with pytest.raises(KeyError):
        found.policy("sglang")
    with pytest.raises(promptorder.PromptorderError):
        promptorder.trace("t.jsonl", policies=["nothing"])


def cached_of(path: Path, policy: int) -> list[int]:
    return [row["cached_tokens"] for row in rows(path) if row["policy"] == policy]


@pytest.mark.skipif(not MOONCAKE.is_file(), reason="the published traces are not here")
def test_each_request_is_as_with_the_real_block_engines() -> None:
    vllm = json.loads((SHARED / "goldens" / "vllm0330_conversation.json").read_text(encoding="utf-8"))
    sglang = json.loads((SHARED / "goldens" / "sglang0523_conversation.json").read_text(encoding="utf-8"))
    policies = {f"vllm,num_blocks={size},hash_block_tokens=16": each for size, each in vllm.items()}
    policies |= {f"sglang,capacity_tokens={size},hash_block_tokens=1": each for size, each in sglang.items()}
    asked = [word for name in policies for word in ("--policy", name)]
    assert run(["trace", str(MOONCAKE), *asked, "--per-request", "out.jsonl", "--out", "out.json"]) == 0
    got: dict[int, list[int]] = {}
    for row in rows(Path("out.jsonl")):
        got.setdefault(row["policy"], []).append(row["cached_tokens"])
    for number, (name, expected) in enumerate(policies.items()):
        assert got[number] == expected, name


@pytest.mark.parametrize(
    ("golden", "policy", "key"),
    [
        ("llamaserver_np1_default", "llama-server", "cache_n"),
        ("llamaserver_np1_noram", "llama-server,cache_ram_mib=0", "cache_n"),
        ("ollama0333_par1_101", "ollama,context_tokens=4096", "cached_tokens"),
        ("ollama065_par1_201", "ollama-runner", "cached_tokens"),
    ],
)
def test_each_request_is_as_with_the_real_slot_servers(golden: str, policy: str, key: str) -> None:
    source = SHARED / "goldens" / f"{golden}.jsonl.gz"
    if not source.is_file():
        pytest.skip("the recorded servers are not here")
    shutil.copy(source, "t.jsonl.gz")
    assert (
        run(["trace", "t.jsonl.gz", "--policy", policy, "--per-request", "out.jsonl", "--out", "out.json"])
        == 0
    )
    expected = [json.loads(line)[key] for line in gzip.decompress(source.read_bytes()).splitlines()]
    got = cached_of(Path("out.jsonl"), 0)
    assert len(got) == len(expected)
    assert [(mine, real) for mine, real in zip(got, expected, strict=True) if real not in (None, mine)] == []


# ---------------------------------------------------------------- how files are read


def test_parts_of_one_trace_share_their_ids(capsys: Capture) -> None:
    """Small ids are counted anew in each trace; parts of one go on counting."""
    for name in ("one", "two"):
        small.hash_log(Path(name))
    apart = result(capsys, "one", "two", "--policy", "unlimited")["policies"][0]
    parts = result(capsys, "one", "two", "--policy", "unlimited", "--shared-ids")["policies"][0]
    assert parts["cached_tokens"] > apart["cached_tokens"] + 1000


def test_subagents_are_counted_where_they_are_asked_for(capsys: Capture) -> None:
    inside = {"t": 1, "requests": [{"t": 0, "in": 64, "hash_ids": [3]}]}
    asked = [{"t": 0, "in": 64, "hash_ids": [0]}, inside]
    small.put(Path("s.jsonl"), {"id": "a", "block_size": 64, "requests": asked})
    assert result(capsys, "s.jsonl", "--policy", "unlimited")["requests"] == 1
    assert result(capsys, "s.jsonl", "--policy", "unlimited", "--subagents")["requests"] == 2


def test_a_format_can_be_named(capsys: Capture) -> None:
    """A file is read as what it is said to hold, be it none of that."""
    small.put(Path("t"), {"model": "m", "prompt": "hello"})
    assert run(["trace", "t", "--input-format", "token-ids"]) == 3
    assert "no list of token ids" in capsys.readouterr().err
    assert result(capsys, "t", "--input-format", "requests")["form"] == "request bodies (JSON lines)"
    assert run(["trace", "t", "--input-format", "csv"]) == 2


def test_requests_of_several_services_are_told(capsys: Capture) -> None:
    one, two = small.chat_log(Path("one")), small.chat_log(Path("two"), "gpt-5.1")
    Path("both").write_text(one.read_text() + two.read_text())
    notes = " ".join(result(capsys, "both")["notes"])
    assert "requests of several services stand in it (ollama 6, openai 6)" in notes


def test_bytes_are_not_shown_as_text(capsys: Capture) -> None:
    Path("b").write_bytes(bytes(each for each in range(128, 256)) * 8)
    assert run(["trace", "b"]) == 3
    assert "error: b: the file holds no text" in capsys.readouterr().err


def test_sizes_may_be_written_with_an_exponent(capsys: Capture) -> None:
    small.token_log(Path("t.jsonl"))
    (policy,) = result(capsys, "t.jsonl", "--policy", "sglang,capacity_tokens=1e6")["policies"]
    assert policy["options"] == {"capacity_tokens": 1_000_000}
    assert run(["trace", "t.jsonl", "--policy", "sglang,capacity_tokens=1.5e0"]) == 2
