"""Formats that hold token ids, or ids of blocks."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest
from trace_logs import LETTERS, jsonl, opened, read, row, written

from promptorder.errors import InputError
from promptorder.traces import TraceOptions
from promptorder.traces._ids import NUMBERED_FROM


def test_token_ids_with_what_was_observed(tmp_path: Path) -> None:
    log = jsonl(
        {"prompt": [5, 6, 7], "generated": [8], "cached_tokens": 2},
        {"prompt": [5, 6], "generated": [], "cached_tokens": None},
        {"prompt": [5], "cache_n": 0, "id_slot": 3},
        {"prompt": [5], "ts": "2026-03-01T10:00:00Z", "session": "a", "model": "m"},
    )
    first, second, third, last = read(written(tmp_path, log))
    assert isinstance(first.ids, array)
    assert (list(first.ids), list(first.generated), first.output_tokens) == ([5, 6, 7], [8], 1)
    assert first.packed() == array("I", [5, 6, 7]).tobytes()
    assert [each.observed_cached_tokens for each in (first, second, third)] == [2, None, 0]
    assert (last.session, last.model, last.namespace) == ("a", "m", "m")
    assert last.at_s == 1772359200.0
    assert [each.index for each in (first, second, third, last)] == [0, 1, 2, 3]
    assert [each.line for each in (first, second, third, last)] == [1, 2, 3, 4]


@pytest.mark.parametrize("wrong", [[-1], [1 << 32], [1.5], [None], ["a"], [[1]]])
def test_what_is_no_token_id_is_skipped(tmp_path: Path, wrong: list[Any]) -> None:
    log = opened(written(tmp_path, jsonl({"prompt": [1, 2]}, {"prompt": wrong}, {"prompt": [3]})))
    assert [list(each.ids) for each in log.requests()] == [[1, 2], [3]]
    (skipped,) = log.report.files[0].first_skipped
    assert skipped.line == 2
    assert skipped.reason.startswith("a token's id is ")


def test_mooncake(tmp_path: Path) -> None:
    first, second = read(
        written(tmp_path, jsonl(row(0, [0, 1], 600), row(27482, [0, 3, 4], 1536, model="m")))
    )
    assert list(first.ids) == [0, 1]
    assert (first.prompt_tokens, first.output_tokens, first.hash_block_tokens) == (600, 7, 512)
    assert (first.at_s, second.at_s) == (0.0, 27.482)
    assert (first.namespace, second.namespace) == ("", "m")


def test_large_ids_are_numbered_and_small_ones_stay(tmp_path: Path) -> None:
    huge, half = 0xFFFF_FFFF_FFFF_FFFF, 1 << 31
    log = jsonl(row(0, [7, huge, "9f3a"]), row(1, [7, huge, half]), row(2, [half, -3, 1 << 100]))
    first, second, third = (list(each.ids) for each in read(written(tmp_path, log)))
    assert first[0] == second[0] == 7
    assert first[1] == second[1] >= NUMBERED_FROM
    assert second[2] == third[0]
    assert len({*first, *second, *third}) == 6


def test_files_of_small_ids_share_nothing_unless_they_are_parts_of_one(tmp_path: Path) -> None:
    paths = [written(tmp_path, jsonl(row(at, [0, 1])), f"{at}.jsonl") for at in (1, 2)]
    log = opened(paths)
    one, other = log.requests()
    assert not set(one.ids) & set(other.ids)
    assert "each file has hash ids of its own: what different files share is not known" in log.report.remarks
    one, other = read(paths, TraceOptions(one_id_space=True))
    assert list(one.ids) == list(other.ids) == [0, 1]


def test_files_of_hashes_share_what_is_equal(tmp_path: Path) -> None:
    paths = [written(tmp_path, jsonl(row(at, [1 << 60, 1 << 61])), f"{at}.jsonl") for at in (1, 2)]
    one, other = read(paths)
    assert list(one.ids) == list(other.ids)


def test_ids_local_to_a_play_are_kept_apart(tmp_path: Path) -> None:
    header = {"schema": "dynamo.agentic_mooncake", "version": 2, "block_size": 4, "hash_id_scope": "local"}
    rows = [
        {"request_id": str(n), "play_id": play, "session_id": "s", "input_length": 8, "hash_ids": [1, n]}
        for n, play in enumerate(("p", "p", "q"))
    ]
    log = opened(written(tmp_path, jsonl(header, *rows)))
    first, second, third = log.requests()
    assert first.hash_block_tokens == 4
    assert first.ids[0] == second.ids[0] != third.ids[0]
    assert len(second.ids) == 2  # a whole prompt, though its session was seen before
    assert (log.report.skipped_lines, log.report.files[0].other_lines) == (0, 1)


def test_turns_that_hold_only_what_is_new_are_put_behind_the_earlier_ones(tmp_path: Path) -> None:
    log = opened(
        written(
            tmp_path,
            jsonl(
                row(0, [1, 2], 1000, session_id="s"),
                row(1, [9], 100, session_id="s", delay=5),
                row(2, [1, 2], 1000, session_id="t"),
                row(3, [1, 2, 3], 1400, session_id="t", delay=5),
                row(4, [8], 30, session_id="s", delay=5),
            ),
        )
    )
    first, second, _, whole, third = log.requests()
    assert second.prompt_tokens == 1000 + 7 + 100
    assert list(second.ids[:1]) == [1]  # block 2 was not full, so its like stands nowhere
    assert len(second.ids) == 3
    assert not set(second.ids[1:]) & {*first.ids, 9}
    assert third.prompt_tokens == 1107 + 7 + 30
    assert third.ids[:2] == second.ids[:2]  # two blocks were full by then
    assert list(whole.ids) == [1, 2, 3]
    assert any("only what is new" in each for each in log.report.remarks)


def test_blocks_are_as_large_as_lengths_say(tmp_path: Path) -> None:
    log = opened(written(tmp_path, jsonl(row(0, [1, 2, 3], 40), row(1, [1, 2], 32))))
    assert {each.hash_block_tokens for each in log.requests()} == {16}
    assert log.report.remarks == ["a hash id stands for 16 tokens, as the prompts' lengths tell"]
    log = opened(written(tmp_path, jsonl(row(0, [1, 2, 3], 40), row(1, [1, 2], 9000))))
    assert {each.hash_block_tokens for each in log.requests()} == {512}
    assert "do not fit" in log.report.remarks[0]


def test_bailian_rows_count_seconds_and_name_the_chat_before(tmp_path: Path) -> None:
    rows = [
        {"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 20, "hash_ids": [1, 2]},
        {"chat_id": 2, "parent_chat_id": 1, "timestamp": 9.25, "input_length": 40, "hash_ids": [1, 3, 4]},
        {"chat_id": 3, "parent_chat_id": 2, "timestamp": 9.5, "input_length": 40, "hash_ids": [1, 3, 4]},
        {"chat_id": 4, "parent_chat_id": -1, "timestamp": 9.5, "input_length": 40, "hash_ids": [1, 3, 4]},
    ]
    found = read(written(tmp_path, jsonl(*rows)))
    assert [each.session for each in found] == ["1", "1", "1", "4"]
    assert found[1].at_s == 9.25
    assert found[0].hash_block_tokens == 16


def test_dynamo_events(tmp_path: Path) -> None:
    def ended(at_ms: int, hashes: list[int], **more: Any) -> dict[str, Any]:
        replay = {"trace_block_size": 4, "input_length": 4 * len(hashes), "input_sequence_hashes": hashes}
        request = {"request_received_ms": at_ms, "output_tokens": 2, "replay": replay, **more}
        return {
            "schema": "dynamo.request.trace.v1",
            "event_type": "request_end",
            "agent_context": {"session_id": "a"},
            "request": request,
        }

    log = opened(
        written(
            tmp_path,
            jsonl(
                {"event_type": "request_payload", "request_id": "r"},
                ended(2000, [1 << 63, 5]),
                {"schema": "dynamo.request.trace.v1", "event_type": "tool_end"},
                ended(1000, [1 << 63]),
                ended(3000, [1], replay=None),
            ),
        )
    )
    first, second = log.requests()
    assert (first.at_s, second.at_s) == (1.0, 2.0)  # events stand where requests end
    assert first.ids[0] == second.ids[0]
    assert (first.session, first.hash_block_tokens, second.prompt_tokens) == ("a", 4, 8)
    assert log.report.files[0].other_lines == 2
    assert log.report.skipped_lines == 1
    assert log.report.reordered == 1


SESSION = {
    "id": "s1",
    "block_size": 64,
    "hash_id_scope": "local",
    "requests": [
        {"t": 0.0, "type": "n", "model": "m", "in": 130, "out": 9, "hash_ids": [1, 2]},
        {
            "t": 4.0,
            "type": "subagent",
            "agent_id": "a1",
            "requests": [{"t": 1.5, "model": "h", "in": 64, "out": 1, "hash_ids": [9]}],
        },
        {"t": 5.0, "type": "s", "model": "m", "in": 200, "out": 9, "hash_ids": [1, 2, 3]},
        {"t": 6.0, "type": "s", "model": "m", "in": 200, "out": 9, "hash_ids": [1, 4]},
    ],
}


def test_sessions_of_coding_agents(tmp_path: Path) -> None:
    runs = [{"t": 2.0, "model": "m", "in": 330, "out": 9, "runs": [[1, 3], [7, 2]]}]
    paths = [
        written(tmp_path, jsonl(SESSION), "a.json"),
        written(tmp_path, jsonl({**SESSION, "id": "s2", "requests": runs}, SESSION), "b.jsonl"),
    ]
    log = opened(paths)
    found = list(log.requests())
    assert [each.session for each in found] == ["s1"] * 3 + ["s2"] + ["s1"] * 3
    assert [each.at_s for each in found] == [0.0, 5.0, 6.0, 8.0, 8.0, 13.0, 14.0]
    assert list(found[1].ids[:2]) == list(found[0].ids)
    assert (found[2].ids[0], len(found[2].ids)) == (found[0].ids[0], 2)
    assert found[2].ids[1] not in found[1].ids
    start = found[3].ids[0]
    assert [each - start for each in found[3].ids] == [0, 1, 2, 6, 7]
    assert not set(found[3].ids) & set(found[1].ids)
    assert (found[0].prompt_tokens, found[0].hash_block_tokens) == (130, 64)
    assert found[0].sizes(None) == (64, 128)  # the tokens behind the last full block have no id
    assert "requests of agents that an agent called are left out" in log.report.remarks


def test_requests_of_called_agents_when_asked_for(tmp_path: Path) -> None:
    found = read(written(tmp_path, jsonl(SESSION)), TraceOptions(subagents=True))
    assert [(each.session, each.at_s, each.model) for each in found[:3]] == [
        ("s1", 0.0, "m"),
        ("s1", 5.0, "m"),
        ("s1/a1", 5.5, "h"),
    ]


@pytest.mark.parametrize("ids", [[-1], [1 << 40], ["a"], None, [1.5]])
def test_broken_requests_of_a_session_are_counted(tmp_path: Path, ids: object) -> None:
    requests = [SESSION["requests"][0], {"t": 1, "hash_ids": ids}]  # type: ignore[index]
    log = opened(written(tmp_path, jsonl({**SESSION, "requests": requests}, {**SESSION, "id": "s2"})))
    assert {each.session for each in log.requests()} >= {"s2"}
    assert log.report.skipped_lines == 1


@pytest.mark.parametrize(
    "data",
    [
        b"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n",
        b"\xef\xbb\xbfTimestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n",
        jsonl({"num_turns": 2, "input_prompt_length": 16}),
        jsonl({"timestamp": 1, "input_length": 16, "output_length": 3}),
    ],
)
def test_lengths_alone_are_refused_with_a_word_on_what_is_missing(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match="nothing of what they share") as caught:
        opened(written(tmp_path, data))
    assert "hash ids" in caught.value.hint
    assert caught.value.exit_code == 3


def test_blocks_and_tokens_do_not_mix(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, jsonl(row(0, [1])), "blocks.jsonl"),
        written(tmp_path, jsonl({"prompt": [1, 2]}), "tokens.jsonl"),
    ]
    with pytest.raises(InputError, match="cannot be replayed together"):
        opened(paths, LETTERS)
