"""`compare --calibration RUN.json`: calls of known reuse of an earlier run, used again."""

from __future__ import annotations

import contextlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeOllama

from promptorder.cli import run

pytestmark = pytest.mark.usefixtures("inputs")


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a folder with a document and questions, out of reach of the settings of whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.chdir(tmp_path)
    lines = (f"Section {n}: in the year {1900 + n} the harbour took in {n * 37} ships.\n" for n in range(66))
    (tmp_path / "harbour.txt").write_text("".join(lines))
    (tmp_path / "questions.txt").write_text("How many ships?\nWhich year was it?\nWho paid?\n")


def compare(fake: FakeOllama, *arguments: str, code: int = 0) -> tuple[Any, str]:
    """The result and what stood on standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        found = run(
            [
                *("compare", "harbour.txt", "--questions", "questions.txt", "--host", fake.url),
                *("--engine", "ollama", "--layout", "static-first", "--layout", "question-first"),
                *("--num-predict", "2", "--format", "json", *arguments),
            ]
        )
    assert found == code, err.getvalue()
    return json.loads(out.getvalue()) if code == 0 else None, err.getvalue()


def phases(path: str) -> Counter[str]:
    return Counter(sample["phase"] for sample in json.loads(Path(path).read_text())["samples"])


def verdicts(result: Any) -> list[str]:
    return [layout["verdict"] for layout in result["layouts"]]


def fake_of(version: str = "0.33.0", **more: Any) -> FakeOllama:
    return FakeOllama(version=version, new_token_ns=100_000, **more)


def test_the_calls_of_an_earlier_run_save_most_of_ours() -> None:
    with fake_of() as fake:
        compare(fake, "--out", "first.json")
        result, _ = compare(fake, "--calibration", "first.json", "--out", "second.json")
        assert phases("first.json")["calibration"] >= 2
        assert phases("second.json")["calibration"] == 0
        assert phases("second.json")["warm-repeat"] == 2
        assert verdicts(result) == ["reused", "not-reused"]
        assert all(layout["reused_fraction"]["method"] == "inferred" for layout in result["layouts"])
        command = json.loads(Path("second.json").read_text())["command"]
        assert command[command.index("--calibration") + 1] == "first.json"


def test_calibration_stops_when_the_verdicts_are_told() -> None:
    with fake_of() as fake:
        compare(fake, "--out", "run.json")
        at_a_gate = "static-first=0.9"
        compare(fake, "--fail-under", at_a_gate, "--out", "gated.json")
    # A curve needs three calls beside the cold one; the second layout has it from the first.
    assert phases("run.json")["calibration"] == 2
    assert phases("gated.json")["calibration"] >= 2


def test_all_calls_of_known_reuse_ask_for_one_token() -> None:
    with fake_of() as fake:
        compare(fake)
        asked = [r.body["options"]["num_predict"] for r in fake.requests if r.path == "/api/chat"]
        asked = [number for number in asked if number in (1, 2)]
        assert asked[-4:] == [2, 2, 2, 1]
        contexts = {r.body["options"]["num_ctx"] for r in fake.requests[-8:] if "options" in r.body}
        assert len(contexts - {256}) == 1, "another context would load the model anew"


def test_a_machine_that_has_changed_is_calibrated_anew() -> None:
    with fake_of() as fake:
        compare(fake, "--out", "first.json")
    with FakeOllama(version="0.33.0", new_token_ns=500_000) as slower:
        result, _ = compare(slower, "--calibration", "first.json", "--out", "second.json")
    assert phases("second.json")["calibration"] >= 2
    assert "calibration-stale" in [caveat["code"] for caveat in result["caveats"]]
    assert verdicts(result) == ["reused", "not-reused"]


@pytest.mark.parametrize(
    ("version", "options", "said"),
    [("0.33.0", ("--num-ctx", "4096"), "--num-ctx"), ("0.6.5", (), "ollama 0.33.0")],
)
def test_what_was_measured_otherwise_is_refused(version: str, options: tuple[str, ...], said: str) -> None:
    with fake_of() as fake:
        compare(fake, "--out", "first.json")
    with fake_of(version) as fake:
        _, err = compare(fake, "--calibration", "first.json", *options, code=2)
        assert said in err
        assert "help:" in err
        assert not any(r.path == "/api/chat" and r.body.get("stream") for r in fake.requests), (
            "nothing was measured"
        )


def test_a_run_that_has_none_is_refused() -> None:
    with fake_of("0.33.3") as fake:
        compare(fake, "--out", "counted.json")
        _, err = compare(fake, "--calibration", "counted.json", code=2)
    assert "holds no calibration" in err


def test_a_file_that_is_no_run_is_refused() -> None:
    with fake_of() as fake:
        _, err = compare(fake, "--calibration", "harbour.txt", code=3)
    assert "not a run file" in err
