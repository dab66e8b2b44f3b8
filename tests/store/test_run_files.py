"""Run files: samples that are safe on disk, and runs that go on after they broke off."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hand_made import sample
from hypothesis import given
from hypothesis import strategies as st

from promptorder.contracts.run import PARTIAL_SCHEMA, sample_from_json, sample_to_json
from promptorder.errors import InputError, OutputError, UsageError
from promptorder.model.sample import Phase, Sample
from promptorder.store import write_atomically
from promptorder.store.run_file import RunFile

HEADER = {"started_at": "2026-11-30T14:03:27Z", "plan": "f00d", "engine": "ollama 0.33.3", "seed": 7}
ANSWERS = ("42.", "Zürich, 東京 🗼", "half a pair: \ud83d", "two\nlines\u2028\r", "\x00\x1b[31m", '"}{')
QUESTIONS = 2


def block(layout: str = "static-first", repeat: int = 1, *, answer: str = "42.") -> list[Sample]:
    where: dict[str, Any] = {"layout": layout, "repeat": repeat, "answer": answer}
    return [
        sample(Phase.LOAD, 0, load_ns=5, **where),
        sample(Phase.FIRST, 1, cached_tokens=0, prompt_tokens=9, **where),
        sample(Phase.FOLLOW_UP, 2, cached_tokens=8, prompt_tokens=9, **where),
    ]


EVERY = [each for number, answer in enumerate(ANSWERS, 1) for each in block(repeat=number, answer=answer)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path, samples: list[Sample], *, header: Mapping[str, Any] = HEADER) -> Path:
    """A run that breaks off after ``samples``."""
    run = RunFile(path, resume=False)
    assert run.begin(header, QUESTIONS) == []
    for each in samples:
        run.append(each)
    run.close()
    return run.partial


def resumed(path: Path) -> RunFile:
    run = RunFile(path, resume=True)
    run.begin(HEADER, QUESTIONS)
    return run


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run.json"


@pytest.mark.parametrize("each", [*EVERY, sample(Phase.FIRST, 1, failure="x")])
def test_a_sample_comes_back_as_it_was(each: Sample) -> None:
    assert sample_from_json(json.loads(json.dumps(sample_to_json(each)))) == each


def test_a_sample_of_a_later_version_is_read_without_its_news() -> None:
    data = sample_to_json(EVERY[1])
    data["reply"]["new"] = data["new"] = 1
    assert sample_from_json(data) == EVERY[1]


def test_a_finished_run(out: Path) -> None:
    run = RunFile(out, resume=False)
    run.begin(HEADER, QUESTIONS)
    for each in EVERY:
        run.append(each)
    assert run.saved == len(EVERY)
    assert not out.exists(), "half a run is no run"
    run.finish({"schema": "x", "answer": "Zürich \ud83d"})
    assert json.loads(out.read_text(encoding="utf-8")) == {"schema": "x", "answer": "Zürich ?"}
    assert not run.partial.exists()
    run.close()
    run.discard_if_empty()
    assert names(out.parent) == ["run.json"]


def test_each_sample_is_on_disk_at_once(out: Path) -> None:
    run = RunFile(out, resume=False)
    run.begin(HEADER, QUESTIONS)
    for number, each in enumerate(EVERY, start=1):
        run.append(each)
        lines = run.partial.read_text(encoding="utf-8").splitlines()
        assert len(lines) == number + 1
        assert sample_from_json(json.loads(lines[-1])["sample"]) == each
    assert json.loads(lines[0]) == {"schema": PARTIAL_SCHEMA, **HEADER}
    run.close()


def test_resume_keeps_whole_blocks(out: Path) -> None:
    write(out, EVERY)
    run = RunFile(out, resume=True)
    assert run.begin(HEADER, QUESTIONS) == EVERY
    assert run.abandoned == []
    assert run.started_at == HEADER["started_at"]
    assert run.saved == 0
    run.close()


def test_resume_at_another_time_is_the_same_run(out: Path) -> None:
    write(out, EVERY)
    run = RunFile(out, resume=True)
    assert run.begin({**HEADER, "started_at": "2026-12-01T00:00:00Z"}, QUESTIONS) == EVERY
    assert run.started_at == HEADER["started_at"]
    run.close()


def test_a_block_that_broke_off_is_measured_again_and_kept_apart(out: Path) -> None:
    whole, broken, again = block("a"), block("b")[:2], block("b", answer="43.")
    write(out, whole + broken)
    run = resumed(out)
    assert (run.kept, run.abandoned) == (whole, broken)
    for each in again:
        run.append(each)
    run.close()
    run = resumed(out)
    assert (run.kept, run.abandoned) == (whole + again, broken)
    run.close()


def test_a_block_that_broke_off_twice(out: Path) -> None:
    write(out, block("b")[:2])
    run = resumed(out)
    run.append(block("b")[0])
    run.close()
    run = resumed(out)
    assert (run.kept, run.abandoned) == ([], [*block("b")[:2], block("b")[0]])
    run.close()


WARM = sample(Phase.WARM_REPEAT, 2, prefill_ns=1)
PLAIN = [sample(Phase.FIRST, 1, prefill_ns=1), sample(Phase.FOLLOW_UP, 2, prefill_ns=1)]


@pytest.mark.parametrize(
    ("samples", "whole"),
    [
        (block(), True),
        (block()[1:], True),
        (block()[:2], False),
        (PLAIN, False),  # an engine that does not count needs its warm repeat
        ([*PLAIN, WARM], True),
        ([PLAIN[0], WARM], True),
        ([PLAIN[1], WARM], False),
        ([sample(Phase.FIRST, 1, read_tokens=9), sample(Phase.FOLLOW_UP, 2, read_tokens=1)], True),
        ([block()[1], sample(Phase.FOLLOW_UP, 2, failure="x")], False),  # a broken reply is asked again
        ([*block(), sample(Phase.FOLLOW_UP, 3, cached_tokens=1)], False),
    ],
)
def test_what_a_whole_block_is(out: Path, samples: list[Sample], whole: bool) -> None:
    write(out, samples)
    run = resumed(out)
    assert run.kept == (samples if whole else [])
    assert run.abandoned == ([] if whole else samples)
    run.close()


@pytest.fixture(scope="module")
def partial() -> Iterator[bytes]:
    with TemporaryDirectory() as folder:
        yield write(Path(folder) / "run.json", EVERY).read_bytes()


@given(data=st.data())
def test_any_truncation_loses_no_whole_line(partial: bytes, data: st.DataObject) -> None:
    """However a process is killed, what was written before is read, and the run goes on."""
    first_line = partial.index(b"\n") + 1
    end = data.draw(st.integers(first_line, len(partial)))
    left = partial[:end]
    # The last line may lack its line feed alone
    lines = left.count(b"\n") - 1 + (not left.endswith(b"\n") and partial[end : end + 1] == b"\n")
    extra = sample(Phase.FIRST, 1, layout="extra", cached_tokens=0)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        (Path(folder) / "run.json.partial").write_bytes(left)
        run = resumed(out)
        assert [*run.kept, *run.abandoned] == EVERY[:lines]
        assert len(run.kept) == lines - lines % 3
        run.append(extra)
        run.close()
        run = resumed(out)
        assert extra in run.abandoned
        assert len([*run.kept, *run.abandoned]) == lines + 1
        run.close()


@given(data=st.data())
def test_a_header_that_was_cut_starts_anew(partial: bytes, data: st.DataObject) -> None:
    # Up to the closing brace; with it the header is whole
    end = data.draw(st.integers(0, partial.index(b"\n") - 1))
    with TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        (Path(folder) / "run.json.partial").write_bytes(partial[:end])
        write(out, EVERY[:3])
        run = resumed(out)
        assert run.kept == EVERY[:3]
        run.close()


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1}\n',
        b'{"schema": "promptorder.run/1"}',
        b"my notes, unfinished",
        b"[1, 2]\n3\n",
        b"\xff\xfe\x00 not text",
        b'{"sample": {}}\n',
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("resume", [False, True])
def test_a_foreign_file_is_left_as_it_is(out: Path, content: bytes, resume: bool) -> None:
    partial = out.with_name("run.json.partial")
    partial.write_bytes(content)
    with pytest.raises(UsageError, match="not an unfinished run") as caught:
        RunFile(out, resume=resume)
    assert caught.value.hint
    assert partial.read_bytes() == content
    # and it is not locked any more
    partial.unlink()
    RunFile(out, resume=False).close()


def test_an_empty_file_is_nobodys(out: Path) -> None:
    out.with_name("run.json.partial").touch()
    write(out, EVERY[:1])


def test_nothing_to_resume(out: Path) -> None:
    with pytest.raises(InputError, match="nothing to resume") as caught:
        RunFile(out, resume=True)
    assert caught.value.exit_code == 3
    assert names(out.parent) == []


def test_an_unfinished_run_is_not_overwritten(out: Path) -> None:
    partial = write(out, EVERY)
    before = partial.read_bytes()
    with pytest.raises(UsageError, match="holds an unfinished run") as caught:
        RunFile(out, resume=False)
    assert "--resume" in caught.value.hint
    assert partial.read_bytes() == before


def test_an_unfinished_run_without_a_sample_starts_anew(out: Path) -> None:
    write(out, [])
    write(out, EVERY, header={**HEADER, "seed": 8})
    run = RunFile(out, resume=True)
    assert run.begin({**HEADER, "seed": 8}, QUESTIONS) == EVERY
    run.close()


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"seed": 8}, "seed"),
        ({"plan": "beef", "engine": "ollama 0.34"}, "engine, plan"),
        ({"num_predict": 80}, "num_predict"),
    ],
)
def test_other_settings_are_refused_by_name(out: Path, changed: dict[str, Any], names: str) -> None:
    partial = write(out, EVERY)
    before = partial.read_bytes()
    run = RunFile(out, resume=True)
    with pytest.raises(UsageError, match=f"measured with another {names}$"):
        run.begin({**HEADER, **changed}, QUESTIONS)
    run.close()
    run.discard_if_empty()
    assert partial.read_bytes() == before


def test_settings_are_compared_as_json_has_them(out: Path) -> None:
    header = {**HEADER, "pages": ((1, 2),)}
    write(out, EVERY, header=header)
    run = RunFile(out, resume=True)
    assert run.begin(header, QUESTIONS) == EVERY
    run.close()


def test_a_run_without_samples_leaves_nothing(out: Path) -> None:
    run = RunFile(out, resume=False)
    run.begin(HEADER, QUESTIONS)
    run.close()
    run.discard_if_empty()
    assert names(out.parent) == []


def test_a_run_with_samples_stays(out: Path) -> None:
    run = RunFile(out, resume=False)
    run.begin(HEADER, QUESTIONS)
    run.append(EVERY[0])
    run.close()
    run.discard_if_empty()
    assert run.partial.exists()


def test_a_resumed_run_stays_though_it_adds_nothing(out: Path) -> None:
    write(out, EVERY)
    run = resumed(out)
    run.close()
    run.discard_if_empty()
    assert run.partial.exists()


HOLD = """
import sys
from pathlib import Path
from promptorder.store.run_file import RunFile
run = RunFile(Path(sys.argv[1]), resume=False)
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused(out: Path) -> None:
    pytest.importorskip("fcntl")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        for resume in (False, True):
            with pytest.raises(UsageError, match="another promptorder writes"):
                RunFile(out, resume=resume)
        other.communicate("")
    write(out, EVERY)


