"""The command line from outside: exit codes, the form of errors, and what a shell does to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest

import promptorder
from promptorder import errors
from promptorder.cli import COMMANDS, run
from promptorder.commands import compare
from promptorder.console import wants_color

SECRET = "The document says 4711."


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROMPTORDER_DEBUG", raising=False)
    return tmp_path


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "promptorder", *arguments]
    options = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "encoding": "utf-8",
        **options,
    }
    done: subprocess.CompletedProcess[str] = subprocess.run(command, check=False, **options)
    return done


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let ``compare`` fail when it has read its options."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(compare, "show_settings_if_asked", fail)


def error_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    captured = capsys.readouterr()
    assert captured.out == "", "standard output carries a result or nothing"
    return captured.err.splitlines()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["-h"],
        ["compare", "--help"],
        ["completion", "--help"],
        ["--show-settings", "compare", "x"],
    ],
)
def test_what_succeeds(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out
    assert captured.err == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"promptorder {promptorder.__version__}\n"
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"promptorder {promptorder.__version__}\n", "")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in COMMANDS.names())


@pytest.mark.parametrize(
    ("arguments", "error", "help_"),
    [
        (["compar"], "there is no command named 'compar'", "did you mean compare?"),
        (["zzz"], "there is no command named 'zzz'", "there are: compare, completion"),
        (["--nope"], "No such option '--nope'", "`promptorder --help`"),
        (["compare"], "Missing argument 'DOCUMENT'", "`promptorder compare --help`"),
        (["compare", "x", "--layot", "y"], "No such option '--layot'", "`promptorder compare --help`"),
        (["compare", "x", "--repeats", "0"], "Invalid value for '--repeats'", "`promptorder compare --help`"),
        (["compare", "x", "--format", "xml"], "Invalid value for '--format'", "`promptorder compare --help`"),
        (["compare", "x"], "--questions is missing", "one question a line"),
        (
            ["compare", "x", "-q", "y", "--header", "z"],
            "not of the form 'NAME: VALUE'",
            "--header 'Authorization",
        ),
        (["compare", "x", "-q", "y", "--fail-under", "z"], "cannot read --fail-under z", "static-first=0.9"),
        (
            ["compare", "x", "-q", "y", "--fail-under", "z=nan"],
            "cannot read --fail-under z=nan",
            "static-first=0.9",
        ),
        (["compare", "-", "-q", "-"], "cannot both come from standard input", "name a file"),
        (["completion", "tcsh"], "'tcsh' is not one of", "`promptorder completion --help`"),
        (["--color", "pink", "compare"], "'pink' is not one of", "`promptorder --help`"),
    ],
)
def test_wrong_usage_is_2(
    arguments: list[str],
    error: str,
    help_: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stdin:
        buffer = None

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert run(arguments) == 2
    first, second = error_lines(capsys)
    assert first.startswith("error: ")
    assert error in first
    assert second.startswith("help: ")
    assert help_ in second


def test_no_command_shows_the_help_and_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    lines = error_lines(capsys)
    assert lines[0] == "Usage: promptorder [OPTIONS] COMMAND [ARGS]..."
    assert not any(line.startswith("error:") for line in lines)


def test_missing_input_is_3(capsys: pytest.CaptureFixture[str]) -> None:
    Path("report.txt").write_text("words", encoding="utf-8")
    assert run(["compare", "reprot.txt", "-q", "q.txt"]) == 3
    assert error_lines(capsys) == ["error: no such file: reprot.txt", "help: did you mean report.txt?"]


def test_an_unreachable_engine_is_4(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("d.txt", "q.txt"):
        Path(name).write_text("words", encoding="utf-8")
    # Port 9 discards, and nobody serves it
    assert run(["compare", "d.txt", "-q", "q.txt", "--engine", "ollama", "--host", "127.0.0.1:9"]) == 4
    first, second = error_lines(capsys)
    assert first.startswith("error: ")
    assert second.startswith("help: ")


def subclasses(kind: type[errors.PromptorderError]) -> list[type[errors.PromptorderError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in subclasses(child))]


@pytest.mark.parametrize("kind", subclasses(errors.PromptorderError), ids=lambda kind: kind.__name__)
def test_each_error_has_the_exit_code_of_its_docstring(
    kind: type[errors.PromptorderError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, kind("it went wrong", hint="do this"))
    code = run(["compare", "x"])
    assert error_lines(capsys) == ["error: it went wrong", "help: do this"]
    [line] = [each for each in (errors.__doc__ or "").splitlines() if f" {kind.__name__} " in f" {each} "]
    assert str(code) in line.split()
    assert code not in (0, 1)


def test_an_error_without_a_hint_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, errors.InputError("it went wrong"))
    assert run(["compare", "x"]) == 3
    assert error_lines(capsys) == ["error: it went wrong"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interruption_is_130(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, error)
    assert run(["compare", "x"]) == 130
    assert error_lines(capsys)[-1] == "error: interrupted"


def test_an_internal_error_is_70_and_quotes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, ValueError(SECRET))
    assert run(["compare", "x"]) == 70
    first, second = error_lines(capsys)
    assert first.startswith("error: internal error: ValueError at test_cli_basics.py:")
    assert SECRET not in first + second
    assert "PROMPTORDER_DEBUG=1" in second


def test_debugging_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROMPTORDER_DEBUG", "1")
    raising(monkeypatch, ValueError(SECRET))
    assert run(["compare", "x"]) == 70
    lines = error_lines(capsys)
    assert lines[0] == "Traceback (most recent call last):"
    assert f"ValueError: {SECRET}" in lines
    assert lines[-2].startswith("error: internal error: ValueError")


def test_too_little_memory_is_70(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raising(monkeypatch, MemoryError())
    assert run(["compare", "x"]) == 70
    assert error_lines(capsys)[0] == "error: out of memory"


@pytest.mark.parametrize("code", [0, 1, 5])
def test_a_commands_own_code_is_passed_on(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module = COMMANDS.load("completion")
    monkeypatch.setattr(module.command, "callback", click.pass_context(lambda ctx, **_: code))
    assert run(["completion", "zsh"]) == code


def closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize(
    "arguments", [["--help"], ["compare", "--help"], ["completion", "zsh"], ["--version"]]
)
def test_a_reader_that_has_left_is_no_error(arguments: Sequence[str]) -> None:
    writer = closed_pipe()
    try:
        done = process(*arguments, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("head"), reason="there is no head")
def test_head_takes_what_it_wants() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "promptorder", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        assert (
            subprocess.run(["head", "-c", "1"], stdin=writer.stdout, capture_output=True, check=True).stdout
            == b"U"
        )
        writer.stdout.close()
        assert writer.stderr.read() == b""
    assert writer.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_that_cannot_be_written_is_74() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = process("--help", stdout=full)
    assert done.returncode == 74
    assert done.stderr.startswith("error: cannot write: ")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


class Terminal:
    """A stream of which a terminal is said to read."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "no_color", "term", "wanted"),
    [
        ("auto", None, "xterm", True),
        ("auto", "1", "xterm", False),
        ("auto", "", "xterm", True),  # an empty NO_COLOR asks for nothing
        ("auto", None, "dumb", False),
        ("always", "1", "dumb", True),
        ("never", None, "xterm", False),
    ],
)
def test_color_on_a_terminal(
    choice: Any, no_color: str | None, term: str, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    stream: Any = Terminal()
    assert wants_color(choice, stream) is wanted


@pytest.mark.parametrize(
    ("options", "colored"),
    [([], False), (["--color", "always"], True), (["--color=always"], True), (["--color", "never"], False)],
)
def test_color_of_errors(options: list[str], colored: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*options, "compare"]) == 2
    assert ("\x1b[" in capsys.readouterr().err) is colored


def test_color_never_holds_on_a_terminal_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run(["compare"]) == 2
    assert "\x1b[" in capsys.readouterr().err
    for options in (["--color", "never"], ["--color=never"]):
        assert run([*options, "compare"]) == 2
        assert "\x1b[" not in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_PROMPTORDER_COMPLETE" in script
    program = shutil.which(shell)
    if program is not None:
        checked = subprocess.run(
            [program, "-n"], input=script, capture_output=True, encoding="utf-8", check=False
        )
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("promptorder com", ["plain,compare", "plain,completion"]),
        ("promptorder compare --clock", ["plain,--clock-gap"]),
        ("promptorder completion z", ["plain,zsh"]),
    ],
)
def test_completion(words: str, completions: list[str]) -> None:
    environment = {
        **os.environ,
        "_PROMPTORDER_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = process(env=environment)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, completions, "")


def test_a_terminal_of_few_characters_gets_what_it_can_show() -> None:
    done = process("compare", "Zürich.txt", "-q", "q", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 3
    assert done.stderr.startswith("error: no such file: Z?rich.txt\nhelp: ")
