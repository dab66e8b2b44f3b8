"""`promptorder compare` on a server where things go wrong, on foreign models and hosts, and at its gates."""

from __future__ import annotations

import contextlib
import io
import json
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fake_server
import jsonschema
import pytest
from fake_server import FakeModel, FakeOllama, Fault, Json

from promptorder.cli import run
from promptorder.contracts import schema
from promptorder.engines import embedded, ollama
from promptorder.model.engine import EngineOptions

LOCAL = "tiny:latest"


@dataclass(frozen=True)
class Ran:
    """What one command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def layout(self, name: str) -> Any:
        return next(layout for layout in self.json["layouts"] if layout["name"] == name)

    def caveats(self) -> dict[str, Any]:
        return {caveat["code"]: caveat for caveat in self.json["caveats"]}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with a document and questions, out of reach of the settings of whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.chdir(tmp_path)
    lines = (f"Section {n}: in the year {1900 + n} the harbour took in {n * 37} ships.\n" for n in range(120))
    (tmp_path / "harbour.txt").write_text("".join(lines))
    (tmp_path / "questions.txt").write_text("How many ships?\nWhich year?\nWhat was built?\nWho paid?\n")
    (tmp_path / "one.txt").write_text("How many ships?\n")
    return tmp_path


def cli(*arguments: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    assert "Traceback" not in out.getvalue() + err.getvalue()
    assert "internal error" not in err.getvalue()
    return Ran(code, out.getvalue(), err.getvalue())


def compare(
    fake: FakeOllama, *arguments: str, document: str = "harbour.txt", questions: str = "questions.txt"
) -> Ran:
    """Compare in the JSON format, on a fake server."""
    return cli(
        *("compare", document, "--questions", questions, "--host", fake.url, "--engine", "ollama"),
        *("--format", "json", "--clock-gap", "0", "--num-predict", "4", *arguments),
    )


STATIC = ("--layout", "static-first")


def measured(body: Json) -> bool:
    """Tell measured calls from those that count or render: only they stream."""
    return body.get("stream") is not False


def bodies(fake: FakeOllama, path: str) -> list[Json]:
    return [request.body for request in fake.requests if request.path == path]


def is_clear(ran: Ran, code: int) -> None:
    """Hold an error to its code, to nothing on standard output, and to a next step."""
    assert ran.code == code, ran.err
    assert ran.out == ""
    lines = ran.err.splitlines()
    assert any(line.startswith("error: ") for line in lines)
    assert any(line.startswith("help: ") for line in lines)


# ---------------------------------------------------------------- broken replies

BROKEN = {
    Fault.RESET: "broke off",
    Fault.GARBAGE: "is not Ollama's JSON",
    Fault.ERROR_OBJECT: "the server answered with an error: an error was encountered",
    Fault.HANG: "sent nothing for 1 s",
    Fault.STALL: "sent nothing for 1 s",
    Fault.NO_DONE: "ended before it was done",
    Fault.DONE_FALSE: "ended before it was done",
    Fault.ERROR_500: "the server answered with an error: llama runner process has terminated",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_follow_up_is_left_out(fault: Fault, inputs: Path) -> None:
    with FakeOllama(faults={2: fault}, counts=measured) as fake:
        ran = compare(fake, *STATIC, "--timeout", "1", "--out", "run.json")
    assert ran.code == 0
    jsonschema.validate(ran.json, schema("comparison-1"))
    jsonschema.validate(json.loads((inputs / "run.json").read_text()), schema("run-1"))
    layout = ran.layout("static-first")
    failures = [sample["failure"] for sample in layout["samples"]]
    assert failures[0] is failures[2] is failures[3] is None
    assert BROKEN[fault] in failures[1]
    failed = layout["samples"][1]
    for key in ("prompt_tokens", "cached_tokens", "prefill_ns", "total_ns", "answer", "output_tokens"):
        assert failed[key] is None, key
    assert failed["reused_tokens"] == {"value": None, "low": None, "high": None, "method": "unknown"}
    assert ran.caveats()["failed-reply"]["samples"] == [{"repeat": 1, "question": 2}]
    assert layout["verdict"] == "reused"
    assert layout["reused_fraction"]["low"] > 0.9
    assert re.search(r"^\[2/4\] static-first +question 2 +failed: ", ran.err, re.MULTILINE)


@pytest.mark.parametrize("fault", [Fault.NO_DONE, Fault.ERROR_500])
def test_without_its_first_question_a_layout_is_void(fault: Fault, inputs: Path) -> None:
    with FakeOllama(faults={1: fault}, counts=measured) as fake:
        ran = compare(fake, "--fail-under", "static-first=0.9")
    assert ran.code == 5
    assert ran.layout("static-first")["verdict"] == "void"
    assert ran.layout("static-first")["reused_fraction"]["value"] is None
    assert ran.layout("question-first")["verdict"] == "not-reused"


def test_where_every_reply_is_broken_there_is_no_figure(inputs: Path) -> None:
    with FakeOllama(faults=dict.fromkeys(range(1, 20), Fault.NO_DONE), counts=measured) as fake:
        ran = compare(fake)
    assert ran.code == 4
    assert "error: not one reply came whole" in ran.err
    assert [layout["verdict"] for layout in ran.json["layouts"]] == ["void"] * 3
    assert ran.json["fastest"] is None
    for layout in ran.json["layouts"]:
        assert (
            layout["first_prefill_ns"]
            is layout["follow_up_prefill_ns"]
            is layout["follow_up_total_ns"]
            is None
        )


def test_a_restart_between_two_questions_is_noticed(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_server, "LOAD_NS", 300_000_000)  # loading a real model takes at least so long
    with FakeOllama(faults={3: Fault.RESTART}, counts=measured) as fake:
        ran = compare(fake, *STATIC)
    assert ran.code == 0
    layout = ran.layout("static-first")
    assert [sample["cached_tokens"] == 0 for sample in layout["samples"]] == [True, False, True, False]
    assert ran.caveats()["model-reloaded"]["samples"] == [{"repeat": 1, "question": 3}]
    assert layout["verdict"] == "reused"
    assert layout["reused_fraction"]["low"] > 0.9


def test_a_server_that_goes_for_good_ends_the_run(inputs: Path) -> None:
    """Its samples stay, and the message says where."""
    fake = FakeOllama()

    def vanish(body: Json) -> bool:
        if measured(body) and fake.chats == 2:
            fake._server.shutdown()
            fake._server.server_close()
            fake.faults[3] = Fault.RESET
        return measured(body)

    fake.counts = vanish
    with fake:
        ran = compare(fake, *STATIC, "--out", "run.json")
    is_clear(ran, 4)
    assert f"no Ollama server answers at {fake.url}" in ran.err
    assert "run.json.partial" in ran.err
    assert "--resume" in ran.err
    lines = [json.loads(line) for line in (inputs / "run.json.partial").read_text().splitlines()]
    assert [line["sample"]["question"] for line in lines[1:]] == [0, 1, 2, 3]
    assert not (inputs / "run.json").exists()


# ---------------------------------------------------------------- who may ask, and what may leave


def test_a_server_that_wants_a_header(inputs: Path) -> None:
    with FakeOllama(required_header=("X-Api-Key", "s3cret")) as fake:
        refused = compare(fake, *STATIC)
        wrong = compare(fake, *STATIC, "--header", "X-Api-Key: guess")
        allowed = compare(fake, *STATIC, "--header", "X-Api-Key: s3cret", "--out", "run.json")
    for ran in (refused, wrong):
        is_clear(ran, 4)
        assert "HTTP 401" in ran.err
        assert "--header" in ran.err
    assert allowed.code == 0
    assert "s3cret" not in allowed.out + allowed.err + (inputs / "run.json").read_text()


CLOUD = FakeModel("big:cloud", remote_host="https://cloud.example:443")


def test_a_cloud_model_gets_nothing_without_consent(inputs: Path) -> None:
    with FakeOllama(models=[CLOUD]) as fake:
        ran = compare(fake, *STATIC, "--model", "big:cloud")
        unnamed = compare(fake, *STATIC)
        paths = fake.paths()
    is_clear(ran, 4)
    assert "cloud.example" in ran.err
    assert "--allow-remote" in ran.err
    assert unnamed.code in (2, 4)
    assert not {"/api/chat", "/api/generate"} & set(paths)


def test_a_cloud_model_with_consent(inputs: Path) -> None:
    with FakeOllama(models=[CLOUD]) as fake:
        ran = compare(fake, *STATIC, "--model", "big:cloud", "--allow-remote")
    assert ran.code == 0
    assert "the document is sent to https://cloud.example:443, which is not this machine" in ran.err
    assert ran.json["options"]["cold"] == "nonce"
    assert ran.layout("static-first")["verdict"] == "reused"


def test_an_embedding_model_cannot_answer(inputs: Path) -> None:
    with FakeOllama(models=[FakeModel("embed:latest", ("embedding",))]) as fake:
        is_clear(ran := compare(fake, *STATIC, "--model", "embed"), 4)
    assert "embed:latest cannot complete text" in ran.err


def on_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "elsewhere", lambda host_name: "gpu.example")


def test_a_model_on_another_machine_is_not_disturbed(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither unloaded nor loaded with another context: both drop the cache of whoever uses it."""
    on_another_machine(monkeypatch)
    with FakeOllama(loaded=[LOCAL]) as fake:
        ran = compare(fake, *STATIC, "--layout", "question-first")
        assert fake.loaded() == [LOCAL]
    assert ran.code == 0
    assert "the document is sent to gpu.example, which is not this machine" in ran.err
    assert ran.json["options"]["cold"] == "nonce"
    assert "nonce" in ran.caveats()
    sent = [*bodies(fake, "/api/chat"), *bodies(fake, "/api/generate")]
    assert [body for body in sent if body.get("keep_alive") in (0, "0", "0s")] == []
    contexts = {body["options"]["num_ctx"] for body in sent}
    assert contexts == {fake_server.DEFAULT_CONTEXT} == {ran.json["options"]["num_ctx"]}
    assert ran.layout("static-first")["verdict"] == "reused"
    assert ran.layout("question-first")["verdict"] == "not-reused"
    for layout in ran.json["layouts"]:
        for sample in layout["samples"][1:]:
            assert abs(sample["expected_reused_tokens"] - sample["cached_tokens"]) <= 6
    for body in bodies(fake, "/api/chat"):
        first = body["messages"][0]["content"].splitlines()[0]
        assert len(first) == 16
        int(first, 16)