def test_a_folder_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write") as caught:
        RunFile(tmp_path / "a" / "b" / "run.json", resume=False)
    assert "no folder" in caught.value.hint
    assert not (tmp_path / "a").exists()


def test_our_own_folder_is_made(state: Path) -> None:
    state.rmdir() if state.is_dir() else None
    RunFile(None, resume=False).close()
    assert state.is_dir()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file" / "run.json", tmp_path / "file" / "a" / "run.json"):
        with pytest.raises(OutputError, match="cannot write") as caught:
            RunFile(out, resume=False)
        assert caught.value.exit_code == 74
        assert "--out" in caught.value.hint


@pytest.mark.parametrize("name", [".", "..", "folder", "folder/", ""])
def test_out_that_names_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="is a folder"):
        RunFile(Path(name), resume=False)
    assert names(tmp_path) == ["folder"]


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_earlier_samples(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFile(out, resume=False)
    run.begin(HEADER, QUESTIONS)
    for each in EVERY[:3]:
        run.append(each)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(OutputError, match="No space left on device") as caught:
            run.append(EVERY[3])
    assert "free some space" in caught.value.hint
    assert run.saved == 3
    run.close()
    run = resumed(out)
    assert run.kept == EVERY[:3]
    run.close()


FILL = """
import os, resource, signal, sys
from pathlib import Path
from hand_made import sample
from promptorder.errors import OutputError
from promptorder.model.sample import Phase
from promptorder.store.run_file import RunFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
run = RunFile(Path(sys.argv[1]), resume=False)
run.begin({"plan": "f00d"}, 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
try:
    for number in range(1000):
        run.append(sample(Phase.FIRST, 1, repeat=number))
except OutputError as error:
    run.close()
    run.close()
    print(run.saved)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are not for Windows")
def test_a_disk_that_fills_up_within_a_line(out: Path) -> None:
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", FILL, out],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(tests)},
    )
    saved = int(done.stdout)
    assert saved > 3
    assert done.stderr == ""
    run = RunFile(out, resume=True)
    run.begin({"plan": "f00d"}, QUESTIONS)
    assert [each.repeat for each in run.abandoned] == list(range(saved))
    run.close()


def test_writing_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    write_atomically(path, "before")
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OutputError, match="No space left"):
        write_atomically(path, "after")
    assert path.read_text(encoding="utf-8") == "before"
    assert names(tmp_path) == ["run.json"]


def test_a_finished_file_is_for_whoever_may_read_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    umask = os.umask(0o022)
    try:
        write_atomically(path, "x")
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_run_that_cannot_be_written_at_the_end_keeps_its_samples(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFile(out, resume=False)
    run.begin(HEADER, QUESTIONS)
    for each in EVERY:
        run.append(each)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(OutputError):
            run.finish({})
    run.close()
    run.discard_if_empty()
    run = resumed(out)
    assert run.kept == EVERY
    run.close()


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "promptorder"


def test_a_run_without_a_name_is_kept_in_the_state_folder(state: Path) -> None:
    run = RunFile(None, resume=False)
    run.begin(HEADER, QUESTIONS)
    for each in EVERY:
        run.append(each)
    run.close()
    assert run.partial.parent == state
    again = RunFile(None, resume=True)
    assert again.partial == run.partial
    assert again.begin(HEADER, QUESTIONS) == EVERY
    again.finish({})
    assert names(state) == ["last-run.json"]


def test_the_newest_run_without_a_name_is_resumed(state: Path) -> None:
    state.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(("b", "c", "a")):
        partial = write(state / f"{name}.json", EVERY)
        os.utime(partial, (number, number))
    run = RunFile(None, resume=True)
    assert run.partial.name == "a.json.partial"
    run.close()


def test_no_run_without_a_name_to_resume(state: Path) -> None:
    with pytest.raises(InputError, match="no unfinished run"):
        RunFile(None, resume=True)


def test_a_finished_run_without_a_name_is_kept_as_the_last_one(state: Path) -> None:
    run = RunFile(None, resume=False)
    run.begin({"plan": "x"}, 2)
    run.finish({"schema": "promptorder.run/1"})
    assert json.loads((state / "last-run.json").read_text()) == {"schema": "promptorder.run/1"}
    assert not list(state.glob("*.partial"))
