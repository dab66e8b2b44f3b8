"""The fake server does what it says, so that tests of faults rest on something."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import ollama
import pytest
from fake_server import FakeModel, FakeOllama, Fault
from servers import OllamaServer

LONG, SMALL = "word " * 900, {"num_ctx": 16}
DOCUMENT = "The report of the third quarter. " * 100


def body(text: str = DOCUMENT, **more: Any) -> dict[str, Any]:
    return {"model": "tiny", "messages": [{"role": "user", "content": text}], **more}


def chat(fake: FakeOllama, text: str = DOCUMENT, timeout: float = 10, **more: Any) -> list[Any]:
    answer = httpx.post(f"{fake.url}/api/chat", json=body(text, **more), timeout=timeout)
    answer.raise_for_status()
    return [json.loads(line) for line in answer.text.splitlines()]


def test_answers_with_figures_and_a_cache() -> None:
    with FakeOllama() as fake, contextlib.closing(ollama.Client(fake.url)) as client:
        assert [model.model for model in client.list().models] == ["tiny:latest"]
        assert client.show("tiny").capabilities == ["completion"]
        cold = list(client.chat("tiny", body()["messages"], stream=True))
        assert cold[-1].done
        assert "".join(part.message.content or "" for part in cold).endswith("the report .")
        warm = chat(fake, DOCUMENT + "And then?")[-1]
        assert warm["prompt_eval_count"] - warm["prompt_eval_cached_count"] < 10
        assert warm["prompt_eval_duration"] * 5 < (cold[-1].prompt_eval_duration or 0)
        assert fake.paths() == ["/api/tags", "/api/show", "/api/chat", "/api/chat"]
        assert chat(fake, stream=False)[0]["done"]
        assert len(chat(fake, options={"num_predict": 2})) == 3


def test_unloading_empties_the_cache() -> None:
    with FakeOllama(loaded=["tiny"]) as fake:
        chat(fake)
        assert _loaded(fake) == ["tiny:latest"]
        httpx.post(f"{fake.url}/api/generate", json={"model": "tiny", "keep_alive": 0})
        deadline = time.monotonic() + 1
        while _loaded(fake) and time.monotonic() < deadline:
            time.sleep(0.005)
        assert _loaded(fake) == []
        assert chat(fake)[-1]["prompt_eval_cached_count"] == 0
        assert chat(fake, options={"num_ctx": 8192})[-1]["prompt_eval_cached_count"] == 0  # reloaded


@pytest.mark.parametrize(
    ("version", "counts"),
    [("0.33.3", (828, 827)), ("0.33.0", (828, None)), ("0.30.0", (1, None)), ("0.0.0", (828, None))],
)
def test_counts_as_the_version_does(version: str, counts: tuple[int, int | None]) -> None:
    with FakeOllama(version=version) as fake:
        assert httpx.get(f"{fake.url}/api/version").json() == {"version": version}
        chat(fake, "x" * 3289)
        last = chat(fake, "x" * 3289)[-1]
        assert (last["prompt_eval_count"], last.get("prompt_eval_cached_count")) == counts


def test_foreign_models_and_keys() -> None:
    models = [
        FakeModel("embed:latest", ("embedding",)),
        FakeModel("big:cloud", remote_host="https://ollama.com:443"),
    ]
    with FakeOllama(models=models, required_header=("Authorization", "Bearer key")) as fake:
        assert httpx.get(f"{fake.url}/api/tags").status_code == 401
        with httpx.Client(base_url=fake.url, headers={"Authorization": "Bearer key"}) as client:
            assert client.get("/api/tags").json()["models"][1]["remote_host"] == "https://ollama.com:443"
            refused = client.post("/api/chat", json=body() | {"model": "embed"}).json()
            assert refused == {"error": '"embed" does not support chat'}
            assert client.post("/api/chat", json=body()).status_code == 404


@pytest.mark.parametrize("fault", Fault)
def test_faults(fault: Fault) -> None:
    patience = 0.3 if fault in (Fault.HANG, Fault.STALL) else 10
    with FakeOllama(faults={2: fault}) as fake:
        assert chat(fake)[-1]["done"]
        outcome: Any
        try:
            outcome = _raw(fake) if fault is Fault.GARBAGE else chat(fake, timeout=patience)
        except httpx.HTTPError as error:
            outcome = error
        match fault:
            case Fault.RESET:
                assert isinstance(outcome, httpx.ReadError)
            case Fault.GARBAGE:
                assert b"\xff\xfe" in outcome
            case Fault.ERROR_OBJECT:
                assert set(outcome[-1]) == {"error"}
            case Fault.HANG | Fault.STALL:
                assert isinstance(outcome, httpx.ReadTimeout)
            case Fault.NO_DONE:
                assert len(outcome) > 1
                assert not any(line["done"] for line in outcome)
            case Fault.DONE_FALSE:
                assert [line["done"] for line in outcome] == [False]
            case Fault.RESTART:
                assert outcome[-1]["prompt_eval_cached_count"] == 0
            case Fault.ERROR_500:
                assert isinstance(outcome, httpx.HTTPStatusError)
                assert outcome.response.status_code == 500
        assert chat(fake)[-1]["done"]


def test_faults_by_the_text_sent() -> None:
    with FakeOllama(counts=lambda sent: "DOC" in str(sent)) as fake:
        fake.fail_next(Fault.NO_DONE)
        assert chat(fake, "a warm-up")[-1]["done"]
        assert not chat(fake, "DOC")[-1]["done"]


@pytest.mark.server
def test_looks_like_the_real_one(ollama_server: Callable[[str], OllamaServer]) -> None:
    real = ollama_server("0.33.3")
    requests: list[tuple[str, dict[str, Any] | None]] = [
        ("/api/version", None),
        ("/api/tags", None),
        ("/api/chat", body("hi", options={"num_predict": 3})),
        ("/api/chat", body("hi", options={"num_predict": 3}, stream=False)),
        ("/api/chat", body("hi", _debug_render_only=True)),
        ("/api/chat", body(LONG, truncate=False, options=SMALL)),
        ("/api/chat", body() | {"model": "missing"}),
        ("/api/chat", {"messages": []}),
        ("/api/generate", {"model": "tiny"}),
        (
            "/api/generate",
            {"model": "tiny", "prompt": LONG, "raw": True, "truncate": False, "options": SMALL},
        ),
        ("/api/ps", None),
        ("/api/generate", {"model": "tiny", "keep_alive": 0}),
        ("/api/nothing", None),
    ]
    real.unload_all()
    with FakeOllama() as fake:
        for path, sent in requests:
            answers = [
                httpx.get(url + path) if sent is None else httpx.post(url + path, json=sent)
                for url in (real.url, fake.url)
            ]
            assert _shape(answers[0]) == _shape(answers[1]), (path, sent)


def _shape(answer: httpx.Response) -> Any:
    """Keep what two servers' answers have in common: the status, and the keys and types of the last line."""

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shape(part) for key, part in value.items()}
        if isinstance(value, list):
            return [shape(part) for part in value[:1]]
        if isinstance(value, str) and value.startswith('{"error"'):
            return shape(json.loads(value))
        return type(value)

    if answer.headers["content-type"] == "text/plain":
        return answer.status_code, answer.text
    lines = answer.text.splitlines()
    kind = answer.headers["content-type"].partition(";")[0]
    return answer.status_code, kind, len(lines) > 1, shape(json.loads(lines[-1]))


def _loaded(fake: FakeOllama) -> list[str]:
    return [model["name"] for model in httpx.get(f"{fake.url}/api/ps").json()["models"]]


def _raw(fake: FakeOllama) -> bytes:
    return httpx.post(f"{fake.url}/api/chat", json=body()).content
