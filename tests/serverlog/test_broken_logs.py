"""Logs that are broken, cut, mixed or long: never an error, never more memory than a few entries."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_llama_server import BUILDS, CHANGES, SIDE_BY_SIDE
from test_ollama import EARLY_MLX, KEYED, KEYED_JSON, MLX, RUNNER

from promptorder.model.serverlog import LogEntry, LoggedRequest
from promptorder.serverlog import read_log, recognise

SHARED_LOGS = sorted((Path(__file__).resolve().parents[3] / "shared/traces/llama-server-logs").glob("*.log"))
TEXTS = [*BUILDS.values(), SIDE_BY_SIDE, "\n".join(CHANGES), RUNNER, MLX, EARLY_MLX, KEYED, KEYED_JSON]
LINES = [line for text in TEXTS for line in text.splitlines()]


def check(entries: list[LogEntry]) -> None:
    """What must hold of any log at all."""
    starts = [entry.line for entry in entries]
    assert starts == sorted(starts)
    for entry in entries:
        if isinstance(entry, LoggedRequest) and entry.cached_tokens is not None and entry.derived:
            assert entry.prompt_tokens is not None
            assert 0 <= entry.cached_tokens <= entry.prompt_tokens


@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=60), st.binary(max_size=60)), max_size=40))
def test_any_lines(lines: list[str | bytes]) -> None:
    check(list(read_log(lines)))
    recognise(lines)


@given(st.data())
def test_broken_lines(data: st.DataObject) -> None:
    lines: list[bytes] = []
    for line in data.draw(st.lists(st.sampled_from(LINES), max_size=30)):
        raw = bytearray(line.encode())
        for _ in range(data.draw(st.integers(0, 3))):
            place = data.draw(st.integers(0, len(raw)))
            if data.draw(st.booleans()):
                del raw[place:]
            else:
                raw[place:place] = data.draw(st.binary(max_size=6))
        lines.append(bytes(raw))
    check(list(read_log(lines)))


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_a_log_that_is_cut_anywhere_loses_only_what_is_cut(place: int) -> None:
    whole = "".join(text for text in TEXTS[:3] * 3)
    place = min(place, len(whole))
    told = [(r.prompt_tokens, r.cached_tokens) for r in _requests(whole[place:])]
    assert set(told) <= {(1300, 240), (None, None), (1300, None)}
    first = [(r.prompt_tokens, r.cached_tokens) for r in _requests(whole[:place])]
    assert first[:-1] == [(1300, 240)] * max(0, len(first) - 1)


def _requests(text: str) -> list[LoggedRequest]:
    return [entry for entry in read_log(text.splitlines()) if isinstance(entry, LoggedRequest)]


@settings(max_examples=50)
@given(st.integers(0, 1 << 32))
def test_slots_in_any_order_are_kept_apart(seed: int) -> None:
    chance = random.Random(seed)
    tasks = [
        (slot, task, 100 + task, chance.randrange(100)) for slot in range(4) for task in range(slot, 40, 4)
    ]
    waiting = {slot: [each for each in tasks if each[0] == slot] for slot in range(4)}
    streams: dict[int, list[str]] = {}
    lines: list[str] = []
    while streams or any(waiting.values()):
        slot = chance.randrange(4)
        if slot not in streams:
            if not waiting[slot]:
                continue
            _, task, prompt, cached = waiting[slot].pop(0)
            head = f"slot update_slots: id  {slot} | task {task} | "
            streams[slot] = [
                f"slot launch_slot_: id  {slot} | task {task} | processing task, is_child = 0",
                f"{head}new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = {prompt}",
                f"{head}cached n_tokens = {cached}, memory_seq_rm [{cached}, end)",
                f"{head}cached n_tokens = {prompt - 1}, memory_seq_rm [{prompt - 1}, end)",
                f"{head}prompt eval time = 1.50 ms / {prompt - cached} tokens ( 1 ms per token)",
                f"slot      release: id  {slot} | task {task} | stop processing: n_tokens = 1, truncated = 0",
            ]
        lines.append(streams[slot].pop(0))
        if not streams[slot]:
            del streams[slot]
    found = _requests("\n".join(lines))
    assert {(r.slot, r.task, r.prompt_tokens, r.cached_tokens) for r in found} == set(tasks)
    assert [r.line for r in found] == [n for n, line in enumerate(lines, 1) if "processing task" in line]


def test_memory_does_not_grow_with_the_log() -> None:
    def lines() -> Iterator[str]:
        for task in range(30_000):  # not one of them ever ends
            yield f"slot launch_slot_: id  {task % 3} | task {task} | processing task, is_child = 0"
        yield "x" * 5_000_000

    tracemalloc.start()
    try:
        assert sum(1 for _ in read_log(lines())) == 30_000
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not SHARED_LOGS, reason="the shared logs are not here")
@pytest.mark.parametrize("path", SHARED_LOGS, ids=lambda path: path.stem)
def test_real_logs_of_a_build_agree_with_themselves(path: Path) -> None:
    """What was kept and what was read make the prompt, in every request."""
    lines = path.read_bytes().splitlines()
    found = [entry for entry in read_log(lines) if isinstance(entry, LoggedRequest)]
    assert recognise(lines[:100]) == "llama-server"
    assert len(found) == sum(b"new prompt" in line for line in lines) > 5
    read = [int(line.split(b" ms /")[1].split()[0]) for line in lines if line.startswith(b"prompt eval time")]
    assert [(r.prompt_tokens or 0) - (r.cached_tokens or 0) for r in found] == read
    # The same, when only the outer lines are there
    outer = [line for line in lines if b"new prompt" not in line and b"memory_seq_rm" not in line]
    sparse = [entry for entry in read_log(outer) if isinstance(entry, LoggedRequest)]
    assert [(r.prompt_tokens, r.cached_tokens) for r in sparse] == [
        (r.prompt_tokens, r.cached_tokens) for r in found
    ]
