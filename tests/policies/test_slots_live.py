"""The slot policies against real servers: what they say they reused, in every request."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from servers import unavailable_reason
from slot_traffic import LlamaServer, Traffic, ask_ollama, converse, differing, tiny_ollama

from promptorder.model.trace import TraceRequest
from promptorder.policies._options import parse_policy

pytestmark = pytest.mark.server
REQUESTS = 60

LLAMA_SERVERS = {
    "-c 8192 -np 1": "llama-server",
    "-c 16384 -np 2": "llama-server,slots=2",
    "-c 32768 -np 4": "llama-server,slots=4",
    "-c 8192": "llama-server,slots=4,unified=true",
    "-c 2048 --cache-ram 0": "llama-server,slots=4,unified=true,context_tokens=2048,cache_ram_mib=0",
    "-c 16384 -np 2 --cache-ram 1": "llama-server,slots=2,cache_ram_mib=1,kv_bytes_per_token=256",
    "-c 2048 -np 2 --cache-ram -1": "llama-server,slots=2,context_tokens=1024,cache_ram_mib=unlimited",
    "-c 16384 -np 2 --cache-reuse 4": "llama-server,slots=2,cache_reuse=4",
    "-c 16384 -np 2 --slot-prompt-similarity 0": "llama-server,slots=2,slot_prompt_similarity=0",
    "-c 16384 -np 2 --no-cache-idle-slots": "llama-server,slots=2,cache_idle_slots=false",
    "-c 500 -np 1": "llama-server,context_tokens=500",
}
OLLAMAS = [
    ("0.33.3", "1", "", "ollama,context_tokens=4096"),
    ("0.33.3", "2", "", "ollama,context_tokens=512,parallel=2"),
    ("0.33.3", "4", "", "ollama,context_tokens=4096,parallel=4"),
    ("0.6.5", "1", "", "ollama-runner"),
    ("0.6.5", "2", "", "ollama-runner,context_tokens=512,parallel=2"),
    ("0.6.5", "3", "1", "ollama-runner,parallel=3,multiuser_cache=true"),
]


@pytest.fixture(scope="module", autouse=True)
def _servers() -> None:
    reason = unavailable_reason(["0.33.3", "0.6.5"])
    if reason and os.environ.get("CI") != "true":
        pytest.skip(reason)


@pytest.mark.parametrize("flags", LLAMA_SERVERS)
@pytest.mark.parametrize("answer_tokens", [1, 6])
def test_llama_server(tiny_gguf: Path, flags: str, answer_tokens: int) -> None:
    with LlamaServer(tiny_gguf, *flags.split()) as server:
        asked = converse(Traffic(answer_tokens), lambda prompt: server.ask(prompt, answer_tokens), REQUESTS)
    assert sum(bool(each.reused_tokens) for each in asked) > REQUESTS / 4
    assert differing(LLAMA_SERVERS[flags], asked) == []


@pytest.mark.parametrize("flags", ["-c 16384 -np 2", "-c 16384 -np 2 --cache-reuse 4", "-c 8192"])
def test_llama_server_where_some_requests_switch_reuse_off(tiny_gguf: Path, flags: str) -> None:
    """They read all anew, and what they leave behind is reused by others; slots and host's cache go on as ever."""
    draw = random.Random(flags)
    with LlamaServer(tiny_gguf, *flags.split()) as server:
        asked = converse(
            Traffic(8), lambda prompt: server.ask(prompt, 3, may_reuse=draw.random() < 0.6), 2 * REQUESTS
        )
    unwilling = [each for each in asked if not each.may_reuse and each.reused_tokens is not None]
    assert len(unwilling) > REQUESTS / 3
    assert {each.reused_tokens for each in unwilling} == {0}
    assert differing(LLAMA_SERVERS[flags], asked) == []


@pytest.mark.parametrize(("version", "parallel", "multiuser", "policy"), OLLAMAS)
def test_ollama(tiny_gguf: Path, version: str, parallel: str, multiuser: str, policy: str) -> None:
    context_tokens = parse_policy(policy).options.context_tokens
    env = {"OLLAMA_NUM_PARALLEL": parallel, "OLLAMA_MULTIUSER_CACHE": multiuser}
    with tiny_ollama(version, tiny_gguf, **env) as server:
        asked = converse(
            Traffic(int(parallel)),
            lambda prompt: ask_ollama(server, prompt, context_tokens=context_tokens, answer_tokens=30),
            REQUESTS,
        )
    assert differing(policy, asked) == []


@pytest.mark.parametrize(("version", "policy"), [("0.33.3", "ollama"), ("0.6.5", "ollama-runner")])
def test_an_unused_model_is_unloaded(tiny_gguf: Path, version: str, policy: str) -> None:
    cache = parse_policy(f"{policy},keep_alive_s=1").open()
    counted, replayed = [], []
    with tiny_ollama(version, tiny_gguf) as server:
        for index, wait_s in enumerate((0.0, 0.1, 2.5, 0.1)):
            time.sleep(wait_s)
            asked = ask_ollama(server, list(range(50)), context_tokens=4096, keep_alive="1s")
            counted.append(asked.reused_tokens)
            request = TraceRequest(index, index + 1, asked.prompt, at_s=time.monotonic())
            replayed.append(cache.serve(request).cached_tokens)
    assert replayed == counted == [0, 49, 0, 49]
