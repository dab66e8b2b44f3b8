"""`promptorder doctor` on real servers: each planted fault is found, and a healthy one has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import tiny_gguf as tiny
from examined import Examined, doctor
from servers import OllamaServer, ServersUnavailableError
from sliding_window import ensure_gemma3

from promptorder.engines._inspect import _process

pytestmark = pytest.mark.server

GetServer = Callable[[str], OllamaServer]
Serve = Callable[..., AbstractContextManager[OllamaServer]]


@pytest.fixture
def serving(ollama_server: GetServer, tiny_gguf: Path) -> Serve:
    """Give a function from variables to a server of one's own that has the model `tiny`."""
    ollama_server("0.33.3")  # skips where there is none

    @contextmanager
    def serve(**variables: str) -> Iterator[OllamaServer]:
        with OllamaServer("0.33.3", env=variables) as server:
            server.create_model("tiny", tiny_gguf, tiny.TEMPLATE, tiny.PARAMETERS)
            yield server

    return serve


def examine(server: OllamaServer, model: str, *arguments: str) -> Examined:
    examined = doctor("--host", server.url, "--model", model, *arguments)
    assert examined.json["model"]["name"] == f"{model}:latest", examined.out
    return examined


def test_a_healthy_server_has_no_problem(ollama_server: GetServer) -> None:
    server = ollama_server("0.33.3")
    server.unload_all()
    examined = examine(server, "smollm2")
    assert examined.problems() == {}
    assert examined.code == 0
    checked = ("server", "version", "model", "memory", "context", "slots", "keep-alive", "kv-cache")
    for code in (*checked, "environment", "counting", "reuse", "tail", "earlier"):
        assert examined.status(code) == "ok", examined.found(code)
    engine, model = examined.json["engine"], examined.json["model"]
    assert (engine["version"], engine["counts"], engine["slots"]) == ("0.33.3", "cached", 1)
    assert (model["family"], model["quantization"], model["max_context_tokens"]) == ("llama", "Q4_1", 8192)
    tokens = [each["prompt_tokens"] for each in examined.json["calls"]]
    assert 1000 <= max(tokens) <= 1700
    server.unload_all(timeout=0.5)
    assert server.loaded() == []


def test_the_variables_are_those_of_the_server(serving: Serve, smollm2_gguf: Path) -> None:
    with serving(OLLAMA_KV_CACHE_TYPE="q8_0", OLLAMA_FLASH_ATTENTION="1", OLLAMA_NUM_PARALLEL="2") as server:
        server.create_model("smollm2", smollm2_gguf)
        examined = examine(server, "smollm2")
    assert examined.json["environment"]["server"] == {
        "OLLAMA_FLASH_ATTENTION": "1",
        "OLLAMA_KV_CACHE_TYPE": "q8_0",
        "OLLAMA_NUM_PARALLEL": "2",
    }
    engine = examined.json["engine"]
    assert (engine["slots"], engine["cache_type"], engine["flash_attention"]) == (2, "q8_0", "on")
    assert examined.status("slots") == examined.status("kv-cache") == "note"


def test_a_model_that_cannot_be_loaded(serving: Serve) -> None:
    # The heads of the tiny model are too small for this type of cache.
    with serving(OLLAMA_KV_CACHE_TYPE="q8_0", OLLAMA_FLASH_ATTENTION="1") as server:
        examined = examine(server, "tiny")
    assert examined.code == 1
    assert "control call failed" in examined.problems()["reuse"]


