"""Settings from a pyproject.toml: found, checked, and used below what the command line says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from promptorder.cli import run
from promptorder.errors import UsageError
from promptorder.settings import Key, Kind, Settings, check_keys, check_tables, load_settings

KNOWN = {
    "num-ctx": Key("num_ctx", "a whole number"),
    "clock-gap": Key("clock_gap_s", "a number"),
    "layout": Key("layouts", "a list of texts"),
    "quiet": Key("quiet", "true or false"),
    "model": Key("model", "a text"),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, below nothing that has settings."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def table(folder: Path, *lines: str) -> Path:
    return write(folder, "\n".join(("[tool.promptorder.compare]", *lines)))


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, tuple[str, str]]:
    """What --show-settings prints: for each option its value, and where that comes from."""
    assert run(["--show-settings", *arguments]) == 0
    rows = (re.split(r" {2,}", line, maxsplit=2) for line in capsys.readouterr().out.splitlines())
    return {name: (value, source) for name, value, source in rows}


def failed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert "\nhelp: " in captured.err
    return captured.err


def test_without_a_file_there_are_none(project: Path) -> None:
    assert load_settings(None, project) == Settings()


def test_the_nearest_file_with_our_table_counts(project: Path) -> None:
    outer = table(project, "seed = 1")
    inner = table(project / "a", "seed = 2")
    write(project / "a" / "b", "[tool.other]\nx = 1")
    (project / "a" / "b" / "c").mkdir()
    assert load_settings(None, project / "a" / "b" / "c") == Settings(inner, {"compare": {"seed": 2}})
    assert load_settings(None, project) == Settings(outer, {"compare": {"seed": 1}})


def test_the_named_file_counts_though_it_has_no_table(project: Path) -> None:
    table(project, "seed = 1")
    other = project / "other.toml"
    other.write_text("[tool.other]", encoding="utf-8")
    assert load_settings(str(other), project) == Settings(other)


def test_a_byte_order_mark_is_no_matter(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_text("\ufeff[tool.promptorder.compare]\nseed = 1", encoding="utf-8")
    assert load_settings(None, project).tables == {"compare": {"seed": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.promptorder", "is not valid TOML"),
        ("tool = 1", None),
        ("[tool]\npromptorder = 1", "one table a command"),
        ("[tool.promptorder]\nseed = 1", "one table a command"),
    ],
)
def test_a_file_of_a_wrong_shape(project: Path, text: str, message: str | None) -> None:
    path = write(project, text)
    if message is None:
        assert load_settings(None, project) == Settings()
        return
    with pytest.raises(UsageError, match=message) as caught:
        load_settings(None, project)
    assert str(path) in str(caught.value)
    assert caught.value.hint


def test_a_file_that_is_not_text(project: Path) -> None:
    (project / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not valid TOML"):
        load_settings(None, project)


@pytest.mark.parametrize("key", ["num-ctx", "num_ctx"])
def test_keys_may_be_kebab_or_snake(key: str) -> None:
    settings = Settings(Path("p.toml"), {"compare": {key: 4096}})
    assert check_keys(settings, "compare", KNOWN) == {"num_ctx": 4096}
    assert check_keys(settings, "lint", KNOWN) == {}


def test_an_unknown_key_gets_a_suggestion() -> None:
    with pytest.raises(UsageError) as caught:
        check_keys(Settings(Path("p.toml"), {"compare": {"num_ctxs": 1}}), "compare", KNOWN)
    assert str(caught.value) == "p.toml: unknown setting 'num_ctxs' in [tool.promptorder.compare]"
    assert caught.value.hint.startswith("did you mean num-ctx? there are: ")
    with pytest.raises(UsageError) as caught:
        check_keys(Settings(Path("p.toml"), {"compare": {"zzz": 1}}), "compare", KNOWN)
    assert "did you mean" not in caught.value.hint


VALUES: list[object] = ["x", 1, 1.5, True, ["x"], [1], {"a": 1}]
FITTING: dict[Kind, list[object]] = {
    "a text": ["x"],
    "a whole number": [1],
    "a number": [1, 1.5],
    "true or false": [True],
    "a list of texts": ["x", ["x"]],
}


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("key", KNOWN)
def test_kinds_of_values(key: str, value: object) -> None:
    settings = Settings(Path("p.toml"), {"compare": {key: value}})
    parameter, kind = KNOWN[key]
    # True == 1 for Python, not for TOML
    if any(type(each) is type(value) and each == value for each in FITTING[kind]):
        expected = ["x"] if kind == "a list of texts" else value
        assert check_keys(settings, "compare", KNOWN) == {parameter: expected}
    else:
        with pytest.raises(
            UsageError, match=rf"^p\.toml: {key} in \[tool\.promptorder\.compare\] must be {kind}$"
        ):
            check_keys(settings, "compare", KNOWN)


def test_settings_reach_the_command(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(
        project,
        "num-predict = 5",
        "num_ctx = 4096",
        "clock-gap = 2",
        'layout = ["static-first", "clock-last"]',
        "quiet = true",
        'questions = "q.txt"',
    )
    settings = shown(capsys, "compare", "x.txt")
    assert settings["num-predict"] == ("5", str(path))
    assert settings["num-ctx"] == ("4096", str(path))
    assert settings["clock-gap"] == ("2.0", str(path))
    assert settings["layout"] == ("static-first, clock-last", str(path))
    assert settings["quiet"] == ("true", str(path))
    assert settings["questions"] == ("q.txt", str(path))
    assert settings["seed"] == ("7", "default")


def test_the_command_line_comes_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(project, "seed = 1", 'layout = "static-first"')
    settings = shown(capsys, "compare", "x.txt", "--seed", "2", "--layout", "clock-last")
    assert settings["seed"] == ("2", "command line")
    assert settings["layout"] == ("clock-last", "command line")


def test_config_names_another_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(project, "seed = 1")
    other = table(project / "other", "seed = 3")
    settings = shown(capsys, "--config", str(other), "compare", "x.txt")
    assert settings["seed"] == ("3", str(other))


def test_secrets_are_not_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(project, 'header = "X-Key: sesame"', 'password = "sesame"')
    arguments = ["compare", "x", "--password", "tomato", "--header", "Authorization: Bearer tomato"]
    for given in (["compare", "x"], arguments):
        assert run(["--show-settings", *given]) == 0
        captured = capsys.readouterr()
        assert not re.search("sesame|tomato|Bearer", captured.out + captured.err)
        assert re.search(r"^password +\(set\) ", captured.out, re.MULTILINE)
        assert re.search(r"^header +\(set\) ", captured.out, re.MULTILINE)
    assert shown(capsys, "--config", str(write(project / "a", "")), "compare", "x")["password"] == (
        "-",
        "default",
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("num-ctxs = 1", ["unknown setting 'num-ctxs'", "did you mean num-ctx?"]),
        ('repeats = "many"', ["repeats in [tool.promptorder.compare] must be a whole number"]),
        ("seed = 1.5", ["seed", "must be a whole number"]),
        ("quiet = 1", ["quiet", "must be true or false"]),
        ("out = 3", ["out", "must be a text"]),
        ("layout = [1]", ["layout", "must be a list of texts"]),
        ("help = true", ["unknown setting 'help'"]),
    ],
)
def test_wrong_settings_name_their_file(
    project: Path, capsys: pytest.CaptureFixture[str], line: str, words: list[str]
) -> None:
    path = table(project, line)
    text = failed(capsys, "compare", "x.txt")
    assert f"error: {path}: " in text
    assert all(word in text for word in words)


@pytest.mark.parametrize(("line", "option"), [("repeats = 0", "--repeats"), ('format = "xml"', "--format")])
def test_values_out_of_range(
    project: Path, capsys: pytest.CaptureFixture[str], line: str, option: str
) -> None:
    table(project, line)
    assert f"'{option}'" in failed(capsys, "compare", "x.txt")


def test_config_that_is_not_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = failed(capsys, "--config", "missing.toml", "compare", "x.txt")
    assert "no such settings file: missing.toml" in text


def test_settings_of_another_command_are_not_ours(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(project, "nonsense = 1")
    assert run(["completion", "zsh"]) == 0
    assert capsys.readouterr().err == ""


def test_a_table_for_no_command_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.promptorder.compar]\nseed = 1\n")
    settings = load_settings(None, tmp_path)
    with pytest.raises(UsageError, match=r"compar\]") as caught:
        check_tables(settings, ["compare", "lint"])
    assert "did you mean compare?" in caught.value.hint
