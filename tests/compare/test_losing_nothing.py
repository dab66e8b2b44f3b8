"""Whatever ends a comparison, each sample that was reported is on the disk, and the run can go on from there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tiny_gguf as tiny
from fake_server import FakeOllama, Fault, Json
from servers import OllamaServer

from promptorder.cli import run
from promptorder.contracts import schema

FIXTURES = Path(__file__).parents[2] / "fixtures"
LAYOUTS = ("static-first", "question-first")
REPEATS = 2
QUESTIONS = 4
CALLS = len(LAYOUTS) * REPEATS * QUESTIONS

Block = tuple[str, int]


@pytest.fixture(scope="module")
def server(ollama_server: Callable[[str], OllamaServer], tiny_gguf: Path) -> Iterator[OllamaServer]:
    """Give a server of this module's own: its tests kill it."""
    ollama_server("0.33.3")  # skips where there is none
    with OllamaServer("0.33.3") as own:
        own.create_model("tiny", tiny_gguf, tiny.TEMPLATE, tiny.PARAMETERS)
        yield own


@dataclass(frozen=True)
class Ended:
    """How a run of the tool ended, and the samples that it had reported by then."""

    code: int
    err: str

    @property
    def reported(self) -> list[tuple[str, int, int]]:
        lines = re.finditer(
            r"^\[ *\d+/\d+\] (?P<layout>[\w-]+) +question (?P<question>\d+)(?:, repeat (?P<repeat>\d+))? ",
            self.err,
            re.MULTILINE,
        )
        return [(line["layout"], int(line["repeat"] or 1), int(line["question"])) for line in lines]


def command(url: str, folder: Path, *arguments: str) -> list[str]:
    layouts = (word for name in LAYOUTS for word in ("--layout", name))
    return [
        *(sys.executable, "-m", "promptorder", "compare", str(FIXTURES / "report.pdf")),
        *("--questions", str(FIXTURES / "questions.txt"), "--host", url, "--model", "tiny", *layouts),
        *("--repeats", str(REPEATS), "--num-predict", "24", "--out", str(folder / "run.json"), *arguments),
    ]