def test_a_keep_alive_of_0_is_found(serving: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(OLLAMA_KEEP_ALIVE="0") as server:
        examined = examine(server, "tiny")
        assert list(examined.problems()) == ["keep-alive"]
        assert examined.code == 1
        assert server.loaded() == []
        # As on a server whose process cannot be seen: it is tried out.
        monkeypatch.setattr(_process, "listener", lambda port: _process.Found(None, "it is hidden"))
        tried = examine(server, "tiny")
        assert "tried out" in tried.problems()["keep-alive"]
        assert examine(server, "tiny", "--no-calls").status("keep-alive") == "unknown"


def test_a_default_keep_alive_is_tried_out(serving: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "listener", lambda port: _process.Found(None, "it is hidden"))
    with serving() as server:
        examined = examine(server, "tiny")
    assert examined.found("keep-alive") == [("ok", "5 min (tried out)")]
    assert examined.status("slots") == examined.status("environment") == "unknown"


def test_a_store_of_prompts_that_is_off_is_found(serving: Serve) -> None:
    with serving(LLAMA_ARG_CACHE_RAM="0") as server:
        examined = examine(server, "tiny")
    assert set(examined.problems()) == {"environment", "earlier"}
    assert "LLAMA_ARG_CACHE_RAM=0" in examined.problems()["environment"]
    assert examined.status("reuse") == "ok"


def test_a_tiny_context_is_found_and_kept(serving: Serve) -> None:
    with serving() as server:
        server.post("/api/generate", {"model": "tiny", "prompt": "", "options": {"num_ctx": 512}})
        examined = examine(server, "tiny")
        assert "512" in examined.problems()["context"]
        assert list(examined.problems()) == ["context"]
        assert examined.status("reuse") == "ok", "the texts are made to fit"
        (loaded,) = server.loaded()
        assert loaded["context_length"] == 512


def test_a_loaded_model_keeps_its_cache(serving: Serve) -> None:
    with serving() as server:
        body = {
            "model": "tiny",
            "prompt": "good words " * 300,
            "options": {"num_predict": 1},
            "stream": False,
        }
        server.post("/api/generate", body)
        examine(server, "tiny")
        (again,) = server.post("/api/generate", body)
    assert again["prompt_eval_cached_count"] == again["prompt_eval_count"] - 1


def test_a_server_that_counts_only_what_it_read(ollama_server: GetServer) -> None:
    examined = examine(ollama_server("0.30.0"), "tiny")
    assert examined.problems() == {}
    assert examined.json["engine"]["counts"] == "read"
    assert [status for status, _ in examined.found("version")] == ["note", "note"]
    assert examined.status("reuse") == examined.status("tail") == "ok"


def test_a_server_that_does_not_count(ollama_server: GetServer) -> None:
    found = set()
    for _ in range(3):  # time may not tell on a busy machine
        examined = examine(ollama_server("0.33.0"), "smollm2")
        assert examined.problems() == {}
        assert examined.json["engine"]["counts"] == "nothing"
        assert examined.status("counting") == "note"
        found.add(examined.status("reuse"))
        if "ok" in found:
            break
    assert "ok" in found


def test_a_server_with_its_own_runner(ollama_server: GetServer) -> None:
    server = ollama_server("0.6.5")
    server.unload_all()
    examined = examine(server, "tiny")
    assert examined.problems() == {}
    assert examined.status("counting") == "note"
    assert examined.status("version") == "note"
    assert examined.json["engine"]["slots"] is not None


def test_a_sliding_window_is_found(
    ollama_server: GetServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ollama_server("0.33.3")
    try:
        model = ensure_gemma3()
    except ServersUnavailableError as error:
        pytest.skip(str(error))
    folder = str(tmp_path_factory.mktemp("gemma-models"))
    with OllamaServer("0.33.3", env={"OLLAMA_MODELS": folder}) as server:
        server.create_model("gemma", model)
        examined = examine(server, "gemma")
        assert list(examined.problems()) == ["tail"]
        assert "512" in examined.problems()["tail"]
        assert examined.json["model"]["sliding_window_tokens"] == 512
    # The remedy that is given does help.
    with OllamaServer("0.33.3", env={"OLLAMA_MODELS": folder, "LLAMA_ARG_SWA_FULL": "1"}) as server:
        assert examine(server, "gemma").problems() == {}


@pytest.mark.embedded
def test_the_embedded_engine(tiny_gguf: Path) -> None:
    pytest.importorskip("xllamacpp")
    examined = doctor("--engine", "embedded", "--model", str(tiny_gguf))
    assert examined.code == 0
    assert examined.json["engine"]["counts"] == "cached"
    assert examined.status("reuse") == "ok"
