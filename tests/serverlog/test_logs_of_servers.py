"""The logs of real servers, held to what the same servers answer."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bare_llama_server import BareLlamaServer
from servers import OllamaServer, ServersUnavailableError, parse_log

from promptorder.model.serverlog import CacheChange, LoggedRequest, SlotChoice
from promptorder.serverlog import read_log, recognise

pytestmark = pytest.mark.server


def logged(path: Path) -> list[LoggedRequest]:
    with path.open("rb") as lines:
        return [entry for entry in read_log(lines) if isinstance(entry, LoggedRequest)]


@pytest.mark.parametrize(
    "arguments", [("-lv", "4"), (), ("-lv", "4", "--log-colors", "on"), ("-lv", "4", "--no-log-prefix")]
)
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_a_bare_server_answers_what_it_logs(
    tmp_path: Path, tiny_gguf: Path, arguments: tuple[str, ...], slots: int
) -> None:
    """Sixty random prompts over one to four slots, some at once: each reply's own count is in the log."""
    chance = random.Random(slots)
    words = [f"word{number % 7} stands" for number in range(60)]
    prompts = [
        " ".join(
            [
                *words[: chance.randrange(1, 60)],
                *(f"tail{chance.randrange(9)}" for _ in range(chance.randrange(9))),
            ]
        )
        for _ in range(60)
    ]
    log = tmp_path / "server.log"
    try:
        server = BareLlamaServer(
            tiny_gguf, log, "-c", str(2048 * slots), "--parallel", str(slots), *arguments
        )
    except ServersUnavailableError as error:
        pytest.skip(str(error))
    with server:

        def ask(prompt: str) -> tuple[int, int, int]:
            timings = server.complete(prompt, n_predict=chance.randrange(1, 9))["timings"]
            return timings["cache_n"] + timings["prompt_n"], timings["cache_n"], timings["predicted_n"]

        one_by_one = [ask(prompt) for prompt in prompts[:30]]
        with ThreadPoolExecutor(slots) as pool:
            at_once = list(pool.map(ask, prompts[30:]))
    found = [(r.prompt_tokens, r.cached_tokens, r.decode_tokens) for r in logged(log)]
    assert found[:30] == one_by_one
    assert sorted(found[30:]) == sorted(at_once)
    assert recognise(log.read_bytes().splitlines()[:300]) == "llama-server"


def test_an_ollama_server_answers_what_it_logs(any_server: OllamaServer) -> None:
    text = " ".join(f"word{number % 97} stands" for number in range(70))
    offset = any_server.log_offset()
    replies = [
        any_server.post(
            "/api/chat",
            {
                "model": "tiny",
                "stream": False,
                "messages": [{"role": "user", "content": f"{text} {question}"}],
                "options": {"num_ctx": 4096, "num_predict": 3, "seed": 1},
            },
        )[-1]
        for question in ("one?", "two?", "two?")
    ]
    truth = any_server.counted_since(offset, 3)
    lines = any_server.log_since(offset).splitlines()
    found = [entry for entry in read_log(lines) if isinstance(entry, LoggedRequest)]
    assert [(r.prompt_tokens, r.cached_tokens) for r in found] == truth
    assert len(found) == 3
    if "prompt_eval_cached_count" in replies[0]:
        assert [r["prompt_eval_cached_count"] for r in replies] == [r.cached_tokens for r in found]
    if any_server.version != "0.6.5":
        for reply, entry in zip(replies, found, strict=True):
            assert entry.prefill_ns == pytest.approx(reply["prompt_eval_duration"], abs=20_000)
        assert [r.why for r in found][1:] == [SlotChoice.LCP_SIMILARITY] * 2
    assert found == [r for r in read_log(lines) if isinstance(r, LoggedRequest)]
    assert len(parse_log("\n".join(lines))) == 3


def test_loading_and_unloading_stand_in_the_log(any_server: OllamaServer) -> None:
    any_server.unload_all()
    offset = any_server.log_offset()
    any_server.post("/api/generate", {"model": "tiny", "prompt": "", "stream": False})
    any_server.unload_all()
    told = [getattr(entry, "change", None) for entry in read_log(any_server.log_since(offset).splitlines())]
    assert told == [CacheChange.LOADED, CacheChange.UNLOADED]