def environment(folder: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OLLAMA_")}
    return {**kept, "XDG_STATE_HOME": str(folder / "state")}


def finish(url: str, folder: Path, *arguments: str, limit: Callable[[], None] | None = None) -> Ended:
    """Let a run come to its end."""
    done = subprocess.run(
        command(url, folder, *arguments),
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=limit,
    )
    assert "Traceback" not in done.stderr
    return Ended(done.returncode, done.stderr)


def started(url: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a run whose messages can be read as they come."""
    return subprocess.Popen(
        command(url, folder, *arguments),
        env=environment(folder),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def break_off(
    url: str, folder: Path, lines: int, pause_s: float, end: Callable[[subprocess.Popen[str]], None]
) -> Ended:
    """Start a run, and end it so long after it has reported so many samples."""
    with started(url, folder) as process:
        assert process.stderr is not None
        err = ""
        while len(Ended(0, err).reported) < lines:
            line = process.stderr.readline()
            assert line, f"the run ended by itself:\n{err}"
            err += line
        time.sleep(pause_s)
        end(process)
        err += process.stderr.read()
        return Ended(process.wait(60), err)


# ---------------------------------------------------------------- what is on the disk


def partial(folder: Path) -> Path:
    return folder / "run.json.partial"


def samples_in(path: Path) -> list[Any]:
    """Read the whole lines of an unfinished run; a killed process may have left half of a last one."""
    *whole, last = path.read_bytes().split(b"\n")
    header, *lines = (json.loads(line) for line in whole)
    assert header["schema"] == "promptorder.run-partial/1"
    assert last == b"" or not last.endswith(b"}}")
    samples = [line["sample"] for line in lines if "sample" in line]
    one_sample = {
        **schema("run-1")["properties"]["samples"]["items"],
        "$defs": schema("run-1").get("$defs", {}),
    }
    for sample in samples:
        jsonschema.validate(sample, one_sample)
    return samples


def place(sample: Any) -> tuple[str, int, int]:
    return sample["layout"], sample["repeat"], sample["question"]


def whole_blocks(samples: list[Any]) -> set[Block]:
    """Name the blocks in which each question has its answer."""
    answered = {place(sample) for sample in samples if sample["question"] and sample["reply"]}
    blocks = {(layout, repeat) for layout, repeat, _ in answered}
    return {block for block in blocks if all((*block, q) in answered for q in range(1, QUESTIONS + 1))}


def check_saved(ended: Ended, folder: Path) -> list[Any]:
    """Hold the disk to the report; return what is on it."""
    samples = samples_in(partial(folder))
    assert ended.reported
    assert set(ended.reported) <= {place(sample) for sample in samples}
    assert not (folder / "run.json").exists()
    return samples


def check_resumed(saved: list[Any], resumed: Ended, chats: int, folder: Path) -> None:
    """Hold a resumed run to the saved samples: they are in it as they were, and nothing whole was asked again."""
    assert resumed.code == 0, resumed.err
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    jsonschema.validate(run, schema("run-1"))
    assert not partial(folder).exists()
    whole = whole_blocks(saved)
    assert chats == CALLS - QUESTIONS * len(whole)
    assert {(layout, repeat) for layout, repeat, _ in resumed.reported}.isdisjoint(whole)
    for sample in saved:
        kept = "samples" if (sample["layout"], sample["repeat"]) in whole else "abandoned_samples"
        assert sample in run[kept]
    answered = [place(sample) for sample in run["samples"] if sample["question"] and sample["reply"]]
    assert len(answered) == len(set(answered)) == CALLS
    layouts = run["comparison"]["layouts"]
    assert {layout["name"]: layout["verdict"] for layout in layouts} == {
        "static-first": "reused",
        "question-first": "not-reused",
    }
    assert [len(layout["samples"]) for layout in layouts] == [REPEATS * QUESTIONS] * len(LAYOUTS)


# ---------------------------------------------------------------- the tool is ended


ENDS = [
    (signal.SIGKILL, 11),
    (signal.SIGKILL, 12),
    (signal.SIGINT, 21),
    (signal.SIGINT, 22),
    (signal.SIGTERM, 31),
]
CODES = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130, signal.SIGTERM: 130}


@pytest.mark.server
@pytest.mark.parametrize(("number", "seed"), ENDS, ids=[f"{number.name}-{seed}" for number, seed in ENDS])
def test_a_run_that_is_ended_goes_on(
    number: signal.Signals, seed: int, server: OllamaServer, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    lines, pause_s = chance.randrange(1, CALLS - QUESTIONS), chance.uniform(0, 0.1)
    ended = break_off(server.url, tmp_path, lines, pause_s, lambda process: process.send_signal(number))
    assert ended.code == CODES[number], ended.err
    if number is not signal.SIGKILL:
        assert ended.err.splitlines()[-1] == "error: interrupted"
        assert re.search(r"note: \d+ finished samples are safe in .*--resume", ended.err)
    saved = check_saved(ended, tmp_path)
    offset = server.log_offset()
    resumed = finish(server.url, tmp_path, "--resume")
    expected = CALLS - QUESTIONS * len(whole_blocks(saved))
    check_resumed(saved, resumed, len(server.counted_since(offset, expected)), tmp_path)


@pytest.mark.server
def test_a_run_that_is_ended_twice_goes_on(server: OllamaServer, tmp_path: Path) -> None:
    """The second one breaks off in a block that the first one had begun."""
    kill = subprocess.Popen.kill
    first = break_off(server.url, tmp_path, QUESTIONS + 2, 0, kill)
    assert first.code == -signal.SIGKILL
    before = check_saved(first, tmp_path)
    with started(server.url, tmp_path, "--resume") as process:
        assert process.stderr is not None
        err = ""
        while not Ended(0, err).reported:
            err += process.stderr.readline()
        process.kill()
        second = Ended(process.wait(60), err + process.stderr.read())
    saved = check_saved(second, tmp_path)
    assert saved[: len(before)] == before
    offset = server.log_offset()
    resumed = finish(server.url, tmp_path, "--resume")
    expected = CALLS - QUESTIONS * len(whole_blocks(saved))
    check_resumed(saved, resumed, len(server.counted_since(offset, expected)), tmp_path)


# ---------------------------------------------------------------- the server is ended


@pytest.mark.server
@pytest.mark.parametrize("seed", [41, 42])
def test_a_run_goes_on_when_its_server_is_back(seed: int, server: OllamaServer, tmp_path: Path) -> None:
    chance = random.Random(seed)
    lines, pause_s = chance.randrange(1, CALLS - QUESTIONS), chance.uniform(0, 0.1)
    try:
        ended = break_off(server.url, tmp_path, lines, pause_s, lambda process: server.kill())
    finally:
        server.kill()
        server.start()
    assert ended.code == 4, ended.err
    assert re.search(r"^error: ", ended.err, re.MULTILINE)
    assert re.search(r"^help: ", ended.err, re.MULTILINE)
    saved = check_saved(ended, tmp_path)
    offset = server.log_offset()
    resumed = finish(server.url, tmp_path, "--resume")
    expected = CALLS - QUESTIONS * len(whole_blocks(saved))
    check_resumed(saved, resumed, len(server.counted_since(offset, expected)), tmp_path)


# ---------------------------------------------------------------- what is refused

OTHER = {
    "the answer's length": ("--num-predict", "9"),
    "the seed": ("--seed", "8"),
    "the context": ("--num-ctx", "8192"),
    "the layouts": ("--layout", "clock-last"),
    "the repeats": ("--repeats", "3"),
    "the pages": ("--pages", "1-4"),
    "the rules": ("--rules", "Answer in French."),
    "the way to a cold start": ("--cold", "nonce"),
}


BROKEN_CALL, LAST_CALL = QUESTIONS, QUESTIONS + 3


@pytest.fixture
def unfinished(tmp_path: Path) -> Iterator[FakeOllama]:
    """Leave a run in `tmp_path` that was killed in its second block, made on a fake server that is still there."""
    with FakeOllama(faults={LAST_CALL: Fault.HANG}, counts=is_measured) as fake:
        yield left_hanging(fake, tmp_path)


def left_hanging(fake: FakeOllama, folder: Path) -> FakeOllama:
    def kill(process: subprocess.Popen[str]) -> None:
        while fake.chats < LAST_CALL:
            time.sleep(0.01)
        process.kill()

    ended = break_off(fake.url, folder, LAST_CALL - 1, 0, kill)
    assert ended.code == -signal.SIGKILL
    assert len(ended.reported) == LAST_CALL - 1
    fake.requests.clear()
    return fake


def is_measured(body: Json) -> bool:
    """Tell calls that run the model from those that count tokens or render: only they stream."""
    return body.get("stream") is not False


def measured(fake: FakeOllama) -> int:
    return sum(is_measured(request.body) for request in fake.requests if request.path == "/api/chat")


def here(url: str, folder: Path, *arguments: str) -> Ended:
    """Let a run come to its end in this process."""
    err = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(err))
        code = run(command(url, folder, *arguments)[3:])
    return Ended(code, err.getvalue())


def test_a_run_goes_on_with_its_own_settings_alone(unfinished: FakeOllama, tmp_path: Path) -> None:
    before = partial(tmp_path).read_bytes()
    for what, other in OTHER.items():
        refused = here(unfinished.url, tmp_path, "--resume", *other)
        assert refused.code == 2, (what, refused.err)
        assert "was measured with another" in refused.err, what
        assert partial(tmp_path).read_bytes() == before, what
    assert measured(unfinished) == 0
    saved = samples_in(partial(tmp_path))
    check_resumed(saved, here(unfinished.url, tmp_path, "--resume"), measured(unfinished), tmp_path)


def test_an_unfinished_run_is_not_overwritten(unfinished: FakeOllama, tmp_path: Path) -> None:
    before = partial(tmp_path).read_bytes()
    refused = here(unfinished.url, tmp_path)
    assert refused.code == 2
    assert "--resume" in refused.err
    assert str(partial(tmp_path)) in refused.err
    assert partial(tmp_path).read_bytes() == before
    assert unfinished.requests == []


def test_a_block_with_a_broken_reply_is_asked_again(tmp_path: Path) -> None:
    """As where a server dies during the last question: all were asked, and still the block is not whole."""
    faults = {BROKEN_CALL: Fault.RESET, LAST_CALL: Fault.HANG}
    with FakeOllama(faults=faults, counts=is_measured) as fake:
        left_hanging(fake, tmp_path)
        saved = samples_in(partial(tmp_path))
        assert whole_blocks(saved) == set()
        resumed = here(fake.url, tmp_path, "--resume")
        assert measured(fake) == CALLS
        check_resumed(saved, resumed, measured(fake), tmp_path)


def test_a_resumed_run_counts_on(unfinished: FakeOllama, tmp_path: Path) -> None:
    resumed = here(unfinished.url, tmp_path, "--resume")
    numbers = re.findall(r"^\[ *(\d+)/16\]", resumed.err, re.MULTILINE)
    assert [int(number) for number in numbers] == list(range(QUESTIONS + 1, CALLS + 1))


def test_there_is_nothing_to_resume(tmp_path: Path) -> None:
    with FakeOllama() as fake:
        refused = here(fake.url, tmp_path, "--resume")
        assert fake.requests == []
    assert refused.code == 3
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- what cannot be written


@pytest.mark.parametrize("place", ["a-file/run.json", "a-folder"])
def test_an_output_that_cannot_be_written_is_found_first(place: str, tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    (tmp_path / "a-folder").mkdir()
    with FakeOllama() as fake:
        refused = here(fake.url, tmp_path, "--out", str(tmp_path / place))
        assert fake.requests == []
    assert refused.code == 74
    assert str(tmp_path / place) in refused.err
    assert re.search(r"^help: .*--out", refused.err, re.MULTILINE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-file", "a-folder"]


def test_a_full_disk_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    def at_most() -> None:  # a file that may not grow further fails as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    with FakeOllama() as fake:
        full = finish(fake.url, tmp_path, limit=at_most)
        assert full.code == 74, full.err
        assert "cannot write" in full.err
        assert re.search(r"^help: .*--out", full.err, re.MULTILINE)
        saved = check_saved(full, tmp_path)
        fake.requests.clear()
        resumed = here(fake.url, tmp_path, "--resume")
        check_resumed(saved, resumed, measured(fake), tmp_path)