def test_what_was_loaded_for_us_on_another_machine_goes_at_the_end(
    inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_another_machine(monkeypatch)
    with FakeOllama() as fake:
        assert compare(fake, *STATIC).code == 0
    unloads = [n for n, r in enumerate(fake.requests) if r.body.get("keep_alive") in (0, "0", "0s")]
    assert unloads == [len(fake.requests) - 1]


# ---------------------------------------------------------------- which engine


def test_a_server_without_a_version_is_asked_what_it_does(inputs: Path) -> None:
    expected = {"cached": "counted", "new": "counted", "whole": "inferred"}
    methods = {}
    for counting in ("cached", "new", "whole"):
        with FakeOllama(version="0.0.0", counting=counting) as fake:
            ran = compare(fake, "--layout", "static-first", "--layout", "question-first")
        assert ran.code == 0, ran.err
        assert ran.json["engine"]["version"] is None
        assert [layout["verdict"] for layout in ran.json["layouts"]] == ["reused", "not-reused"]
        methods[counting] = ran.layout("static-first")["reused_fraction"]["method"]
        for sample in ran.layout("static-first")["samples"]:
            assert sample["prompt_tokens"] > 1000
    assert methods == expected


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "http://localhost:{port}", "name.invalid:{port}"])
def test_a_host_that_does_not_answer(host: str, inputs: Path) -> None:
    where = host.format(port=closed_port())
    command = ("compare", "harbour.txt", "-q", "questions.txt", "--engine", "ollama", "--host", where)
    is_clear(ran := cli(*command), 4)
    assert "no Ollama server answers at" in ran.err
    assert "`ollama serve`" in ran.err
    assert "--host" in ran.err
    assert not any((inputs / "state").rglob("*.partial"))


