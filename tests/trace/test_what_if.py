"""Other settings: which are replayed for which loss, what is said of them, and when they are left alone."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import small_traces as small

import promptorder
from promptorder import trace_passes
from promptorder.cli import run
from promptorder.errors import UsageError
from promptorder.model.trace import Cause
from promptorder.model.trace_result import Loss, Trial
from promptorder.policies._options import parse_policy
from promptorder.reports._trace._advice import advice
from promptorder.tracing.what_if import attempts, best

WORDS = "pump valve switch manual seal bolt torque panel drain filter".split()
RULES = " ".join(WORDS * 300)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tried(policy: str, cause: Cause, lost: int = 50, models: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    found = attempts([parse_policy(policy)], [[Loss(cause, 1, lost)]], 100, models)
    assert all(each.cause is cause and each.number == 0 for each in found)
    for each in found:  # what is told is what is replayed
        assert {name: getattr(each.policy.options, name) for name in each.changed} == each.changed
    return [dict(each.changed) for each in found]


@pytest.mark.parametrize(
    ("policy", "cause", "expected"),
    [
        ("llama-server,cache_ram_mib=0", Cause.EVICTION, [0.5, 0.95, 8192, 2, 4, 8]),
        ("llama-server,slots=3", Cause.OTHER_SLOT, [0.5, 0.95, 6, 12, 24]),
        ("ollama,parallel=2", Cause.HOST_CACHE, [4, 8, 16]),
        ("ollama", Cause.LIFETIME, [1800.0, 3600.0, None]),
        ("ollama,keep_alive_s=1800", Cause.LIFETIME, [3600.0, None]),
        ("ollama,keep_alive_s=unlimited", Cause.LIFETIME, []),
        ("ollama", Cause.CUT, [16384, 32768]),
        ("llama-server", Cause.TOO_LONG, [16384, 32768]),
        ("vllm,num_blocks=10", Cause.EVICTION, [20, 40]),
        ("sglang,capacity_tokens=10", Cause.EVICTION, [20, 40]),
        ("anthropic", Cause.LIFETIME, [3600.0]),
        ("anthropic,lifetime_s=3600", Cause.LIFETIME, []),
        ("openai", Cause.LIFETIME, [86400.0]),
        ("anthropic,mark_system=true", Cause.NOT_MARKED, [True]),
        ("openai", Cause.NOT_MARKED, [True]),
        ("anthropic", Cause.BELOW_MINIMUM, []),
        ("llama-server", Cause.SWITCHED_OFF, []),
        ("unlimited", Cause.EVICTION, []),
    ],
)
def test_what_is_tried_follows_from_what_was_lost(policy: str, cause: Cause, expected: list[object]) -> None:
    assert [value for changed in tried(policy, cause) for value in changed.values()] == expected


def test_slots_of_ollamas_runner_are_kept_apart_only_with_its_flag() -> None:
    assert {"multiuser_cache": True, "parallel": 4} in tried("ollama-runner", Cause.EVICTION)


def test_a_day_is_not_offered_where_the_service_has_none() -> None:
    assert tried("openai", Cause.LIFETIME, models=("gpt-5.6",)) == []


def test_small_losses_are_left_alone() -> None:
    assert tried("vllm,num_blocks=10", Cause.EVICTION, lost=1) == []


def trial(rate: float, value: int) -> Trial:
    return Trial(f"vllm,num_blocks={value}", {"num_blocks": value}, Cause.EVICTION, 0, rate)


def test_the_cheapest_that_helps_as_much_is_best() -> None:
    three = [trial(0.60, 2), trial(0.78, 4), trial(0.80, 8)]
    assert best(three, 0.5) == three[1]
    assert best(three[:1], 0.595) is None
    assert best([], 0.5) is None
    assert best(three, None) is None


# ---------------------------------------------------------------- replayed


def marked(path: Path, *, gap_s: int, marks: bool = True, model: str = "claude-sonnet-4-5") -> Path:
    """Six requests about the same rules; the question changes."""
    system: dict[str, Any] = {"type": "text", "text": RULES}
    if marks:
        system["cache_control"] = {"type": "ephemeral"}
    return small.put(
        path,
        *(
            {
                "ts": 1_790_000_000 + gap_s * number,
                "request": {
                    "model": model,
                    "max_tokens": 9,
                    "system": [system],
                    "messages": [{"role": "user", "content": f"Question {number}: {WORDS[number]}?"}],
                },
            }
            for number in range(6)
        ),
    )


def test_advice_is_what_a_replay_gives() -> None:
    """The figures are those that the same command line gives when it is run."""
    small.two_topics(Path("t.jsonl"))
    told = promptorder.trace("t.jsonl", policies=["vllm,num_blocks=40"])
    (policy,) = told.policies
    assert policy.trials is not None
    for each in policy.trials:
        (again,) = promptorder.trace("t.jsonl", policies=[each.label]).policies
        assert each.hit_rate_tokens == again.rates.hit_rate_tokens
        assert each.cached_tokens == again.rates.cached_tokens
    (sentence,) = advice(told)
    found = best(policy.trials, policy.rates.hit_rate_tokens)
    assert found is not None
    assert (
        f"{100 * (found.hit_rate_tokens or 0):.1f} % instead of {100 * (policy.rates.hit_rate_tokens or 0):.1f} %"
        in sentence
    )
    assert sentence.endswith(f"--policy {found.label}")


def test_conversations_that_overwrite_each_other_are_kept_apart_by_similarity() -> None:
    """They share so long a start that each is put into the slot of the other, however many slots there are."""
    start = list(range(1500))
    lines = [
        {"prompt": start + [who + each for each in range(200 * turn)]}
        for turn in range(1, 5)
        for who in (10_000, 20_000)
    ]
    small.put(Path("t.jsonl"), *lines)
    told = promptorder.trace("t.jsonl", policies=["llama-server,slots=2", "ollama,parallel=2"])
    first, second = advice(told)
    assert "With slot_prompt_similarity=0.95 (--slot-prompt-similarity 0.95) it would reuse" in first
    assert "No setting that was tried helps (cache_ram_mib=32768; parallel=4, 8 and 16)." in second


def test_where_nothing_helps_it_is_said() -> None:
    """Requests an hour and more apart: no lifetime of the service is as long."""
    marked(Path("t.jsonl"), gap_s=5000)
    told = promptorder.trace("t.jsonl", policies=["anthropic"])
    text = " ".join(advice(told))
    assert "No setting that was tried helps (lifetime_s=3600)." in text
    assert "What may help: requests that share a start, sent closer together." in text


def test_a_longer_lifetime_helps_marks_that_do_not_say_one() -> None:
    marked(Path("t.jsonl"), gap_s=900)
    told = promptorder.trace(
        "t.jsonl",
        policies=["anthropic"],
        prices={"*": "3 USD per million tokens, 0.30 cached, 3.75 written, 6 written long"},
    )
    text = " ".join(advice(told))
    assert 'With lifetime_s=3600 ("ttl": "1h" in the marks) it would reuse' in text
    assert ", and cost " in text


def test_what_costs_more_is_said_to() -> None:
    """Two requests: an hour's writing costs more than one reading brings."""
    path = marked(Path("t.jsonl"), gap_s=900)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    told = promptorder.trace(
        "t.jsonl",
        policies=["anthropic"],
        prices={"*": "3 USD per million tokens, 0.30 cached, 3.75 written, 60 written long"},
    )
    assert ", but cost " in " ".join(advice(told))


