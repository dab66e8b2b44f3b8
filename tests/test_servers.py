"""The test servers themselves: their logs are read aright, and they answer as the other tests expect."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import servers
import tiny_gguf as tiny
from servers import Counted, OllamaServer, parse_log

LLAMA_SERVER_LOG = """\
time=2026-11-30T00:21:34.000Z level=DEBUG source=routes.go:1 msg="chat" prompt="slot x: id 0 | task 9 | new"
slot get_availabl: id  0 | task -1 | selected slot by LRU, t_last = -1
slot launch_slot_: id  0 | task 0 | processing task, is_child = 0
slot   operator(): id  0 | task 0 | new prompt, n_ctx_slot = 256, n_keep = 4, task.n_tokens = 40
slot   operator(): id  0 | task 0 | cached n_tokens = 0, memory_seq_rm [0, end)
slot   operator(): id  0 | task 0 | cached n_tokens = 16, memory_seq_rm [16, end)
slot print_timing: id  0 | task 0 | prompt eval time =     111.12 ms /    40 tokens (    2.78 ms per token)
slot      release: id  0 | task 0 | stop processing: n_tokens = 42, truncated = 0
slot   operator(): id  0 | task 6 | new prompt, n_ctx_slot = 256, n_keep = 4, task.n_tokens = 23
slot   operator(): id  0 | task 6 | cached n_tokens = 16, memory_seq_rm [16, end)
slot   operator(): id  0 | task 8 | new prompt, n_ctx_slot = 256, n_keep = 4, task.n_tokens = 1081
srv    send_error: task id = 8, error: request (1081 tokens) exceeds the available context size (256 tokens)
slot   load_model: id  0 | task -1 | new slot, n_ctx = 2048
slot   operator(): id  0 | task 0 | new prompt, n_ctx_slot = 2048, n_keep = 4, task.n_tokens = 19
slot   operator(): id  0 | task 0 | cached n_tokens = 18, memory_seq_rm [18, end)
"""
RUNNER_LOG = """\
time=2026-11-30T00:21:50.400Z level=DEBUG source=routes.go:1522 msg="chat request" prompt="used=1"
time=2026-11-30T00:21:50.488Z level=DEBUG source=cache.go:104 msg="loading cache slot" id=0 cache=0 \
prompt=19 used=0 remaining=19
time=2026-11-30T00:21:50.854Z level=DEBUG source=cache.go:104 msg="loading cache slot" id=0 cache=21 \
prompt=19 used=18 remaining=1
"""

TEXTS = (
    "hi",
    "The report of the third quarter shows that revenue rose by 12.5 % while costs fell.",
    "naïve café — 你好 🙂 \N{BYTE ORDER MARK}\x01",
    "def f(x):\n\treturn {'a': [x, 1e-9]}\n\n\n",
    "<|assistant|>the the the",
)


def test_log_of_llama_server() -> None:
    assert parse_log(LLAMA_SERVER_LOG) == [Counted(40, 0), Counted(23, 16), Counted(19, 18)]


def test_log_of_the_own_runner() -> None:
    assert parse_log(RUNNER_LOG) == [Counted(19, 0), Counted(19, 18)]


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "made"
    with pytest.raises(OSError, match="disk full"), servers._new_folder(place) as half:
        (half / "first").touch()
        raise OSError("disk full")
    assert not place.exists()
    with servers._new_folder(place) as half:
        (half / "second").touch()
    assert [file.name for file in place.iterdir()] == ["second"]
    assert list(tmp_path.iterdir()) == [place]


def test_missing_go_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(servers, "CACHE", tmp_path)
    monkeypatch.setattr(servers, "_find_go", lambda: None)
    monkeypatch.setattr("sys.platform", "linux")
    reason = servers.unavailable_reason()
    assert reason is not None
    with pytest.raises(servers.ServersUnavailableError, match=reason):
        servers.ensure_server("0.33.3")


def test_the_same_seed_makes_the_same_model(tmp_path: Path, tiny_gguf: Path) -> None:
    again = tiny.make_tiny_gguf(tmp_path / "again.gguf")
    assert again.read_bytes() == tiny_gguf.read_bytes()
    assert again.stat().st_size < 1_000_000


def test_the_log_tells_what_was_reused(any_server: OllamaServer) -> None:
    any_server.unload_all()
    offset = any_server.log_offset()
    document = " ".join(random.Random(7).choices(tiny.WORDS, k=2000))
    last_lines = [_chat(any_server, document + tail)[-1] for tail in (" first question", " second question")]
    cold, warm = any_server.counted_since(offset, 2)
    assert cold.reused_tokens == 0
    assert cold.prompt_tokens == pytest.approx(2000, rel=0.05)
    assert warm.reused_tokens > cold.prompt_tokens - 20
    counts = [(line.get("prompt_eval_count"), line.get("prompt_eval_cached_count")) for line in last_lines]
    if any_server.version == "0.33.3":
        assert counts == [tuple(cold), tuple(warm)]
    elif any_server.version == "0.30.0":
        assert counts == [(one.prompt_tokens - one.reused_tokens, None) for one in (cold, warm)]
    else:
        assert counts == [(cold.prompt_tokens, None), (warm.prompt_tokens, None)]


def test_the_tiny_model_speaks_in_words_and_to_the_end(any_server: OllamaServer) -> None:
    for temperature in (0, 1):
        for text in (*TEXTS, TEXTS[1] * 60):
            lines = _chat(any_server, text, num_predict=40, temperature=temperature)
            assert lines[-1]["done"]
            assert lines[-1]["eval_count"] == 40
            assert set("".join(line["message"]["content"] for line in lines).split()) <= set(tiny.WORDS)


def test_smollm2_answers(any_server: OllamaServer) -> None:
    lines = _chat(any_server, "What is the capital of France?", model="smollm2", num_predict=12)
    assert "Paris" in "".join(line["message"]["content"] for line in lines)


@pytest.mark.server
def test_nothing_stays_of_a_killed_server(
    tiny_gguf: Path, ollama_server: Callable[[str], OllamaServer]
) -> None:
    ollama_server("0.33.3")  # skips where there is none
    with OllamaServer("0.33.3", env={"OLLAMA_KEEP_ALIVE": "1m"}) as server:
        server.create_model("tiny", tiny_gguf, tiny.TEMPLATE, tiny.PARAMETERS)
        _chat(server, "hi")
        assert [model["name"] for model in server.loaded()] == ["tiny:latest"]
        group = server.pid
        assert _living(group) == 2
        url = server.url
        server.restart()
        assert server.url == url
        assert server.loaded() == []
        assert _living(group) == 0


def _living(group: int) -> int:
    """Count the processes of a group; who is dead and not yet collected does not count."""
    count = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group, *_ = file.read_text().rpartition(")")[2].split()
            count += its_group == str(group) and state != "Z"
    return count


def _chat(
    server: OllamaServer, text: str, model: str = "tiny", num_predict: int = 5, temperature: float = 0
) -> list[Any]:
    options = {"num_ctx": 8192, "num_predict": num_predict, "temperature": temperature}
    messages = [{"role": "user", "content": text}]
    return server.post("/api/chat", {"model": model, "messages": messages, "options": options})