def auto(host: str) -> Ran:
    options = ("--format", "json", "--clock-gap", "0", "--num-predict", "4", *STATIC)
    return cli("compare", "harbour.txt", "-q", "questions.txt", "--host", host, *options)


def test_auto_falls_back_to_the_embedded_engine(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOllama() as fake:
        monkeypatch.setattr(embedded, "available", lambda options: None)
        monkeypatch.setattr(
            embedded, "open_engine", lambda options: ollama.open_engine(EngineOptions(host=fake.url))
        )
        there = auto(fake.url)
        gone = auto(f"127.0.0.1:{closed_port()}")
    assert (there.code, gone.code) == (0, 0)
    assert "embedded" not in there.err
    assert "no Ollama server answers at" in gone.err
    assert "using the embedded engine" in gone.err


def test_without_any_engine_each_next_step_is_named(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "available", lambda options: "xllamacpp is not installed")
    is_clear(ran := auto(f"127.0.0.1:{closed_port()}"), 4)
    assert "no Ollama server answers at" in ran.err
    assert "xllamacpp is not installed" in ran.err
    help_line = next(line for line in ran.err.splitlines() if line.startswith("help: "))
    assert ollama.INSTALL_HINT in help_line
    assert embedded.INSTALL_HINT in help_line


# ---------------------------------------------------------------- gates and words


def test_gates(inputs: Path) -> None:
    both = ("--layout", "static-first", "--layout", "question-first")
    with FakeOllama(version="0.33.0") as fake:
        open_ = compare(fake, *both)
        band = open_.layout("static-first")["reused_fraction"]
        assert band["method"] == "inferred"
        assert band["low"] < band["high"]
        between = (band["low"] + band["high"]) / 2

        def gated(*gates: str) -> int:
            return compare(fake, *both, *(word for gate in gates for word in ("--fail-under", gate))).code

        assert open_.code == 0
        assert gated("static-first=0.5") == 0
        assert gated("question-first=0.9") == 1
        # The fake takes the times that it answers with, so each run has the same band.
        assert gated(f"static-first={between}") == 5
        assert gated(f"static-first={between}", "question-first=0.9") == 1
        assert gated("question-first=0.9", f"static-first={between}") == 1
        chats = fake.chats
        for wrong in ("static-first", "static-first=2", "static-first=x", "=0.5", "clock-last=0.5"):
            assert gated(wrong) == 2, wrong
        assert fake.chats == chats


def test_a_gate_is_named_with_what_was_measured(inputs: Path) -> None:
    with FakeOllama() as fake:
        ran = compare(fake, "--fail-under", "question-first=0.9")
    assert ran.code == 1
    jsonschema.validate(ran.json, schema("comparison-1"))
    assert "question-first: at most 0.0" in ran.err


def test_quiet_is_silent(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_another_machine(monkeypatch)
    with FakeOllama(loaded=[LOCAL]) as fake:
        loud = compare(fake, *STATIC, "--out", "loud.json")
        quiet = compare(fake, *STATIC, "--quiet", "--out", "quiet.json")
    assert loud.code == quiet.code == 0
    assert "question 4" in loud.err
    assert "the run is in loud.json" in loud.err
    assert quiet.err == ""
    assert quiet.layout("static-first")["verdict"] == "reused"


def test_one_question_shows_nothing(inputs: Path) -> None:
    with FakeOllama() as fake:
        ran = compare(fake, *STATIC, questions="one.txt")
    assert ran.code == 0
    assert "at least two questions" in ran.caveats()["no-follow-up"]["message"]
    assert ran.layout("static-first")["verdict"] == "cannot-tell"
    assert ran.json["fastest"] is None


# ---------------------------------------------------------------- standard input


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input_is_one_thing(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"anything")
    with FakeOllama() as fake:
        ran = compare(fake, *STATIC, document="-", questions="-")
        assert fake.requests == []
    is_clear(ran, 2)


@pytest.mark.parametrize("which", ["document", "questions"])
def test_either_comes_from_standard_input(which: str, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"document": "harbour.txt", "questions": "questions.txt"}
    feed(monkeypatch, (inputs / files[which]).read_bytes())
    with FakeOllama() as fake:
        named = compare(fake, *STATIC)
        piped = compare(fake, *STATIC, **{which: "-"})
    assert named.code == piped.code == 0
    assert piped.json["document"]["path"] == ("-" if which == "document" else "harbour.txt")
    for key in ("sha256", "characters"):
        assert piped.json["document"][key] == named.json["document"][key]
    assert piped.json["questions"] == named.json["questions"]


# ---------------------------------------------------------------- models that think

THINKER = FakeModel("thinker:latest", ("completion", "thinking"))


def test_thinking_is_switched_off(inputs: Path) -> None:
    with FakeOllama(models=[THINKER, FakeModel()]) as fake:
        assert compare(fake, *STATIC, "--model", "thinker").code == 0
        chats = bodies(fake, "/api/chat")
        assert len(chats) > 8
        assert {body.get("think") for body in chats} == {False}
        fake.requests.clear()
        # Others refuse the very word.
        assert compare(fake, *STATIC, "--model", "tiny").code == 0
        assert not any("think" in body for body in bodies(fake, "/api/chat"))


def thinks(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Json]], list[Json]]) -> None:
    """Let the fake's streamed answers be changed before they are sent."""
    original = fake_server._Handler._answer

    def answer(self: Any, lines: list[Json], fault: Fault | None, kind: str) -> None:
        original(self, change(lines) if len(lines) > 1 else lines, fault, kind)

    monkeypatch.setattr(fake_server._Handler, "_answer", answer)


