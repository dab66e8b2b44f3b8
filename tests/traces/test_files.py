"""Files as they come: compressed, cut, broken, out of order, several, in folders, from standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from trace_logs import LETTERS, jsonl, opened, read, row, text_of, written

from promptorder.errors import InputError, UsageError
from promptorder.inputs import _trace_streams
from promptorder.inputs._trace_files import open_trace
from promptorder.model.serverlog import LoggedRequest
from promptorder.traces import TraceOptions

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
}
ROWS = [row(at, [at, at * 7, at * 11]) for at in range(20_000)]
PLAIN = jsonl(*ROWS)


@pytest.mark.parametrize("name", COMPRESSED)
def test_compressed_files_whatever_their_name(tmp_path: Path, name: str) -> None:
    assert len(read(written(tmp_path, COMPRESSED[name](PLAIN), "log"))) == 20_000


@pytest.mark.parametrize("name", COMPRESSED)
def test_parts_that_were_compressed_apart(tmp_path: Path, name: str) -> None:
    half = len(PLAIN) // 2  # in the middle of a line
    data = COMPRESSED[name](PLAIN[:half]) + COMPRESSED[name](PLAIN[half:])
    assert len(read(written(tmp_path, data))) == 20_000
    assert len(read(written(tmp_path, COMPRESSED[name](PLAIN) + b"\0" * 600))) == 20_000


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_compressed_file_that_breaks_off_gives_all_whole_lines(tmp_path: Path, name: str) -> None:
    data = COMPRESSED[name](PLAIN)
    path = written(tmp_path, data[: len(data) * 2 // 3])
    log = opened(path)
    found = list(log.requests())
    assert 0 < len(found) < 20_000
    assert [list(each.ids) for each in found[-3:]] == [
        each["hash_ids"] for each in ROWS[len(found) - 3 : len(found)]
    ]
    assert log.report.files[0].cut == f"its {name} stream breaks off after line {len(found):,}"
    assert log.report.skipped_lines == 0
    with pytest.raises(InputError, match="breaks off"):
        read(path, TraceOptions(strict=True))


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_compressed_file_that_is_damaged(tmp_path: Path, name: str) -> None:
    data = bytearray(COMPRESSED[name](PLAIN))
    data[len(data) // 2 : len(data) // 2 + 40] = b"\xff" * 40
    path = written(tmp_path, bytes(data))
    try:
        log = opened(path)
        assert len(list(log.requests())) < 20_000
    except InputError as error:  # no whole line stands before the damage
        assert name == "bzip2"
        assert "its bzip2 stream is damaged" in str(error)
    else:
        assert name in log.report.files[0].cut or log.report.skipped_lines


def test_broken_lines_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    broken = [b"{oops", b"[1, 2]", b'"text"', b'{"hash_ids": 5}', b'{"hash_ids": [1,', b"null", b"7"]
    lines = [json.dumps(row(0, [1])).encode(), *broken, b"", b"  ", json.dumps(row(1, [1])).encode()]
    path = written(tmp_path, b"\r\n".join(lines))
    log = opened(path)
    assert [each.line for each in log.requests()] == [1, 11]
    file = log.report.files[0]
    assert file.skipped_lines == log.report.skipped_lines == 7
    assert [each.line for each in file.first_skipped] == [2, 3, 4, 5, 6]
    assert file.first_skipped[0].reason.startswith("not JSON: ")
    with pytest.raises(InputError, match=r"log\.jsonl, line 2: not JSON"):
        read(path, TraceOptions(strict=True))


def test_what_strict_json_forbids_is_read_where_it_can_be(tmp_path: Path) -> None:
    body = b'{"model":"gpt-4o","temperature":NaN,"messages":[{"role":"user","content":"%s"}]}\n'
    texts = [rb"q", rb"\ud83d", b"\xff", rb"\u0000"]
    found = read(written(tmp_path, b"".join(body % text for text in texts)))
    assert [text_of(each, 6, -11) for each in found] == ["q", "?", "\ufffd", "\0"]


def test_nesting_without_end_is_a_broken_line(tmp_path: Path) -> None:
    log = opened(written(tmp_path, jsonl(row(0, [1])) + b'{"a":' * 100_000 + b"\n"))
    assert len(list(log.requests())) == 1
    assert log.report.files[0].first_skipped[0].reason == "not JSON: nested too deeply"


def test_too_long_a_line_is_skipped_with_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_trace_streams, "LONGEST_LINE_BYTES", 3 << 20)
    long = json.dumps({"hash_ids": [1] * 2_000_000}).encode() + b"\n"
    whole = json.dumps({"hash_ids": [1] * 900_000}).encode() + b"\n"
    log = opened(written(tmp_path, jsonl(row(0, [1])) + long + whole + jsonl(row(1, [1])) + long.strip()))
    assert [(each.line, len(each.ids)) for each in log.requests()] == [(1, 1), (3, 900_000), (4, 1)]
    assert [each.line for each in log.report.files[0].first_skipped] == [2, 5]
    assert "longer than" in log.report.files[0].first_skipped[0].reason


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_marks_of_encodings(tmp_path: Path, encoding: str) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Grüße 🐢"}]}
    data = ("\ufeff" if encoding == "utf-16-be" else "") + jsonl(body).decode()
    (found,) = read(written(tmp_path, data.encode(encoding)))
    assert "Grüße 🐢" in text_of(found)


def test_a_json_text_over_several_lines(tmp_path: Path) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "q"}]}
    for value, count in ((body, 1), ([body, body], 2), ([body, 5, body], 2)):
        for indent in (None, 2):
            log = opened(written(tmp_path, json.dumps(value, indent=indent)))
            assert len(list(log.requests())) == count
            assert log.report.skipped_lines == (1 if count < len(value) and isinstance(value, list) else 0)
    lines = "[\n" + ",\n".join(json.dumps(body) for _ in range(300)) + "\n]\n"
    assert len(read(written(tmp_path, lines))) == 300


def test_a_large_session_over_several_lines_is_known_by_its_start(tmp_path: Path) -> None:
    requests = [{"t": n, "model": "m", "in": 64, "out": 1, "hash_ids": [n]} for n in range(3000)]
    session = {"id": "s", "block_size": 64, "hash_id_scope": "local", "requests": requests}
    assert len(read(written(tmp_path, json.dumps(session, indent=1)))) == 3000


def times(paths: list[str]) -> list[float | None]:
    return [each.at_s for each in read(paths)]


def test_slight_disorder_is_put_right_and_more_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl(*(row(at, [1]) for at in (0, 3000, 1000, 2000, 9000))))
    log = opened(path)
    assert [each.at_s for each in log.requests()] == [0, 1, 2, 3, 9]
    assert (log.report.reordered, log.report.late) == (2, 0)
    path = written(tmp_path, jsonl(*(row(at, [1]) for at in (1000, 2000, 3000, 4000, 0, 5000))))
    log = opened(path, TraceOptions(window_requests=2))
    assert [each.at_s for each in log.requests()] == [1, 2, 0, 3, 4, 5]
    assert (log.report.reordered, log.report.late) == (0, 1)


def test_equal_times_keep_their_order(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl(*(row(at, [at, n]) for n, at in enumerate((5, 5, 2, 2, 5)))))
    assert [each.ids[1] for each in read(path)] == [2, 3, 0, 1, 4]


def test_requests_without_a_time_stay_behind_the_one_before(tmp_path: Path) -> None:
    rows = [row(at, [n]) for n, at in enumerate((1000, 0, 3000, 2000))]
    del rows[1]["timestamp"]
    log = opened(written(tmp_path, jsonl(*rows)))
    assert [each.ids[0] for each in log.requests()] == [0, 1, 3, 2]
    assert log.report.undated == 1
    rows = [{"hash_ids": [n]} for n in range(3)]
    log = opened(written(tmp_path, jsonl(*rows)))
    assert [each.ids[0] for each in log.requests()] == [0, 1, 2]
    assert log.report.undated == 0


def test_files_are_merged_by_time_where_all_have_one(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, jsonl(row(0, [1]), row(4000, [1]), row(6000, [1])), "a.jsonl"),
        written(tmp_path, jsonl(row(1000, [1]), row(5000, [1])), "b.jsonl"),
    ]
    log = opened(paths)
    found = list(log.requests())
    assert [each.at_s for each in found] == [0, 1, 4, 5, 6]
    assert [Path(each.path).name[0] for each in found] == list("abaab"[:3] + "ba")
    assert [each.index for each in found] == list(range(5))
    assert [file.requests for file in log.report.files] == [3, 2]


def test_files_without_times_or_with_other_clocks_follow_one_another(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, jsonl({"prompt": [1], "ts": 1700000001}), "a.jsonl"),
        written(tmp_path, jsonl({"prompt": [2]}), "b.jsonl"),
        written(tmp_path, jsonl({"prompt": [3], "ts": 1700000000}), "c.jsonl"),
    ]
    log = opened(paths)
    assert [each.ids[0] for each in log.requests()] == [1, 2, 3]
    assert any("not every file has times" in each for each in log.report.remarks)
    paths[1] = written(tmp_path, jsonl({"prompt": [2], "ts": 5}), "b.jsonl")
    log = opened(paths)
    assert [each.ids[0] for each in log.requests()] == [1, 2, 3]
    assert any("same moment" in each for each in log.report.remarks)


def test_more_files_than_are_read_side_by_side(tmp_path: Path) -> None:
    for n in range(200):
        written(tmp_path, jsonl({"prompt": [n], "ts": 1700000000 + (n ^ 1)}), f"{n:03}.jsonl")
    assert [each.ids[0] ^ 1 for each in read(str(tmp_path))] == list(range(200))


def test_a_folder_of_logs_passes_over_what_is_none(tmp_path: Path) -> None:
    written(tmp_path, jsonl({"prompt": [1]}), "a.jsonl")
    written(tmp_path, COMPRESSED["gzip"](jsonl({"prompt": [2]})), "b.jsonl.gz")
    written(tmp_path, '{"name": "package"}', "package.json")
    written(tmp_path, "", "empty.jsonl")
    written(tmp_path, "read me", "README.md")
    log = opened(str(tmp_path))
    assert [each.ids[0] for each in log.requests()] == [1, 2]
    assert "files of the folder that hold no requests are passed over" in log.report.remarks


def test_bodies_that_ollama_kept(tmp_path: Path) -> None:
    user = [{"role": "user", "content": "q"}]
    bodies = {
        "20260301T100000.000000001Z-000002_api_chat_body.json": {"model": "m", "messages": user},
        "20260301T095959.500000000Z-000001_v1_messages_body.json": {"model": "m", "max_tokens": 5, "messages": user},
        "20260301T100001.250000000Z-000003_api_generate_body.json": {"model": "m", "prompt": "", "keep_alive": 0},
        "20260301T100002.000000000Z-000004_api_generate_body.json": {"model": "m", "prompt": "p", "stream": False},
    }  # fmt: skip
    for name, body in bodies.items():
        written(tmp_path, json.dumps(body, indent=1), name)
        written(tmp_path, "#!/bin/sh\ncurl ...\n", name.replace("body.json", "request.sh"))
    log = opened(str(tmp_path))
    first, second, third = log.requests()
    assert Path(first.path).name.startswith("20260301T095959")
    assert first.line == 1
    assert (first.at_s, second.at_s) == (1772359199.5, 1772359200.0)
    assert {each.api for each in (first, second, third)} == {"ollama"}
    assert text_of(third) == "\nuser\np\nassistant\n"
    assert [file.path for file in log.report.files] == [str(tmp_path)]


def test_standard_input(tmp_path: Path) -> None:
    for data in (PLAIN, COMPRESSED["gzip"](PLAIN)):
        log = open_trace(["-"], stdin=io.BytesIO(data))
        assert sum(1 for _ in log.requests()) == 20_000
        assert log.report.files[0].path == "standard input"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("data", [PLAIN, COMPRESSED["zstd"](PLAIN)])
def test_a_pipe_is_read_once(tmp_path: Path, data: bytes) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert len(read(str(pipe))) == 20_000
    writer.join()


class Drops(io.RawIOBase):
    """A stream that gives a byte at a time."""

    def __init__(self, data: bytes) -> None:
        self._data: Iterator[int] = iter(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return bytes(byte for byte in (next(self._data, None),) if byte is not None)


@pytest.mark.parametrize("pack", [bytes, *COMPRESSED.values(), lambda data: data.decode().encode("utf-16")])
def test_a_stream_that_comes_in_drops(pack: Callable[[bytes], bytes]) -> None:
    log = open_trace(["-"], stdin=Drops(pack(jsonl(*ROWS[:50]))))  # type: ignore[arg-type]
    assert sum(1 for _ in log.requests()) == 50


SERVER_LOG = [
    *(f"llama_model_loader: - kv {n}: general.name str = model" for n in range(900)),
    "",
    "slot get_availabl: id  0 | task -1 | selected slot by LRU, t_last = -1",
    "slot launch_slot_: id  0 | task 0 | processing task, is_child = 0",
    "slot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 30",
    "slot update_slots: id  0 | task 0 | n_tokens = 0, memory_seq_rm [0, end)",
    "slot print_timing: id  0 | task 0 | prompt eval time =      13.64 ms /    30 tokens (    0.45 ms per token)",
    "slot      release: id  0 | task 0 | stop processing: n_tokens = 31, truncated = 0",
]


@pytest.mark.parametrize("docker", [False, True])
def test_logs_of_servers_tell_what_was_reused(tmp_path: Path, docker: bool) -> None:
    wrapped = [json.dumps({"log": f"{line}\n", "stream": "stderr"}) for line in SERVER_LOG]
    log = opened(written(tmp_path, "\n".join(wrapped if docker else SERVER_LOG) + "\n", "server.log"))
    assert log.holds == "server-log"
    (entry,) = (entry for _, entry in log.log_entries() if isinstance(entry, LoggedRequest))
    assert (entry.prompt_tokens, entry.line) == (30, 903)
    assert log.report.requests == log.report.observed == 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (
            jsonl({"user": "x", "age": 4}),
            "line 1 looks like a JSON object with the keys user, age, and no known log",
        ),
        (jsonl({}), "line 1 is an empty JSON object"),
        (jsonl({f"k{n}": n for n in range(12)}), "k7 and 4 more"),
        ("Dear all,\nhello\n", "line 1 looks like text: Dear all,"),
        ("\x1b[31mred\n", r"looks like text:  \[31mred"),
        (b"\x00\x01\x02" * 50, "the file holds no text"),
    ],
)
def test_unknown_files_are_named_with_what_they_look_like(
    tmp_path: Path, data: bytes | str, says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        opened(written(tmp_path, data))
    assert "Mooncake" in caught.value.hint


@pytest.mark.parametrize("data", ["", "\n \n", COMPRESSED["gzip"](b"")])
def test_files_of_nothing(tmp_path: Path, data: bytes | str) -> None:
    with pytest.raises(InputError, match="nothing to read"):
        opened(written(tmp_path, data))


def test_a_log_of_which_nothing_can_be_used_says_why(tmp_path: Path) -> None:
    log = opened(written(tmp_path, jsonl({"prompt": [1, -5]}, {"prompt": [-1]})))
    with pytest.raises(InputError, match="holds no request that can be used") as caught:
        list(log.requests())
    assert "line 1: a token's id is -5" in caught.value.hint


def test_files_that_are_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    written(tmp_path, jsonl({"prompt": [1]}), "requests.jsonl")
    with pytest.raises(InputError, match="no such file") as caught:
        opened(str(tmp_path / "request.jsonl"))
    assert "requests.jsonl" in caught.value.hint
    with pytest.raises(InputError, match="no such file"):
        opened("a\0b")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no log"):
        opened(str(tmp_path / "empty"))


def test_a_format_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl({"prompt": [1]}))
    assert len(read(path, TraceOptions(form="token-ids"))) == 1
    with pytest.raises(UsageError, match="no trace format"):
        read(path, TraceOptions(form="mooncak"))
    assert LETTERS.form is None
