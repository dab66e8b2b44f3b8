"""Which files lint reads, as what, and how their bytes become text."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lint_projects import BAD, GOOD, RULES, put

import promptorder
from promptorder.cli import run
from promptorder.errors import InputError
from promptorder.forms import REGISTRY as FORMS
from promptorder.inputs._prompt_files import NotTextError, decode_text
from promptorder.inputs._prompt_forms import by_content, by_name, declared
from promptorder.lint._globs import Globs


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, tuple[str, str]]:
    """What --show-files prints: for each path its form and the reason."""
    assert run(["lint", "--show-files", *arguments]) == 0
    rows = (line.split(None, 2) for line in capsys.readouterr().out.splitlines())
    return {path: (form, reason.strip()) for path, form, reason in rows}


def test_a_folder_gives_what_is_plainly_a_prompt(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = ["a.prompt", "b.j2", "c.jinja", "d.html.jinja2", "deep/prompts/e.txt", "prompts/f.md"]
    left = [
        "notes.txt",
        "README.md",
        "node_modules/x.j2",
        ".venv/x.j2",
        "__pycache__/x.j2",
        "src/.hidden/x.j2",
        "prompts.txt",
        "image.svg",
    ]
    for name in taken + left:
        put(project, name, GOOD)
    assert sorted(shown(capsys)) == sorted(taken)
    assert shown(capsys)["b.j2"] == ("jinja", "matches *.j2")
    assert shown(capsys)["prompts/f.md"] == ("markdown", "matches prompts/**")


def test_a_folder_of_prompts_is_one_wherever_one_stands(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project, "prompts/f.txt", GOOD)
    assert list(shown(capsys, str(project / "prompts"))) == [str(project / "prompts/f.txt")]
    monkeypatch.chdir(project / "prompts")
    assert list(shown(capsys)) == ["f.txt"]
    assert list(shown(capsys, ".")) == ["f.txt"]


def test_other_files_count_only_if_they_hold_a_prompt(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, "request.json", json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}))
    put(project, "package.json", '{"name": "x", "version": "1.0.0"}')
    assert list(shown(capsys)) == ["request.json"]
    assert set(shown(capsys, "request.json", "package.json")) == {"request.json", "package.json"}


def test_each_file_once_and_in_order(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b.j2", "a.j2", "sub/c.j2"):
        put(project, name, GOOD)
    assert list(shown(capsys, ".", "a.j2", "sub", "./b.j2")) == ["a.j2", "b.j2", "sub/c.j2"]


def test_a_link_to_a_folder_is_not_followed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "sub/a.j2", GOOD)
    (project / "sub/loop").symlink_to(project, target_is_directory=True)
    assert list(shown(capsys)) == ["sub/a.j2"]


def test_gitignore(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, ".gitignore", "# built\n/build/\n*.tmp.j2\n!keep.tmp.j2\n")
    put(project, "sub/.gitignore", "local.j2\n!sub.tmp.j2\n")
    put(project, ".git/info/exclude", "mine.j2\n")
    for name in (
        "a.j2", "build/b.j2", "sub/build/c.j2", "x.tmp.j2", "keep.tmp.j2", "sub/local.j2", "local.j2",
        "sub/sub.tmp.j2", "mine.j2",
    ):  # fmt: skip
        put(project, name, GOOD)
    expected = {"a.j2", "sub/build/c.j2", "keep.tmp.j2", "local.j2", "sub/sub.tmp.j2"}
    assert set(shown(capsys)) == expected
    # From below, the files above still hold; and a file that is named is read.
    assert set(shown(capsys, "sub")) == {name for name in expected if name.startswith("sub/")}
    assert set(shown(capsys, "x.tmp.j2")) == {"x.tmp.j2"}


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_gitignore_as_git_itself_reads_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    put(project, ".gitignore", "*.j2\n!a*.j2\n/x/*\n!/x/y\ndir/\n**/z.j2\n")
    for name in (
        "a.j2",
        "b.j2",
        "x/a1.j2",
        "x/y/a2.j2",
        "dir/a3.j2",
        "q/dir/a4.j2",
        "q/az.j2",
        "q/z.j2",
        "dira.prompt",
    ):
        put(project, name, GOOD)
    git = ["git", "ls-files", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split()
    assert set(shown(capsys)) == set(listed) - {".gitignore"}


def test_exclude_and_force_exclude(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.j2", "old/b.j2", "sub/old/c.j2", "node_modules/d.j2"):
        put(project, name, GOOD)
    assert set(shown(capsys, "--exclude", "old")) == {"a.j2"}
    assert set(shown(capsys, "--exclude", "/old")) == {"a.j2", "sub/old/c.j2"}
    assert set(shown(capsys, "--exclude", "old/*.j2")) == {"a.j2", "sub/old/c.j2"}
    named = ["a.j2", "old/b.j2", "node_modules/d.j2"]
    assert set(shown(capsys, "--exclude", "old", *named)) == set(named)
    assert set(shown(capsys, "--exclude", "old", "--force-exclude", *named)) == {"a.j2"}
    assert run(["lint", "--exclude", "old", "--force-exclude", "old/b.j2"]) == 0


def test_include_adds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("agents/a.md", "b.j2", "c.md"):
        put(project, name, GOOD)
    assert shown(capsys, "--include", "agents/**") == {
        "agents/a.md": ("markdown", "matches agents/**"),
        "b.j2": ("jinja", "matches *.j2"),
    }


def test_as_overrides_the_name(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "x.unknown", GOOD)
    assert shown(capsys, "x.unknown", "--as", "markdown") == {"x.unknown": ("markdown", "--as")}
    assert shown(capsys, "x.unknown")["x.unknown"][0] == "text"


def test_a_path_that_is_not_there_is_3(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "desk.txt", BAD)
    assert run(["lint", "desk.txt", "dsek.txt"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: no such file or folder: dsek.txt\nhelp: did you mean desk.txt?\n"
    with pytest.raises(InputError):
        promptorder.lint("dsek.txt")


def test_pdf_and_binary_files_are_left_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "a.pdf", b"%PDF-1.7\n...")
    put(project, "b.bin", b"\x89PNG\r\n\x1a\n\0\0\0")
    put(project, "c.txt", BAD)
    assert run(["lint", "a.pdf", "b.bin"]) == 0
    assert capsys.readouterr().err == (
        "note: a.pdf was left alone: it looks like a PDF\nnote: b.bin was left alone: it looks like a PNG image\n"
    )
    assert run(["lint", "a.pdf", "c.txt"]) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_an_error_and_the_others_go_on(project: Path) -> None:
    put(project, "a.txt", GOOD).chmod(0)
    put(project, "b.txt", BAD)
    result = promptorder.lint(["a.txt", "b.txt"])
    assert [error.message for error in result.errors] == ["cannot be read: permission denied"]
    assert len(result.findings) == 1


def test_a_file_that_cannot_be_parsed_is_an_error_and_the_others_go_on(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, "broken.json", '{"messages": [\n{"role": ]}')
    put(project, "good.txt", GOOD)
    assert run(["lint", "broken.json", "good.txt"]) == 0
    assert "broken.json:2 " in capsys.readouterr().out
    assert run(["lint", "broken.json"]) == 3
    captured = capsys.readouterr()
    assert "broken.json:2 " in captured.out
    assert captured.err.startswith("error: not one of the files could be read\nhelp: ")


def test_a_broken_template_is_still_searched(project: Path) -> None:
    put(project, "new.j2", f"Now: {{{{ now }}}}\n{RULES}\n{{% newer syntax")
    result = promptorder.lint("new.j2")
    assert [error.path for error in result.errors] == ["new.j2"]
    assert [finding.line for finding in result.findings] == [1]


def test_standard_input(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    def feed(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", type("S", (), {"buffer": io.BytesIO(text.encode())}))

    feed(BAD)
    assert run(["lint", "-", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["path"] == "-"
    feed(BAD)
    assert run(["lint", "-", "--stdin-filename", "x/y.j2", "--format", "json"]) == 1
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["path"], finding["form"]) == ("x/y.j2", "jinja")
    feed(BAD)
    assert run(["lint", "-", "--stdin-filename", "x/y.j2", "--exclude", "x", "--force-exclude"]) == 0


@pytest.mark.parametrize(
    "data",
    [
        BAD.encode(),
        b"\xef\xbb\xbf" + BAD.encode(),
        b"\xff\xfe" + BAD.encode("utf-16-le"),
        b"\xfe\xff" + BAD.encode("utf-16-be"),
        BAD.replace("help", "h\xe9lp").encode("cp1252"),
        BAD.replace("\n", "\r\n").encode(),
        BAD.replace("\n", "\r").encode(),
    ],
    ids=["utf-8", "utf-8 bom", "utf-16-le", "utf-16-be", "cp1252", "crlf", "cr"],
)
def test_encodings_and_line_ends_move_nothing(project: Path, data: bytes) -> None:
    put(project, "x.txt", data)
    [finding] = promptorder.lint("x.txt").findings
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (1, 15, 1, 35)
    assert finding.related[0].line == 2


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_odd_separators_end_no_line(project: Path, odd: str) -> None:
    put(project, "x.txt", f"a{odd}b\r\r\n{BAD}".encode())
    [finding] = promptorder.lint("x.txt").findings
    assert (finding.line, finding.column) == (3, 15)


def test_what_is_no_text() -> None:
    for data in (b"%PDF-1.7", b"\0\0\0", b"\xff\xfea", b"\x90\x01\x02\xff"):
        with pytest.raises(NotTextError):
            decode_text(data)


def test_the_streamed_log_finds_what_the_whole_one_finds(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = []
    for number in range(3):
        system = f"Current time: 2026-03-14T09:26:5{number}Z\n{RULES}"
        messages = [{"role": "system", "content": system}, {"role": "user", "content": f"Question {number}?"}]
        lines.append(json.dumps({"model": "m", "messages": messages}))
    put(project, "log.jsonl", "\n".join(lines) + "\n")
    whole = promptorder.lint("log.jsonl")
    monkeypatch.setattr("promptorder.inputs._prompt_files._LARGE", 1)
    streamed = promptorder.lint("log.jsonl")
    assert whole.findings
    assert places(streamed) == places(whole)


def places(result: Any) -> list[tuple[int, int, str]]:
    return [(finding.line, finding.column, finding.code) for finding in result.findings]


def test_forms_declare_what_their_modules_say() -> None:
    known = declared()
    for name, module in FORMS.load_all().items():
        assert {suffix for suffix, form in known.by_suffix.items() if form == name} == set(module.SUFFIXES)
        assert {pattern for pattern, form in known.by_name if form == name} == set(module.NAMES)
        assert (name in known.plain) == module.PLAIN
    every = [suffix for module in FORMS.load_all().values() for suffix in module.SUFFIXES]
    assert len(every) == len(set(every)), "two forms claim one ending"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.txt", "text"),
        ("a.md", "markdown"),
        ("a.html.jinja", "jinja"),
        ("A.J2", "jinja"),
        ("a.xyz", ""),
        (".txt", ""),
    ],
)
def test_forms_by_name(name: str, form: str) -> None:
    assert by_name(name, declared())[0] == form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"model": "m", "messages": []}', "json"),
        ('{"messages": []}\n{"messages": []}', "jsonl"),
        ("{% if x %}a{% endif %}", "jinja"),
        ("Just text {x}", "text"),
        ('{"note": 1}', "text"),
    ],
)
def test_forms_by_content(text: str, form: str) -> None:
    assert by_content(text)[0] == form


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("*.j2", ["a.j2", "x/y/a.j2", "a.j2/b"], ["a.j2x", "aj2"]),
        ("old", ["old", "old/a", "x/old/b"], ["older", "cold"]),
        ("/old", ["old", "old/a"], ["x/old"]),
        ("a/*.md", ["a/b.md"], ["a/b/c.md", "x/a/b.md"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("**/a/*.md", ["a/b.md", "x/y/a/b.md"], ["a/b/c.md"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb"]),
        ("[!x]?.md", ["ab.md"], ["xb.md", "a.md"]),
        ("[", ["["], ["a"]),
        ("a.b+(c)", ["a.b+(c)"], ["aXb+(c)"]),
    ],
)
def test_patterns(pattern: str, matching: list[str], other: list[str]) -> None:
    globs = Globs(["zzz", pattern])
    assert [path for path in matching if globs.match(path) != pattern] == []
    assert [path for path in other if globs.match(path)] == []
