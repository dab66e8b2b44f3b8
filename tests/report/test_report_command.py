"""`promptorder report`, and `compare --report`."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from fake_server import FakeOllama

from promptorder.cli import run
from promptorder.contracts import schema

OLD = Path(__file__).with_name("run-1.json")
FORMATS = {
    "html": "<!DOCTYPE html>",
    "md": "## Prompt layouts compared",
    "csv": "run,",
    "json": "{",
    "txt": "fixtures/",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(OLD, tmp_path / "run.json")


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_name_says_the_format(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "run.json", "--out", f"report.{suffix}"]) == 0
    assert (tmp_path / f"report.{suffix}").read_text(encoding="utf-8").startswith(FORMATS[suffix])
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"note: the report is in report.{suffix}\n"


def test_without_out_a_page_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "run.json"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_a_page_is_not_for_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["report", "run.json"]) == 2
    assert "--out report.html" in capsys.readouterr().err
    assert run(["report", "run.json", "--format", "table"]) == 0


def test_json_is_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "run.json", "--format", "json", "--per-day", "500"]) == 0
    value = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema("report-1")).validate(value)
    assert value["per_day"] == 500
    assert value["runs"][0]["layouts"][0]["saved_hours_a_day"] == pytest.approx(2.84, abs=0.01)
    assert value["runs"][0]["path"] == "run.json"


def test_csv_is_the_data_frame(capsys: pytest.CaptureFixture[str]) -> None:
    import promptorder

    assert run(["report", "run.json", "run.json", "--format", "csv"]) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out))
    frame = promptorder.load_runs(["run.json", "run.json"])
    assert list(rows.columns) == list(frame.columns)
    assert list(rows["prefill_ns"]) == list(frame["prefill_ns"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["missing.json"], 3, "compare ... --out RUN.json"),
        (["run.json", "other.json"], 2, "questions differ"),
        (["run.json", "--out", "report.xyz"], 2, ".html"),
        (["run.json", "--out", "nowhere/report.html"], 74, "there is no folder nowhere"),
        (["run.json", "--out", "."], 74, "is a folder"),
        (["run.json", "--per-day", "0"], 2, "per-day"),
        ([], 2, "RUN.json"),
    ],
)
def test_what_goes_wrong(
    arguments: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = json.loads(OLD.read_text(encoding="utf-8"))
    other["comparison"]["questions"] = ["Another?"]
    (tmp_path / "other.json").write_text(json.dumps(other), encoding="utf-8")
    assert run(["report", *(arguments if "--out" in arguments else [*arguments, "--format", "json"])]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "internal error" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.json", "run.json"]


def test_a_report_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old", encoding="utf-8")
    assert run(["report", "missing.json", "--out", "report.html"]) == 3
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "old"


def test_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.promptorder.report]\nformat = 'markdown'\nper-day = 1000\n"
        "[tool.promptorder.report.prices]\nsmollm2 = '0.50 EUR per hour'\n",
        encoding="utf-8",
    )
    assert run(["report", "run.json"]) == 0
    assert "hours a day at 1,000 follow-ups, 2.84 EUR a day" in capsys.readouterr().out
    (tmp_path / "pyproject.toml").write_text(
        "[tool.promptorder.report.prices]\n'*' = 'free'\n", encoding="utf-8"
    )
    assert run(["report", "run.json", "--format", "json"]) == 2
    assert "cannot read the price" in capsys.readouterr().err


def measure(server: FakeOllama, *arguments: str) -> int:
    Path("doc.txt").write_text("The order book stood at 2,140. " * 40, encoding="utf-8")
    Path("questions.txt").write_text("How many?\nSince when?\n", encoding="utf-8")
    return run(
        [
            "compare",
            "doc.txt",
            "-q",
            "questions.txt",
            "--host",
            server.url,
            "--clock-gap",
            "0",
            *arguments,
            "--quiet",
        ]
    )


def test_compare_makes_reports_in_one_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = [word for suffix in FORMATS for word in ("--report", f"new.{suffix}")]
    with FakeOllama() as server:
        assert measure(server, "--out", "new.json.run", *reports, "--format", "html") == 0
    page = capsys.readouterr().out
    assert page == (tmp_path / "new.html").read_text(encoding="utf-8")
    for suffix, start in FORMATS.items():
        if suffix != "txt":
            assert (tmp_path / f"new.{suffix}").read_text(encoding="utf-8").startswith(start)
    # The same report can be made of the run file later
    assert run(["report", "new.json.run", "--format", "html"]) == 0
    assert capsys.readouterr().out == page
    assert "promptorder compare doc.txt --questions questions.txt --engine ollama" in page
    assert "tokens before the document" in page


def test_compare_checks_its_reports_before_it_measures(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeOllama() as server:
        assert measure(server, "--report", "nowhere/new.html") == 74
        assert measure(server, "--report", "new.xyz") == 2
        assert "there is no folder nowhere" in capsys.readouterr().err
        assert server.chats == 0


def test_compare_prints_no_page_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with FakeOllama() as server:
        assert measure(server, "--format", "html") == 2
        assert server.chats == 0
    assert "--report report.html" in capsys.readouterr().err


def test_the_command_of_a_run_holds_no_secret(tmp_path: Path) -> None:
    with FakeOllama() as server:
        secret = ["--header", "Authorization: Bearer hidden", "--password", "hidden"]
        host = server.url.replace("//", "//hidden:hidden@")
        assert measure(server, "--out", "new.json", *secret, "--repeats", "2", "--host", host) == 0
    text = (tmp_path / "new.json").read_text(encoding="utf-8")
    assert "hidden" not in text
    command = json.loads(text)["command"]
    assert command[:2] == ["promptorder", "compare"]
    assert command[command.index("--host") + 1] == server.url
    assert command[command.index("--repeats") + 1] == "2"
    assert "--seed" not in command, "what is the default needs no word"


def test_a_run_can_be_resumed_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.json.partial").write_text('{"schema": "promptorder.run-partial/1"}\n', encoding="utf-8")
    assert run(["report", "new.json.partial"]) == 3
    assert "--out new.json --resume" in capsys.readouterr().err