def thought(text: str, line: Mapping[str, Any]) -> Json:
    return {**line, "message": {"role": "assistant", "content": "", "thinking": text}, "done": False}


def test_a_thought_is_kept_apart_from_the_answer(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thinks(monkeypatch, lambda lines: [thought("Ships, ", lines[0]), thought("then.", lines[0]), *lines])
    with FakeOllama(models=[THINKER]) as fake:
        ran = compare(fake, *STATIC, "--out", "run.json")
    assert ran.code == 0
    for sample in ran.layout("static-first")["samples"]:
        assert sample["thinking"] == "Ships, then."
        assert sample["answer"] == "The answer stands in"
    assert "thinking-only" not in ran.caveats()
    saved = json.loads((inputs / "run.json").read_text())
    assert {s["reply"]["thinking"] for s in saved["samples"] if s["question"]} == {"Ships, then."}


def test_nothing_but_thoughts_is_flagged(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thinks(monkeypatch, lambda lines: [thought("Ships.", lines[0]), lines[-1]])
    with FakeOllama(models=[THINKER]) as fake:
        ran = compare(fake, *STATIC)
    assert ran.code == 0
    assert "--num-predict" in ran.caveats()["thinking-only"]["message"]
    assert ran.layout("static-first")["verdict"] == "reused"
