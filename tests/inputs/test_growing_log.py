"""The part of a growing log since a mark, through rotation, cutting, and other things that happen to logs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.errors import InputError
from promptorder.inputs import _server_log
from promptorder.inputs._server_log import mark, since


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text("before\n")
    return path


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_only_what_came_after_the_mark(log: Path) -> None:
    place = mark(log)
    append(log, "one\ntwo\n")
    part = since(place)
    assert list(part.lines) == ["one", "two"]
    assert part.complete


def test_it_may_be_read_again_as_it_grows(log: Path) -> None:
    place = mark(log)
    assert list(since(place).lines) == []
    append(log, "one\n")
    append(log, "tw")
    assert list(since(place).lines) == ["one", "tw"]
    append(log, "o\n")
    assert list(since(place).lines) == ["one", "two"]


def test_an_empty_log(tmp_path: Path) -> None:
    path = tmp_path / "new.log"
    path.touch()
    place = mark(path)
    append(path, "one\n")
    assert list(since(place).lines) == ["one"]


@pytest.mark.parametrize("name", ["server.log.1", "server-1.log", "z"])
def test_renamed_and_begun_anew(log: Path, name: str) -> None:
    place = mark(log)
    append(log, "one\n")
    log.rename(log.with_name(name))
    log.write_text("two\n")
    part = since(place)
    assert list(part.lines) == ["one", "two"]
    assert part.complete


def test_renamed_and_not_begun_anew(log: Path) -> None:
    place = mark(log)
    append(log, "one\n")
    log.rename(log.with_name("old"))
    part = since(place)
    assert (list(part.lines), part.complete) == (["one"], False)


def test_copied_and_cut(log: Path) -> None:
    place = mark(log)
    append(log, "one\n")
    shutil.copy(log, log.with_name("server.log.1"))
    os.truncate(log, 0)
    append(log, "two\n")
    part = since(place)
    assert (list(part.lines), part.complete) == (["two"], False)


def test_cut_and_grown_beyond_where_it_was(log: Path) -> None:
    place = mark(log)
    os.truncate(log, 0)
    append(log, "something longer than what stood there before\n")
    part = since(place)
    assert (list(part.lines), part.complete) == (["something longer than what stood there before"], False)


def test_gone(log: Path) -> None:
    place = mark(log)
    log.unlink()
    part = since(place)
    assert (list(part.lines), part.complete) == ([], False)


def test_replaced_by_a_file_of_another_name(log: Path) -> None:
    """The old one is deleted: its lines are lost, those of the new one are not."""
    place = mark(log)
    other = log.with_name("other")
    other.write_text("two\n")
    other.replace(log)
    part = since(place)
    assert (list(part.lines), part.complete) == (["two"], False)


def test_what_powershell_writes(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes("before\r\n".encode("utf-16"))
    place = mark(path)
    with path.open("ab") as file:
        file.write("one\r\nü\r\n".encode("utf-16-le"))
    assert [line.rstrip("\r") for line in since(place).lines] == ["one", "ü"]


@given(st.binary(max_size=300))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("logs") / "server.log"
    path.touch()
    place = mark(path)
    path.write_bytes(data)
    text = data.decode("utf-8", "replace")
    assert "\n".join(since(place).lines) == text.removesuffix("\n")


def test_a_very_long_line_is_cut_and_the_next_is_whole(log: Path) -> None:
    place = mark(log)
    append(log, "x" * 1_000_000 + "\nnext\n")
    first, second = since(place).lines
    assert second == "next"
    assert first.startswith("xxx")
    assert len(first) < 3 * _server_log._LONGEST_LINE


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "server.log").touch()
    with pytest.raises(InputError, match="no such server log") as missing:
        mark(tmp_path / "sever.log")
    assert "server.log" in missing.value.hint
    with pytest.raises(InputError, match="is a folder"):
        mark(tmp_path)
    with pytest.raises(InputError, match="no such server log"):
        mark(tmp_path / "a\0b")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a file that may not be read")
def test_a_log_of_somebody_else(log: Path) -> None:
    log.chmod(0)
    with pytest.raises(InputError, match="cannot be read"):
        mark(log)


def test_a_device_has_no_end(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a file"):
        mark(Path(os.devnull))
