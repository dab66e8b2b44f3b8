"""Whatever a file holds, it is read, skipped or refused; and no line gets lost on the way."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_logs import Letters, jsonl

from promptorder.errors import InputError
from promptorder.inputs._trace_files import open_trace
from promptorder.inputs._trace_streams import BrokenStreamError, lines
from promptorder.model.trace import TraceRequest
from promptorder.traces import REGISTRY, TraceOptions
from promptorder.traces._order import in_order, merged
from promptorder.traces._reading import Together

FORMS = [name for name, module in REGISTRY.load_all().items() if hasattr(module, "read")]

_KEYS = st.sampled_from(
    ["prompt", "messages", "input", "role", "content", "tools", "system", "model", "hash_ids", "requests", "runs", "t",
     "request", "response", "usage", "type", "text", "cache_control", "ttl", "images", "schema", "event_type", "replay",
     "input_sequence_hashes", "block_size", "hash_id_scope", "session_id", "timestamp", "input_length", "contents", "parts",
     "prompt_cache_options", "prompt_cache_breakpoint", "timings", "cache_n", "prompt_n", "context", "raw", "options", "keep_alive",
     "choices", "message", "tool_calls", "function", "arguments", "delay", "parent_chat_id", "chat_id", "id", "generated", "detail",
     "image_url", "url", "prompt_tokens_details", "prompt_tokens", "play_id", "tool_choice", "n_predict", "output"]
)  # fmt: skip
_WORDS = st.sampled_from(
    ["user", "assistant", "system", "tool", "text", "image", "5m", "1h", "request_end", "local", "claude", "gpt-4o", "m:1b",
     "dynamo.agentic_mooncake", "dynamo.request.trace.v1", "tool_use", "tool_result", "thinking", "function_call", "explicit"]
)  # fmt: skip
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | _WORDS
    | st.integers(-2, 9)
)
JSON = st.recursive(
    _LEAVES,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(_KEYS, inside, max_size=6),
    max_leaves=40,
)
OBJECTS = st.dictionaries(_KEYS, JSON, max_size=8)


def taken(data: bytes, form: str | None = None, **options: Any) -> list[TraceRequest]:
    """The requests, where the file is not refused; each as a policy may take it."""
    try:
        log = open_trace(["-"], TraceOptions(tokenizer=Letters, form=form, **options), stdin=io.BytesIO(data))
        if log.holds == "server-log":
            assert all(path == "standard input" for path, _ in log.log_entries())
            return []
        found = list(log.requests())
    except InputError as error:
        assert str(error)
        assert "\n" not in str(error)
        return []
    for index, request in enumerate(found):
        assert request.index == index
        assert len(request.packed()) == 4 * len(request.ids)
        assert request.sizes(None)[1] >= 0
        assert list(request.block_ends) == sorted(request.block_ends)
        assert all(end <= len(request.ids) for end in request.block_ends)
        assert all(0 <= mark.block < len(request.block_ends) for mark in request.breakpoints)
        assert request.observed_cached_tokens is None or request.observed_cached_tokens >= 0
    assert log.report.requests == len(found)
    return found


@given(st.binary(max_size=400))
def test_random_bytes(data: bytes) -> None:
    taken(data)


@given(
    st.sampled_from([b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"]),
    st.binary(max_size=80),
)
def test_random_bytes_that_begin_like_something_compressed(head: bytes, data: bytes) -> None:
    taken(head + data)


@given(st.lists(OBJECTS | JSON, max_size=5), st.sampled_from([None, *FORMS]))
@settings(max_examples=100, deadline=None)
def test_random_json(values: list[Any], form: str | None) -> None:
    taken(b"\n".join(json.dumps(value).encode() for value in values), form)


MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system", "tool"]), "content": JSON}, optional={"tool_calls": JSON}),
    min_size=1,
    max_size=4,
)  # fmt: skip


@given(MESSAGES, OBJECTS, JSON, st.sampled_from(["claude-x", "gpt-5.6", "m:1b", "x"]))
@settings(max_examples=100, deadline=None)
def test_random_requests(messages: list[Any], more: dict[str, Any], response: Any, model: str) -> None:
    body = {**more, "model": model, "messages": messages}
    assert len(taken(jsonl({"request": body, "response": response}), "requests")) <= 1


@given(st.lists(OBJECTS, max_size=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_random_sessions(requests: list[Any], subagents: bool) -> None:
    session = {"block_size": 64, "requests": requests}
    taken(jsonl(session, session), "coding-sessions", subagents=subagents)


WHOLE = gzip.compress(jsonl(*({"prompt": [n, n + 1]} for n in range(300))))


@given(st.integers(0, len(WHOLE)))
@settings(deadline=None)
def test_a_stream_cut_anywhere_loses_only_its_end(at: int) -> None:
    found = taken(WHOLE[:at])
    assert [each.ids[0] for each in found] == list(range(len(found)))


@given(st.lists(st.sampled_from([b"a", b"\n", b"bc", b"\r\n", b" ", b""]), max_size=30), st.integers(1, 7))
def test_lines_are_the_same_however_they_come(pieces: list[bytes], size: int) -> None:
    text = b"".join(pieces)
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    wanted = [(n, line) for n, line in enumerate(text.split(b"\n"), 1) if line.strip()]
    assert list(lines(chunks, lambda line, reason: None)) == wanted


def test_lines_before_a_break_are_given() -> None:
    def chunks() -> Any:
        yield b"a\nb"
        raise BrokenStreamError("it breaks off")

    found = lines(chunks(), lambda line, reason: None)
    assert next(found) == (1, b"a")
    with pytest.raises(BrokenStreamError):
        next(found)


def at(*times: float | None) -> list[TraceRequest]:
    return [TraceRequest(n, n, [n], at_s=time) for n, time in enumerate(times)]


TIMES = st.lists(st.none() | st.integers(0, 20).map(float), max_size=40)


@given(TIMES, st.integers(0, 50))
def test_order_loses_nothing_and_a_wide_window_puts_all_right(times: list[float | None], window: int) -> None:
    report = Together(TraceOptions()).report
    requests = at(*times)
    found = list(in_order(requests, report, window))
    assert sorted(each.line for each in found) == list(range(len(times)))
    known = [each.at_s for each in found if each.at_s is not None]
    if window >= len(times):
        assert known == sorted(known)
        assert report.late == 0
    dated = len(known)
    assert report.undated == (len(times) - dated if dated else 0)
    assert (report.reordered + report.late == 0) == (
        all(a <= b for a, b in zip(_dated(times), _dated(times)[1:], strict=False))
    )


def _dated(times: list[float | None]) -> list[float]:
    return [time for time in times if time is not None]


@given(st.lists(TIMES, max_size=4))
def test_merging_keeps_each_files_order(files: list[list[float | None]]) -> None:
    streams = [list(in_order(at(*times), Together(TraceOptions()).report, 99)) for times in files]
    found = list(merged(streams))
    assert len(found) == sum(map(len, streams))
    for stream in streams:
        wanted = {id(each) for each in stream}
        assert [id(each) for each in found if id(each) in wanted] == [id(each) for each in stream]
    if all(each.at_s is not None for each in found):
        known = [each.at_s or 0.0 for each in found]
        assert known == sorted(known)
