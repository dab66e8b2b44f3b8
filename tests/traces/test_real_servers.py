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

from promptorder.model.serverlog import LoggedRequest
from promptorder.model.trace import TraceRequest
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