def test_a_mark_behind_the_system_text_is_tried() -> None:
    marked(Path("t.jsonl"), gap_s=30, marks=False)
    (policy,) = promptorder.trace("t.jsonl", policies=["anthropic"]).policies
    assert policy.trials is not None
    rates = {each.label: each.hit_rate_tokens or 0 for each in policy.trials}
    assert rates["anthropic,mark_system=true"] > 0.8
    assert rates["anthropic,automatic=true"] == 0  # each question is another block, and the last one


def test_prompts_that_do_not_fit_come_first() -> None:
    small.token_log(Path("t.jsonl"))
    for policy, words in (("ollama", "lost their middle"), ("llama-server", "were refused")):
        told = promptorder.trace("t.jsonl", policies=[f"{policy},context_tokens=256"])
        assert f"8 of 8 prompts did not fit and {words}" in advice(told)[0]


def test_time_is_bounded_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    small.two_topics(Path("t.jsonl"))
    policy = ["vllm,num_blocks=40"]
    monkeypatch.setattr(trace_passes, "_TRIED_WITHIN_S", 0.0)
    told = promptorder.trace("t.jsonl", policies=policy)
    assert told.policies[0].trials is None
    assert any("--what-if tries them" in note for note in told.notes)
    assert promptorder.trace("t.jsonl", policies=policy, what_if=True).policies[0].trials
    quiet = promptorder.trace("t.jsonl", policies=policy, what_if=False)
    assert quiet.policies[0].trials is None
    assert not any("--what-if" in note for note in quiet.notes)


def test_a_pipe_is_read_once(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    lines = small.two_topics(Path("t.jsonl")).read_bytes()

    def write() -> None:
        Path("pipe").write_bytes(lines)

    threading.Thread(target=write, daemon=True).start()
    told = promptorder.trace("pipe", policies=["vllm,num_blocks=40"])
    assert told.requests == 8
    assert "other settings were not tried, for a pipe can be read only once" in told.notes
    for option in ("what_if", "curve"):
        with pytest.raises(UsageError, match="a pipe can be read only once"):
            promptorder.trace("pipe", policies=["vllm,num_blocks=40"], **{option: True})
    assert run(["trace", "missing", "--what-if"]) == 3
    assert "no such file" in capsys.readouterr().err


def test_json_has_the_trials(capsys: pytest.CaptureFixture[str]) -> None:
    small.two_topics(Path("t.jsonl"))
    asked = ["trace", "t.jsonl", "--policy", "vllm,num_blocks=40", "--policy", "vllm", "--format", "json"]
    assert run(asked) == 0
    assert [each["trials"] for each in json.loads(capsys.readouterr().out)["policies"]] == [None, None]
    assert run([*asked, "--what-if"]) == 0
    small_vllm, vllm = json.loads(capsys.readouterr().out)["policies"]
    assert vllm["trials"] is None
    assert [each["changed"] for each in small_vllm["trials"]] == [{"num_blocks": 80}, {"num_blocks": 160}]
    assert {each["cause"] for each in small_vllm["trials"]} == {"eviction"}
