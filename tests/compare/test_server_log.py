"""`promptorder compare --server-log`: what the server's own log says stands in for what it does not count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from servers import OllamaServer

from promptorder.api import CompareSettings, Comparing
from promptorder.cli import run
from promptorder.contracts import schema
from promptorder.contracts.run import to_json
from promptorder.measure.runner import Sampled
from promptorder.model.comparison import Comparison, Verdict
from promptorder.model.sample import Phase, Sample

GetServer = Callable[[str], OllamaServer]
OWN_METHOD = {"0.33.3": "counted", "0.33.0": "logged", "0.30.0": "logged", "0.6.5": "logged"}
VERDICTS = {"static-first": Verdict.REUSED, "question-first": Verdict.NOT_REUSED}


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[str, str]:
    document, questions = tmp_path / "document.txt", tmp_path / "questions.txt"
    document.write_text(" ".join(f"word{n % 97} stands in line {n} of it." for n in range(90)))
    questions.write_text(
        "What is it?\nWho wrote it, and when was that?\nHow many pages are there in all?\nWhy?\n"
    )
    return str(document), str(questions)


def settings(inputs: tuple[str, str], server: OllamaServer, log: Path | None, **more: Any) -> CompareSettings:
    return CompareSettings(
        *inputs,
        engine="ollama",
        model="tiny",
        host=server.url,
        layouts=tuple(VERDICTS),
        num_predict=5,
        clock_gap_s=0.0,
        server_log=log,
        **more,
    )


def measure(
    chosen: CompareSettings, between: Callable[[Sample], None] = lambda sample: None
) -> tuple[Comparison, list[Sample]]:
    with Comparing(chosen) as comparing:
        comparing.connect()
        comparing.prepare()
        for event in comparing.events():
            if isinstance(event, Sampled):
                between(event.sample)
        jsonschema.validate(to_json(comparing.run), schema("run-1"))
        return comparing.result, list(comparing.run.samples)


def told(result: Comparison) -> list[tuple[str, int | None, float | None, str]]:
    return [
        (layout.name, r.prompt_tokens, r.reused_tokens.value, r.reused_tokens.method)
        for layout in result.layouts
        for r in layout.samples
    ]


def codes(result: Comparison) -> list[str]:
    return [caveat.code for caveat in result.caveats]


@pytest.mark.server
def test_each_server_has_its_reuse_from_its_log(any_server: OllamaServer, inputs: tuple[str, str]) -> None:
    """Every sample's reuse is the log's; where the server counts, the two agree."""
    offset = any_server.log_offset()
    result, samples = measure(settings(inputs, any_server, any_server.log_path))
    method = OWN_METHOD[any_server.version]
    assert {layout.name: layout.verdict for layout in result.layouts} == VERDICTS
    assert {layout.reused_fraction.method for layout in result.layouts} == {method}
    assert {row[3] for row in told(result)} == {method}
    assert not {"inferred", "second-client", "log-incomplete", "log-not-matched", "log-disagrees"} & {
        *codes(result)
    }
    # The truth, read by other code: the run's calls are the last that the log tells of.
    calls = [s for s in samples if s.phase is not Phase.LOAD]
    truth = any_server.counted_since(offset, len(calls))[-len(calls) :]
    measured = [t for s, t in zip(calls, truth, strict=True) if s.phase in (Phase.FIRST, Phase.FOLLOW_UP)]
    assert [(row[1], row[2]) for row in told(result)] == measured


@pytest.mark.server
def test_without_debugging_an_old_server_tells_nothing(
    inputs: tuple[str, str], tmp_path: Path, tiny_gguf: Path
) -> None:
    with OllamaServer("0.6.5", env={"OLLAMA_DEBUG": ""}, log_path=tmp_path / "server.log") as server:
        server.create_model("tiny", tiny_gguf, *_tiny())
        result, _ = measure(settings(inputs, server, server.log_path))
    assert {layout.reused_fraction.method for layout in result.layouts} == {"inferred"}
    (caveat,) = [c for c in result.caveats if c.code == "log-not-matched"]
    assert "OLLAMA_DEBUG=1" in caveat.message


@pytest.mark.server
@pytest.mark.parametrize("version", ["0.33.3", "0.33.0", "0.6.5"])
def test_a_second_client_is_noticed_and_not_taken_for_us(
    ollama_server: GetServer, inputs: tuple[str, str], version: str
) -> None:
    server = ollama_server(version)
    others = 0

    def intrude(sample: Sample) -> None:
        nonlocal others
        if sample.phase is Phase.FOLLOW_UP and sample.question == 2 and sample.layout == "static-first":
            body = {
                "model": "tiny",
                "stream": False,
                "messages": [{"role": "user", "content": "Another client asks for something else. " * 9}],
                "options": {"num_ctx": _context(server), "num_predict": 2},
            }
            server.post("/api/chat", body)
            others += 1

    result, _ = measure(settings(inputs, server, server.log_path), intrude)
    assert others == 1
    assert "second-client" in codes(result)
    assert any("log holds 1 request of another client" in c.message for c in result.caveats)
    assert {row[3] for row in told(result)} == {OWN_METHOD[version]}
    reused = [row[2] or 0 for row in told(result) if row[0] == "static-first"]
    assert reused[1] > 0.9 * (told(result)[1][1] or 0)


@pytest.mark.server
def test_a_log_that_is_rotated_meanwhile(
    ollama_server: GetServer, inputs: tuple[str, str], tmp_path: Path
) -> None:
    """The server writes on into the file that was renamed, as it does until it is told to open another one."""
    server = ollama_server("0.33.0")
    log = tmp_path / "rotating.log"
    log.hardlink_to(server.log_path)
    renamed = False

    def rotate(sample: Sample) -> None:
        nonlocal renamed
        if sample.phase is Phase.FOLLOW_UP and not renamed:
            log.rename(log.with_name("rotating.log.1"))
            log.touch()
            renamed = True

    result, _ = measure(settings(inputs, server, log), rotate)
    assert renamed
    assert {row[3] for row in told(result)} == {"logged"}
    assert "log-incomplete" not in codes(result)


@pytest.mark.server
def test_a_log_that_is_lost_meanwhile_leaves_what_can_be_inferred(
    ollama_server: GetServer, inputs: tuple[str, str], tmp_path: Path
) -> None:
    server = ollama_server("0.33.0")
    log = tmp_path / "server.log"
    log.write_text("a copy that nobody writes to\n")
    result, _ = measure(settings(inputs, server, log), lambda sample: log.unlink(missing_ok=True))
    assert "log-not-matched" in codes(result)
    assert "logged" not in {row[3] for row in told(result)}


def test_a_missing_log_is_told_before_anything_else(
    inputs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "server.log").touch()
    words = ["compare", inputs[0], "-q", inputs[1], "--host", "127.0.0.1:9", "--server-log"]
    assert run([*words, str(tmp_path / "sever.log")]) == 3
    shown = capsys.readouterr().err
    assert "no such server log" in shown
    assert "server.log" in shown.split("help:")[1]
    assert run([*words, str(tmp_path)]) == 3
    assert run([*words, str(tmp_path / "server.log")]) == 4  # it is there, and the server is not


@pytest.mark.server
def test_the_command_line(
    ollama_server: GetServer, inputs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = ollama_server("0.33.0")
    words = [
        "compare",
        inputs[0],
        "-q",
        inputs[1],
        "--engine",
        "ollama",
        "--model",
        "tiny",
        "--host",
        server.url,
    ]
    words += ["--num-predict", "5", "--layout", "static-first", "--server-log", str(server.log_path)]
    assert run([*words, "--format", "json", "--out", str(tmp_path / "run.json"), "--quiet"]) == 0
    shown = json.loads(capsys.readouterr().out)
    jsonschema.validate(shown, schema("comparison-1"))
    fraction = shown["layouts"][0]["reused_fraction"]
    assert fraction["method"] == "logged"
    assert fraction["low"] > 0.9
    samples = shown["layouts"][0]["samples"]
    assert [s["cached_tokens"] for s in samples] == [None] * 4  # what the server itself counted: nothing
    assert [s["reused_tokens"]["method"] for s in samples] == ["logged"] * 4
    kept = json.loads((tmp_path / "run.json").read_text())
    assert "--server-log" in kept["command"]
    assert run(["report", str(tmp_path / "run.json"), "--format", "markdown"]) == 0


def _context(server: OllamaServer) -> int:
    return int(server.loaded()[0].get("context_length") or 2048)


def _tiny() -> tuple[str, str]:
    import tiny_gguf

    return tiny_gguf.TEMPLATE, tiny_gguf.PARAMETERS
