"""The command: which rules are on, settings, suppression, baseline, exit codes, and what it loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lint_projects import BAD, CLOCK, GOOD, RULES, put

import promptorder
from promptorder.cli import run
from promptorder.contracts import schema
from promptorder.errors import UsageError
from promptorder.lint.registry import REGISTRY
from promptorder.lint.selection import codes

HEAVY = {
    "jinja2", "rich", "pandas", "pypdf", "tiktoken", "ollama", "httpx", "yaml", "tree_sitter", "pathspec", "pathlib",
    "tomllib", "json", "hashlib", "dataclasses", "difflib", "pkgutil", "traceback", "promptorder.commands.compare",
    "promptorder.api", "promptorder.console", "promptorder.forms.jinja", "promptorder.forms.python", "promptorder.store",
}  # fmt: skip


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str]]:
    """Codes and severities of the findings."""
    run(["lint", "--format", "json", *arguments])
    return [(each["code"], each["severity"]) for each in json.loads(capsys.readouterr().out)["findings"]]


def settings(project: Path, *lines: str, table: str = "lint") -> Path:
    return put(project, "pyproject.toml", "\n".join((f"[tool.promptorder.{table}]", *lines)))


def wrong(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    """The two lines of a usage error."""
    assert run(["lint", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    error, help_ = captured.err.splitlines()
    return error.removeprefix("error: "), help_.removeprefix("help: ")


@pytest.mark.parametrize(
    ("fail_on", "severity", "code"),
    [
        ("warning", "error", 1),
        ("warning", "warning", 1),
        ("warning", "info", 0),
        ("info", "info", 1),
        ("error", "warning", 0),
        ("error", "error", 1),
        ("never", "error", 0),
    ],
)
def test_exit_codes(project: Path, fail_on: str, severity: str, code: int) -> None:
    put(project, "desk.txt", BAD)
    settings(project, f'timestamp = "{severity}"', table="lint.severity")
    assert run(["lint", "desk.txt", "--fail-on", fail_on]) == code


def test_nothing_to_read_is_fine(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint"]) == 0
    assert capsys.readouterr().out.startswith("No prompts found")


@pytest.mark.parametrize(
    ("arguments", "on"),
    [
        ([], True),
        (["--select", "PO101"], True),
        (["--select", "timestamp"], True),
        (["--select", "po1"], True),
        (["--select", "date, timestamp"], True),
        (["--select", "ALL"], True),
        (["--select", "PO102"], False),
        (["--ignore", "PO101"], False),
        (["--ignore", "timestamp", "--ignore", "date"], False),
        (["--select", "PO1", "--ignore", "PO10"], False),
    ],
)
def test_selection(project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], on: bool) -> None:
    put(project, "desk.txt", BAD)
    assert found(capsys, "desk.txt", *arguments) == ([("PO101", "error")] if on else [])


def test_an_unknown_rule(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(capsys, "--select", "timestmap") == (
        "--select: there is no rule 'timestmap'",
        "did you mean timestamp? `promptorder lint --list-rules` shows them all",
    )
    path = settings(project, 'ignore = ["PO1O1"]')
    error, help_ = wrong(capsys)
    assert error == f"{path}: ignore in [tool.promptorder.lint]: there is no rule 'PO1O1'"
    assert "did you mean PO" in help_
    with pytest.raises(UsageError, match="no rule 'x'"):
        promptorder.lint(".", select=("x",))


@pytest.mark.parametrize(
    ("table", "line", "words"),
    [
        ("lint", "selct = []", ["unknown setting 'selct'", "did you mean select?", "variables"]),
        (
            "lint",
            "variables = 1",
            ["variables", "a table of texts", "write [tool.promptorder.lint.variables]"],
        ),
        ("lint", 'min-tokens = "x"', ["min-tokens", "a whole number"]),
        (
            "lint.variables",
            'fleet = "requests"',
            ["variables", "fleet cannot be 'requests'", "did you mean request?"],
        ),
        ("lint.variables", "fleet = 1", ["variables", "a table of texts"]),
        ("lint.severity", 'PO101 = "fatal"', ["severity", "PO101 cannot be 'fatal'", "error"]),
        ("lint.severity", 'PO777 = "info"', ["severity", "no rule 'PO777'"]),
        ("lint.per-file-ignores", '"a" = 1', ["per-file-ignores", "a table of lists"]),
        ("lint.per-file-ignores", '"a" = ["PO777"]', ["per-file-ignores", "no rule 'PO777'"]),
    ],
)
def test_wrong_settings_are_named_exactly(
    project: Path, capsys: pytest.CaptureFixture[str], table: str, line: str, words: list[str]
) -> None:
    path = settings(project, line, table=table)
    error, help_ = wrong(capsys)
    assert error.startswith(f"{path}: ")
    assert "[tool.promptorder.lint]" in error
    for word in words:
        assert word in f"{error} {help_}"


def test_settings_of_every_kind(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "prompts/a.txt", f"{{fleet}}\n{RULES}\n")
    put(project, "prompts/b.txt", BAD)
    put(project, "old/prompts/c.txt", BAD)
    settings(
        project,
        'exclude = ["old"]',
        'fail-on = "never"',
        "[tool.promptorder.lint.variables]",
        'fleet = "request"',
        "[tool.promptorder.lint.severity]",
        'own-variable = "error"',
        "[tool.promptorder.lint.per-file-ignores]",
        '"prompts/b*" = ["timestamp"]',
    )
    assert found(capsys) == [("PO190", "error")]
    assert run(["lint"]) == 0
    assert run(["lint", "--fail-on", "error"]) == 1


def test_settings_hold_from_a_folder_below(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project, "prompts/b.txt", BAD)
    settings(project, '"prompts/b.txt" = "PO101"', table="lint.per-file-ignores")
    monkeypatch.chdir(project / "prompts")
    assert found(capsys, "b.txt") == []


def test_show_settings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = settings(project, 'ignore = ["PO101"]')
    assert run(["--show-settings", "lint", "--fail-on", "never"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["ignore", "PO101", str(path)] in lines
    assert ["fail-on", "never", "command", "line"] in lines


def test_min_tokens(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "desk.txt", f"{CLOCK}\nBe kind, and name the ferry.\n")
    assert found(capsys, "desk.txt") == []
    assert found(capsys, "desk.txt", "--min-tokens", "3") == [("PO101", "error")]


def test_suppression_in_a_template(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    comment = "{# promptorder: ignore[PO101] sent once a day #}"
    put(project, "above.j2", f"{comment}\n{BAD}")
    put(project, "beside.j2", BAD.replace(CLOCK, f"{CLOCK} {comment}"))
    put(project, "named.j2", BAD.replace(CLOCK, f"{CLOCK} {comment}").replace("PO101", "timestamp, PO102"))
    result = promptorder.lint(["above.j2", "beside.j2", "named.j2"])
    assert [(f.path, f.name, f.severity) for f in result.findings] == [
        ("named.j2", "unused-suppression", "info")
    ]
    assert result.findings[0].message == "nothing here to ignore for PO102"
    assert result.suppressed == 3
    put(project, "far.j2", f"{comment}\n\n{BAD}")
    assert [f.code for f in promptorder.lint("far.j2").findings] == ["PO900", "PO101"]


def test_an_unused_suppression(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "a.j2", f"{{# promptorder: ignore[PO101] #}}\n{GOOD}")
    put(project, "b.j2", f"{{# promptorder: ignore[PO777] #}}\n{GOOD}")
    put(project, "c.j2", f"{{# promptorder: ignore #}}\n{GOOD}")
    assert [f.message for f in promptorder.lint(".").findings] == [
        "nothing here to ignore for PO101",
        "there is no rule 'PO777'",
        "a comment that ignores rules has to name them",
    ]
    assert run(["lint"]) == 0
    capsys.readouterr()
    assert found(capsys, "a.j2", "--ignore", "PO101") == []
    assert found(capsys, "a.j2", "--ignore", "PO900") == []


def test_in_a_text_a_comment_is_sent_to_the_model(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "a.txt", f"# promptorder: ignore[PO101]\n{BAD}")
    put(project, "a.md", f"<!-- promptorder: ignore[PO101] -->\n{BAD}")
    assert found(capsys, "a.txt", "a.md") == [("PO101", "error")] * 2


@pytest.mark.parametrize(
    ("before", "after", "silenced"),
    [
        ("# promptorder: ignore[PO105]\n", "", True),
        ("", "  # promptorder: ignore[PO105] a prompt a day", True),
        ("# promptorder: ignore[PO105]\n\n", "", False),
        ("x = '# promptorder: ignore[PO105]'\n", "", False),
    ],
)
def test_suppression_in_python(project: Path, before: str, after: str, silenced: bool) -> None:
    code = (
        "from datetime import datetime\nimport openai\n\n"
        f'{before}SYSTEM = f"""Now: {{datetime.now()}}\n{RULES}\n"""{after}\n'
        'openai.chat.completions.create(messages=[{"role": "system", "content": SYSTEM}])\n'
    )
    put(project, "a.py", code)
    result = promptorder.lint("a.py")
    if not (result.findings or result.suppressed):
        pytest.skip("the reader of Python finds nothing here")
    assert bool(result.suppressed) is silenced
    assert bool(result.findings) is not silenced


def test_baseline(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "prompts/a.txt", BAD)
    arguments = ["lint", "--baseline", "ci/lint.json"]
    assert run(arguments) == 3
    assert "--write-baseline" in capsys.readouterr().err
    (project / "ci").mkdir()
    assert run([*arguments, "--write-baseline"]) == 0
    assert "ci/lint.json now knows 1 findings" in capsys.readouterr().err
    written = json.loads((project / "ci/lint.json").read_text())
    jsonschema.validate(written, schema("baseline-1"))
    assert list(written["files"]) == ["../prompts/a.txt"]
    assert run(arguments) == 0
    assert "1 in the baseline" in capsys.readouterr().out
    # It holds when lines move, for as many as there were, and not for another file.
    put(project, "prompts/a.txt", f"\n\n{BAD}")
    assert run(arguments) == 0
    put(project, "prompts/a.txt", f"{CLOCK}\n{BAD}")
    assert run(arguments) == 1
    put(project, "prompts/a.txt", GOOD)
    put(project, "prompts/b.txt", BAD)
    assert run(arguments) == 1


def test_writing_a_baseline_keeps_what_was_not_looked_at(project: Path) -> None:
    for name in ("a", "b", "c"):
        put(project, f"{name}.j2", BAD)
    write = ["lint", "--baseline", "base.json", "--write-baseline"]
    assert run(write) == 0
    put(project, "a.j2", GOOD)
    (project / "c.j2").unlink()
    assert run([*write, "a.j2"]) == 0
    assert list(json.loads((project / "base.json").read_text())["files"]) == ["b.j2"]


def test_processes_that_write_one_baseline(project: Path) -> None:
    names = [f"{number}.j2" for number in range(12)]
    for name in names:
        put(project, name, BAD)

    def write(name: str) -> int:
        command = [
            sys.executable,
            "-m",
            "promptorder",
            "lint",
            "--baseline",
            "b.json",
            "--write-baseline",
            name,
        ]
        return subprocess.run(command, capture_output=True, check=False).returncode

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(write, names)) == {0}
    assert sorted(json.loads((project / "b.json").read_text())["files"]) == sorted(names)
    assert sorted(path.name for path in project.iterdir()) == sorted([*names, "b.json"])


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "promptorder.baseline/1", "files": {"a": 1}}', "\xff"]
)
def test_what_is_no_baseline_is_told(project: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    put(project, "b.json", text.encode("latin-1"))
    error, _ = wrong(capsys, "--baseline", "b.json")
    assert error == "b.json is not a baseline that this version can read"


def test_a_baseline_from_the_settings_lies_beside_them(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, "sub/a.j2", BAD)
    settings(project, 'baseline = "base.json"')
    assert run(["lint", "--write-baseline"]) == 0
    monkeypatch.chdir(project / "sub")
    assert run(["lint"]) == 0


def test_write_baseline_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(capsys, "--write-baseline")[1] == "name a file: --baseline FILE"


def test_list_rules_and_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "--list-rules"]) == 0
    listed = capsys.readouterr().out
    for name, code in codes().items():
        assert f"{code}  {name} " in listed
        assert run(["explain", code]) == 0
        page = capsys.readouterr().out
        assert page.startswith(f"{code} {name} (")
        assert run(["explain", name]) == 0
        assert capsys.readouterr().out == page
    assert run(["explain", "timestmap"]) == 2
    assert "did you mean timestamp?" in capsys.readouterr().err


def test_codes_belong_to_one_rule() -> None:
    every = list(codes().values())
    assert len(set(every)) == len(every) == len(REGISTRY.names())


def test_the_library_gives_typed_findings(project: Path) -> None:
    path = put(project, "desk.txt", BAD)
    result = promptorder.lint(path)
    assert isinstance(result, promptorder.LintResult)
    [finding] = result.findings
    assert isinstance(finding, promptorder.Finding)
    assert (finding.code, finding.line) == ("PO101", 1)
    assert promptorder.lint([path], variables={}, severity={"PO101": "info"}).findings[0].severity == "info"
    with pytest.raises(UsageError, match="slect"):
        promptorder.lint(path, slect=())


def loaded(*arguments: str) -> set[str]:
    code = f"import sys; from promptorder.cli import run; run({list(arguments)!r}); print('modules:', *sys.modules)"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, env=environment
    )
    return set(done.stdout.rpartition("modules:")[2].split())


@pytest.mark.parametrize("text", [BAD, GOOD, "{question}\n" + GOOD], ids=["clock", "clean", "placeholder"])
def test_lint_loads_nothing_heavy(project: Path, text: str) -> None:
    put(project, "desk.txt", text)
    modules = loaded("lint", "desk.txt")
    assert "promptorder.forms.text" in modules
    assert modules & HEAVY == set()
    assert {name for name in modules if name.startswith("promptorder.commands.")} == {
        "promptorder.commands.lint"
    }


def test_a_reader_that_has_left_is_no_error(project: Path) -> None:
    for number in range(300):
        put(project, f"prompts/{number}.txt", BAD)
    command = [sys.executable, "-m", "promptorder", "lint"]
    # Unbuffered, Python takes a write that stops half-way for a whole one.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        assert writer.stdout.read(1)
        writer.stdout.close()
        assert writer.stderr.read() == b""
    assert writer.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_that_cannot_be_written_is_74(project: Path) -> None:
    put(project, "desk.txt", BAD)
    command = [sys.executable, "-m", "promptorder", "lint", "desk.txt"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 74
    assert done.stderr.startswith("error: cannot write: ")


def test_the_process_gives_the_exit_code_and_all_of_its_output(project: Path) -> None:
    put(project, "desk.txt", BAD)
    done: Any = subprocess.run(
        [sys.executable, "-m", "promptorder", "lint", "desk.txt", "--format", "json"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["summary"]["findings"] == 1


BLOCK = RULES.replace("\n", "\n    ")
IN_FORMS = {
    "a.ts": (
        'import OpenAI from "openai";\nconst client = new OpenAI();\n',
        "// {}\n",
        f"const system = `Now: ${{new Date().toISOString()}}\n{RULES}`;\n"
        'client.chat.completions.create({ messages: [{ role: "system", content: system }] });\n',
    ),
    "a.yaml": ("", "# {}\n", f"system: |\n    Now: {{{{ now() }}}}\n    {BLOCK}\n"),
    "a.toml": ("[prompts]\n", "# {}\n", f'system = """\nNow: {{{{ now() }}}}\n{RULES}\n"""\n'),
    "Modelfile": (
        "FROM small\n",
        "# {}\n",
        f'TEMPLATE """Now: {{{{ currentDate }}}}\n{RULES}\n{{{{ .Prompt }}}}"""\n',
    ),
    "a.mustache": ("", "{{{{! {} }}}}\n", f"Now: {{{{current_time}}}}\n{RULES}\n"),
}


@pytest.mark.parametrize("name", IN_FORMS)
def test_suppression_in_every_form_with_comments(project: Path, name: str) -> None:
    head, comment, prompt = IN_FORMS[name]
    put(project, name, head + prompt)
    found = promptorder.lint(name).findings
    assert found, "the reader finds nothing to suppress"
    codes_found = {finding.code for finding in found}
    put(
        project,
        name,
        head + comment.format(f"promptorder: ignore[{', '.join(codes_found)}] meant so") + prompt,
    )
    result = promptorder.lint(name)
    assert (result.findings, result.suppressed) == ((), len(found))
