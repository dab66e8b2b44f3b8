"""Real set-ups that cannot show what the order of a prompt does, or only in part: each is found and named."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tiny_gguf as tiny
from proxy import Proxy
from servers import OllamaServer, ServersUnavailableError
from sliding_window import ensure_gemma3
from test_faults import cli

from promptorder.contracts import schema

pytestmark = pytest.mark.server

FIXTURES = Path(__file__).parents[2] / "fixtures"
REPORT = str(FIXTURES / "report.pdf")
GetServer = Callable[[str], OllamaServer]


@pytest.fixture(autouse=True)
def _out_of_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("OLLAMA_HOST", raising=False)


def compare(url: str, questions: Path, model: str, *arguments: str, code: int = 0) -> Any:
    """A run as its file holds it."""
    out = questions.parent / "run.json"
    out.unlink(missing_ok=True)
    ran = cli(
        *("compare", REPORT, "--questions", str(questions), "--host", url, "--engine", "ollama"),
        *("--model", model, "--num-predict", "4", "--clock-gap", "0", "--out", str(out), *arguments),
    )
    assert ran.code == code, ran.err
    run = json.loads(out.read_text())
    jsonschema.validate(run, schema("run-1"))
    return run


def caveats(run: Any) -> dict[str, Any]:
    return {caveat["code"]: caveat for caveat in run["comparison"]["caveats"]}


def layout(run: Any, name: str) -> Any:
    return next(each for each in run["comparison"]["layouts"] if each["name"] == name)


def controls(run: Any) -> list[tuple[str, int | None, int]]:
    return [
        (s["control"]["kind"], s["reply"]["cached_tokens"], s["reply"]["prompt_tokens"])
        for s in run["samples"]
        if s["phase"] == "control"
    ]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("How large was the order book?\nWhen does the wave tank open?\nWho chairs the board?\n")
    return path


# ---------------------------------------------------------------- a sliding window


@pytest.fixture(scope="module")
def gemma(
    ollama_server: GetServer, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., contextlib.AbstractContextManager[OllamaServer]]:
    """Give a function from a version and variables to a server that has the model `gemma`."""
    ollama_server("0.33.3")  # skips where there is none
    try:
        model = ensure_gemma3()
    except ServersUnavailableError as error:
        pytest.skip(str(error))
    folder = str(tmp_path_factory.mktemp("gemma-models"))

    @contextlib.contextmanager
    def serve(version: str, **variables: str) -> Iterator[OllamaServer]:
        ollama_server(version)
        with OllamaServer(version, env={"OLLAMA_MODELS": folder, **variables}) as server:
            server.create_model("gemma", model)
            yield server

    return serve


LONG = ("--pages", "1-4")  # longer than the window of 512 tokens and a batch


def test_a_sliding_window_is_told_though_short_questions_reuse(gemma: Any, questions: Path) -> None:
    with gemma("0.33.3") as server:
        run = compare(server.url, questions, "gemma", *LONG, "--layout", "static-first")
    assert layout(run, "static-first")["verdict"] == "reused"
    assert run["comparison"]["engine"]["sliding_window_tokens"] == 512
    (_, _, _), short, other, repeat = controls(run)
    assert short[0] == "short"
    assert short[1] is not None
    assert short[1] < 0.1 * short[2]
    assert other[1] is not None
    assert other[1] > 0.9 * other[2]
    assert repeat[1] == repeat[2] - 1, "an identical prompt is a control too weak"
    assert "512 tokens" in caveats(run)["reuse-hangs-on-tail"]["message"]


def test_a_long_question_spoils_the_next_one(gemma: Any, questions: Path) -> None:
    """The sliding window, not the order, is what a follow-up lacks: its prompt shares the document."""
    words = " ".join(f"and item {number} of the list" for number in range(160))
    questions.write_text(
        f"How large was the order book?\nWhat of all this is true: {words}?\nWho chairs the board?\n"
    )
    with gemma("0.33.3") as server:
        run = compare(server.url, questions, "gemma", *LONG, "--layout", "static-first")
    static = layout(run, "static-first")
    reused = [sample["cached_tokens"] / sample["expected_reused_tokens"] for sample in static["samples"][1:]]
    assert reused[0] > 0.9
    assert reused[1] < 0.1, "the document, that both share"
    assert static["verdict"] == "cannot-tell"
    assert "sliding window" in caveats(run)["reuse-not-as-expected"]["message"]
    assert "second-client" not in caveats(run)


def test_the_remedy_that_is_given_helps(gemma: Any, questions: Path) -> None:
    with gemma("0.33.3", LLAMA_ARG_SWA_FULL="1") as server:
        run = compare(server.url, questions, "gemma", *LONG, "--layout", "static-first")
    assert len(controls(run)) == 4
    assert not {"reuse-hangs-on-tail", "set-up-can-reuse"} & set(caveats(run))
    assert layout(run, "static-first")["verdict"] == "reused"


def test_a_sliding_window_is_told_by_time_too(gemma: Any, questions: Path) -> None:
    found: set[str] = set()
    for _ in range(3):  # time may not tell on a busy machine
        with gemma("0.33.0") as server:
            run = compare(server.url, questions, "gemma", *LONG, "--layout", "static-first")
        assert layout(run, "static-first")["verdict"] in ("reused", "cannot-tell")
        found |= set(caveats(run))
        if "reuse-hangs-on-tail" in found:
            break
    assert "reuse-hangs-on-tail" in found


# ---------------------------------------------------------------- what stands in between


def test_a_cache_that_is_switched_off(ollama_server: GetServer, questions: Path) -> None:
    """On 0.30.0 an option of loading that clients send, `shift: false`, switches caching off."""

    def without_shift(path: str, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, "shift": False} if path in ("/api/chat", "/api/generate") else body

    server = ollama_server("0.30.0")
    found = set()
    for _ in range(3):  # such a server does not count, and time may not tell on a busy machine
        with Proxy(server.host, without_shift) as proxy:
            gate = ("--layout", "static-first", "--fail-under", "static-first=0.9")
            # Long enough for a quick machine: a control call that is read in less than 0.15 s tells nothing.
            run = compare(proxy.url, questions, "smollm2", "--pages", "1-3", *gate, code=5)
        assert layout(run, "static-first")["verdict"] == "cannot-tell"
        found |= set(caveats(run))
        if "nothing-reused" in found:
            break
    assert "nothing-reused" in found
    assert "no-contrast" not in found


def test_a_proxy_that_writes_the_time_in_front(ollama_server: GetServer, questions: Path) -> None:
    numbers = count(10**6)

    def with_time(path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path != "/api/chat" or not body.get("messages") or body.get("stream") is False:
            return body
        first, *rest = body["messages"]
        line = f"You are served at {next(numbers)} o'clock."
        return {**body, "messages": [{**first, "content": f"{line}\n{first['content']}"}, *rest]}

    server = ollama_server("0.33.3")
    server.unload_all()
    with Proxy(server.host, with_time) as proxy:
        run = compare(proxy.url, questions, "tiny", "--layout", "static-first")
    assert layout(run, "static-first")["verdict"] == "not-reused"
    # It stands in front of the control calls as well: on this set-up no order helps.
    assert "nothing-reused" in caveats(run)
    assert "proxy" in caveats(run)["reuse-not-as-expected"]["message"]


def test_a_proxy_that_changes_nothing_is_not_noticed(ollama_server: GetServer, questions: Path) -> None:
    server = ollama_server("0.33.3")
    with Proxy(server.host, lambda path, body: body) as proxy:
        run = compare(proxy.url, questions, "tiny", "--layout", "static-first")
    assert layout(run, "static-first")["verdict"] == "reused"
    assert set(caveats(run)) <= {"one-repeat", "answer-cut", "busy-server", "machine-drift"}


# ---------------------------------------------------------------- who else is there


def test_a_second_client_is_told(ollama_server: GetServer, tiny_gguf: Path, questions: Path) -> None:
    """With one slot and no store of earlier prompts, another client's request pushes ours out."""
    ollama_server("0.33.3")
    asked = count(1)
    with OllamaServer("0.33.3", env={"LLAMA_ARG_CACHE_RAM": "0"}) as server:
        server.create_model("tiny", tiny_gguf, tiny.TEMPLATE, tiny.PARAMETERS)

        def meddle(path: str, body: dict[str, Any]) -> dict[str, Any]:
            if path == "/api/chat" and body.get("stream") is not False and next(asked) == 4:
                options = {**body["options"], "num_predict": 1}
                server.post("/api/generate", {"model": "tiny", "prompt": "Hello there.", "options": options})
            return body

        questions.write_text(questions.read_text() + "Where is the yard?\nWhat is it called?\n")
        with Proxy(server.host, meddle) as proxy:
            run = compare(proxy.url, questions, "tiny", "--layout", "static-first")
    assert caveats(run)["second-client"]["samples"] == [{"repeat": 1, "question": 4}]
    assert layout(run, "static-first")["verdict"] == "cannot-tell"


# ---------------------------------------------------------------- answers


def test_answers_asked_again_cold(ollama_server: GetServer, questions: Path) -> None:
    server = ollama_server("0.33.3")
    layouts = ("--layout", "static-first", "--layout", "question-first")
    run = compare(server.url, questions, "tiny", *layouts, "--check-answers", "--num-predict", "24")
    checked = {each["layout"]: each for each in run["comparison"]["answers_checked"]}
    assert list(checked) == ["static-first", "question-first"]
    for name, check in checked.items():
        warm = layout(run, name)["samples"][-1]
        assert check["question"] == warm["question"] == 3
        assert check["answer"] == warm["answer"]
        assert (check["difference"] is None) is (check["answer"] == check["cold_answer"])
    again = [sample for sample in run["samples"] if sample["phase"] == "check"]
    assert all(sample["reply"]["cached_tokens"] <= 1 for sample in again)
    assert [s["prompt_sha256"] for s in again] == [
        next(s for s in run["samples"] if s["layout"] == name and s["question"] == 3)["prompt_sha256"]
        for name in checked
    ]
