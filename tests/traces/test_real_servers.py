"""What real servers leave behind: the bodies that Ollama keeps, its answers, its log."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from servers import OllamaServer, ServersUnavailableError
from trace_logs import opened, read, written

import promptorder
from promptorder.model.serverlog import LoggedRequest
from promptorder.model.trace import TraceRequest
from promptorder.model.trace_result import TraceResult
from promptorder.traces import TraceOptions
from promptorder.vocabularies import open_tokenizer

pytestmark = pytest.mark.server
RULES = " ".join(["the quick reader answers every question from the handbook alone"] * 30)
PROMPTS = [f"{RULES} {question}" for question in ("who reads it", "when is it read", "who reads it")]


class Left(NamedTuple):
    """The folder of bodies, the server's log, and a log of one's own."""

    bodies: Path
    server_log: Path
    own_log: str


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory, tiny_gguf: Path) -> Iterator[Left]:
    folder = tmp_path_factory.mktemp("kept")
    variables = {"OLLAMA_DEBUG_LOG_REQUESTS": "1", "TMPDIR": str(folder)}
    lines = []
    try:
        started = OllamaServer("0.33.3", env=variables, log_path=folder / "server.log")
    except ServersUnavailableError as error:
        pytest.skip(str(error))
    with started as server:
        server.create_model("traced", tiny_gguf, "{{ .Prompt }}")
        for prompt in PROMPTS:
            body: dict[str, Any] = {
                "model": "traced",
                "prompt": prompt,
                "raw": True,
                "stream": False,
                "options": {"num_predict": 4, "num_ctx": 2048, "temperature": 0},
            }
            (answer,) = server.post("/api/generate", body)
            lines.append({"ts": time.time(), "request": body, "response": answer})
        server.post("/api/generate", {"model": "traced", "keep_alive": 0})
    (bodies,) = folder.glob("ollama-request-logs-*")
    own = written(folder, "".join(json.dumps(line) + "\n" for line in lines))
    yield Left(bodies, folder / "server.log", own)


@pytest.fixture(scope="module")
def options(tiny_gguf: Path) -> TraceOptions:
    return TraceOptions(tokenizer=lambda: open_tokenizer(str(tiny_gguf)))


def shared(a: TraceRequest, b: TraceRequest) -> int:
    pairs = zip(a.ids, b.ids, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(a.ids), len(b.ids)))


def test_prompts_have_the_tokens_that_the_server_counts(left: Left, options: TraceOptions) -> None:
    log = opened(left.own_log, options)
    first, second, third = log.requests()
    assert [len(each.ids) for each in (first, second, third)] == [
        each.prompt_tokens for each in (first, second, third)
    ]
    assert log.report.counted_tokens == log.report.said_tokens
    assert log.report.tokenizer_exact
    assert first.observed_cached_tokens == 0
    assert second.observed_cached_tokens == shared(first, second) > 100
    assert third.observed_cached_tokens is not None
    assert third.observed_cached_tokens >= shared(second, third)


def test_kept_bodies_are_the_same_requests(left: Left, options: TraceOptions) -> None:
    log = opened(str(left.bodies), options)
    kept, own = list(log.requests()), read(left.own_log, options)
    assert [each.ids for each in kept] == [each.ids for each in own]
    for one, other in zip(kept, own, strict=True):
        assert one.at_s == pytest.approx(other.at_s, abs=2)
        assert (one.model, one.api) == ("traced", "ollama")
    assert log.report.skipped_lines == 0


def test_the_servers_log_tells_the_same_reuse(left: Left, options: TraceOptions) -> None:
    log = opened(str(left.server_log))
    assert log.holds == "server-log"
    said = [entry.cached_tokens for _, entry in log.log_entries() if isinstance(entry, LoggedRequest)]
    assert said[-3:] == [each.observed_cached_tokens for each in read(left.own_log, options)]


# ---------------------------------------------------------------- a day of an application, replayed

CHAT_TEMPLATE = "{{- range .Messages }}{{ .Role }} {{ .Content }} {{ end }}assistant"
MANUALS = [" ".join([word, *RULES.split()[:60], word] * 3) for word in ("first", "second", "third")]
QUESTIONS = ("who reads it", "when is it read", "why is it read", "where is it read")


class Day(NamedTuple):
    """Logs of the same requests: prompts as they are, chats, and the server's own."""

    raw: Path
    chats: Path
    server_log: Path


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory, tiny_gguf: Path) -> Day:
    """Three manuals in turn: asked about each by itself, and in conversations that grow."""
    folder = tmp_path_factory.mktemp("day")
    options = {"num_predict": 5, "num_ctx": 2048, "temperature": 0}
    raw, chats, turns = [], [], [[{"role": "system", "content": manual}] for manual in MANUALS]

    def asked(server: OllamaServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
        begun = time.time()
        (answer,) = server.post(path, {**body, "stream": False, "options": options})
        return {"ts": begun, "request": {**body, "stream": False, "options": options}, "response": answer}

    try:
        started = OllamaServer("0.33.3", env={"OLLAMA_NUM_PARALLEL": "1"}, log_path=folder / "server.log")
    except ServersUnavailableError as error:
        pytest.skip(str(error))
    with started as server:
        server.create_model("traced-raw", tiny_gguf, "{{ .Prompt }}")
        server.create_model("traced-chat", tiny_gguf, CHAT_TEMPLATE)
        for question in QUESTIONS * 2:
            for manual in MANUALS:
                body = {"model": "traced-raw", "prompt": f"{manual} {question}", "raw": True}
                raw.append(asked(server, "/api/generate", body))
        for question in QUESTIONS:
            for messages in turns:
                messages.append({"role": "user", "content": question})
                chats.append(asked(server, "/api/chat", {"model": "traced-chat", "messages": list(messages)}))
                messages.append(chats[-1]["response"]["message"])
    for name, lines in (("raw", raw), ("chats", chats)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Day(folder / "raw.jsonl", folder / "chats.jsonl", folder / "server.log")


def replayed(path: Path, tiny_gguf: Path, lines: Path | None = None) -> TraceResult:
    result: TraceResult = promptorder.trace(
        path, policies=["ollama,context_tokens=2048"], tokenizer=str(tiny_gguf), per_request=lines
    )
    return result


def counts(path: Path) -> list[tuple[int, int]]:
    """Prompt and reused tokens, as the replies tell them."""
    replies = [json.loads(line)["response"] for line in path.read_text().splitlines()]
    return [(reply["prompt_eval_count"], reply["prompt_eval_cached_count"]) for reply in replies]


def test_replies_log_and_replay_of_prompts_as_they_are_are_equal(
    day: Day, tiny_gguf: Path, tmp_path: Path
) -> None:
    told = counts(day.raw)
    assert sum(cached > 100 for _, cached in told) > 15
    log = [
        entry for _, entry in opened(str(day.server_log)).log_entries() if isinstance(entry, LoggedRequest)
    ]
    assert [(each.prompt_tokens, each.cached_tokens) for each in log[: len(told)]] == told
    result = replayed(day.raw, tiny_gguf, tmp_path / "lines")
    assert result.observed is not None
    (policy,) = result.policies
    assert policy.rates == result.observed.rates
    assert policy.rates.cached_tokens == sum(cached for _, cached in told)
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert [(line["prompt_tokens"], line["cached_tokens"]) for line in lines] == told


def test_a_servers_log_tells_what_all_replies_told(day: Day) -> None:
    told = counts(day.raw) + counts(day.chats)
    observed = promptorder.trace(day.server_log).observed
    assert observed is not None
    assert observed.rates.requests == len(told) == 36
    assert (observed.rates.input_tokens, observed.rates.cached_tokens) == tuple(
        map(sum, zip(*told, strict=True))
    )


def test_replayed_chats_are_near(day: Day, tiny_gguf: Path) -> None:
    """What a template lays around messages is not in a log; its share of these short ones is small all the same."""
    result = replayed(day.chats, tiny_gguf)
    assert result.observed is not None
    (policy,) = result.policies
    own, real = policy.rates.hit_rate_tokens, result.observed.rates.hit_rate_tokens
    assert own is not None
    assert real is not None
    assert own == pytest.approx(real, abs=0.03)
    assert policy.rates.input_tokens == pytest.approx(result.observed.rates.input_tokens, rel=0.05)
