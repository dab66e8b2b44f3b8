"""The lines of llama-server, in the forms of several builds, bare and wrapped."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from promptorder.model.serverlog import CacheChange, LoggedChange, LoggedRequest, SlotChoice
from promptorder.serverlog import read_log, recognise


def requests(text: str) -> list[LoggedRequest]:
    return [entry for entry in read_log(text.splitlines()) if isinstance(entry, LoggedRequest)]


def changes(text: str) -> list[LoggedChange]:
    return [entry for entry in read_log(text.splitlines()) if isinstance(entry, LoggedChange)]


# As Ollama 0.33 shows it, without a prefix
INSIDE_OLLAMA = """\
slot get_availabl: id  0 | task -1 | selected slot by LCP similarity, f_sim_best = 0.994 (> 0.100 thold), f_keep = 0.971
slot launch_slot_: id  0 | task -1 | sampler chain: logits -> ?penalties -> top-k -> dist
slot launch_slot_: id  0 | task 11 | processing task, is_child = 0
slot   operator(): id  0 | task 11 | new prompt, n_ctx_slot = 4096, n_keep = 4, task.n_tokens = 1300
slot   operator(): id  0 | task 11 | cached n_tokens = 240, memory_seq_rm [240, end)
slot   operator(): id  0 | task 11 | cached n_tokens = 752, memory_seq_rm [752, end)
slot   operator(): id  0 | task 11 | cached n_tokens = 1264, memory_seq_rm [1264, end)
slot init_sampler: id  0 | task 11 | init sampler, took 0.20 ms, tokens: text = 1300, total = 1300
slot print_timing: id  0 | task 11 | prompt eval time =      13.64 ms /  1060 tokens (    0.01 ms per token, 77712.61 tokens per second)
slot print_timing: id  0 | task 11 |        eval time =       2.06 ms /     5 tokens (    0.41 ms per token,  2427.18 tokens per second)
slot print_timing: id  0 | task 11 |       total time =      15.70 ms /  1065 tokens
slot      release: id  0 | task 11 | stop processing: n_tokens = 1304, truncated = 0
srv  update_slots: all slots are idle
"""
# Early 2026: the times stand on lines of their own
EARLY_2026 = """\
0.05.234.340 I slot get_availabl: id  1 | task -1 | selected slot by LCP similarity, sim_best = 0.896 (> 0.100 thold), f_keep = 1.000
0.05.234.408 I slot launch_slot_: id  1 | task 13 | processing task, is_child = 0
0.05.234.412 I slot update_slots: id  1 | task 13 | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 1300
0.05.234.415 I slot update_slots: id  1 | task 13 | n_tokens = 240, memory_seq_rm [240, end)
0.06.423.157 I slot print_timing: id  1 | task 13 |
prompt eval time =      13.64 ms /  1060 tokens (   30.67 ms per token,    32.61 tokens per second)
       eval time =       2.06 ms /     5 tokens (   60.73 ms per token,    16.47 tokens per second)
      total time =      15.70 ms /  1065 tokens
0.06.423.225 I slot      release: id  1 | task 13 | stop processing: n_tokens = 1304, truncated = 0
"""
# 2025: the end comes before the times
SUMMER_2025 = """\
slot launch_slot_: id  2 | task 7 | processing task
slot update_slots: id  2 | task 7 | new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = 1300
slot update_slots: id  2 | task 7 | kv cache rm [240, end)
slot update_slots: id  2 | task 7 | prompt processing progress, n_past = 1264, n_tokens = 1024, progress = 0.787692
slot update_slots: id  2 | task 7 | kv cache rm [1264, end)
slot update_slots: id  2 | task 7 | prompt done, n_past = 1300, n_tokens = 36
slot      release: id  2 | task 7 | stop processing: n_past = 1304, truncated = 0
slot print_timing: id  2 | task 7 | \n\
prompt eval time =      13.64 ms /  1060 tokens (    0.68 ms per token,  1471.20 tokens per second)
       eval time =       2.06 ms /     5 tokens (    4.25 ms per token,   235.12 tokens per second)
      total time =      15.70 ms /  1065 tokens
"""
# Newer builds below -lv 4 keep the inner lines to themselves
SPARSE = """\
0.00.050.471 I slot get_availabl: id  3 | task -1 | selected slot by LRU, t_last = 71477718445
0.00.050.515 I slot launch_slot_: id  3 | task 5 | processing task, is_child = 0
0.00.066.048 I slot print_timing: id  3 | task 5 | prompt eval time =      13.64 ms /  1060 tokens (    0.02 ms per token, 40436.01 tokens per second)
0.00.066.070 I slot print_timing: id  3 | task 5 |        eval time =       2.06 ms /     5 tokens (    0.32 ms per token,  2338.27 tokens per second)
0.00.066.124 I slot      release: id  3 | task 5 | stop processing: n_tokens = 1304, truncated = 0
"""
BUILDS = {"inside-ollama": INSIDE_OLLAMA, "2026": EARLY_2026, "2025": SUMMER_2025, "sparse": SPARSE}


@pytest.mark.parametrize("text", BUILDS.values(), ids=BUILDS)
def test_each_build_tells_the_same(text: str) -> None:
    (found,) = requests(text)
    assert (found.prompt_tokens, found.cached_tokens) == (1300, 240)
    assert (found.prefill_ns, found.decode_ns, found.decode_tokens) == (13_640_000, 2_060_000, 5)
    assert found.derived == (text is SPARSE)
    assert recognise(text.splitlines()) == "llama-server"


def test_how_a_slot_was_chosen() -> None:
    (by_similarity,), (by_age,), (untold,) = map(requests, (INSIDE_OLLAMA, SPARSE, SUMMER_2025))
    assert (by_similarity.why, by_similarity.similarity) == (SlotChoice.LCP_SIMILARITY, 0.994)
    assert (by_age.why, by_age.similarity) == (SlotChoice.LRU, None)
    assert untold.why is None


def test_a_prompt_out_of_the_hosts_memory() -> None:
    (found,) = requests("""\
slot get_availabl: id  0 | task -1 | selected slot by LRU, t_last = 11089515416
srv  get_availabl: updating prompt cache
srv   prompt_save:  - saving prompt with length 2054, total state size = 0.525 MiB (draft: 0.000 MiB)
srv          load:  - looking for better prompt, base f_keep = 0.002, f_sim = 0.002
srv          load:  - found better prompt with f_keep = 0.998, f_sim = 1.000
slot launch_slot_: id  0 | task 19 | processing task, is_child = 0
slot update_slots: id  0 | task 19 | new prompt, n_ctx_slot = 4096, n_keep = 4, task.n_tokens = 2050
slot update_slots: id  0 | task 19 | cached n_tokens = 2049, memory_seq_rm [2049, end)
""")
    assert found.why is SlotChoice.HOST_CACHE
    assert (found.prompt_tokens, found.cached_tokens, found.prefill_ns) == (2050, 2049, None)


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "docker": lambda line: f"2026-03-04T05:06:07.123456789Z {line}",
    "compose": lambda line: f"ollama-1  | {line}",
    "compose-and-time": lambda line: f"ollama-1  | 2026-03-04T05:06:07.123456789Z {line}",
    "kubernetes": lambda line: f"2026-03-04T05:06:07.123456789+00:00 stderr F {line}",
    "journald-short": lambda line: f"Mar 04 05:06:07 a-machine.home ollama[4711]: {line}",
    "journald-iso": lambda line: f"2026-03-04T06:06:07.123456+0100 a-machine ollama[4711]: {line}",
    "journald-script": lambda line: f"Mar  4 05:06:07 a-machine start_server.sh[4711]: {line}",
    "colours": lambda line: f"\x1b[34m0.00.011.066\x1b[0m \x1b[32mI \x1b[0m{line}",
    "level": lambda line: f"I {line}",
    "windows": lambda line: f"{line}\r\n",
}


@pytest.mark.parametrize("build", ["inside-ollama", "2025"])
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_what_others_put_before_a_line(build: str, wrapping: str) -> None:
    text = "\n".join(map(WRAPPINGS[wrapping], BUILDS[build].splitlines()))
    (found,) = requests(text)
    assert (found.prompt_tokens, found.cached_tokens, found.prefill_ns) == (1300, 240, 13_640_000)
    dated = "T05:06:07" in text or "T06:06:07" in text
    wanted = datetime(2026, 3, 4, 5, 6, 7, 123456, tzinfo=UTC) if dated else None
    assert found.at == wanted
    assert recognise(text.splitlines()) == "llama-server"


def test_the_time_zone_is_kept() -> None:
    line = "2026-03-04T06:06:07+0100 host ollama[1]: slot launch_slot_: id  0 | task 1 | processing task"
    (found,) = requests(line)
    assert found.at is not None
    assert found.at.tzinfo == timezone(timedelta(hours=1))


def test_ollama_says_when_a_request_came() -> None:
    came = (
        "time=2026-03-04T05:06:07.500Z level=DEBUG source=llama_server.go:1533 "
        'msg="llama-server completion request" media=0 prompt_len=6965\n'
    )
    first, second = requests(came + INSIDE_OLLAMA + INSIDE_OLLAMA)
    assert first.at == datetime(2026, 3, 4, 5, 6, 7, 500_000, tzinfo=UTC)
    assert second.at is None


SIDE_BY_SIDE = """\
slot launch_slot_: id  1 | task 20 | processing task, is_child = 0
slot update_slots: id  1 | task 20 | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 900
slot update_slots: id  1 | task 20 | cached n_tokens = 0, memory_seq_rm [0, end)
slot launch_slot_: id  0 | task 21 | processing task, is_child = 0
slot update_slots: id  0 | task 21 | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 50
slot update_slots: id  1 | task 20 | cached n_tokens = 512, memory_seq_rm [512, end)
slot update_slots: id  0 | task 21 | cached n_tokens = 40, memory_seq_rm [40, end)
slot print_timing: id  0 | task 21 | prompt eval time =       1.00 ms /    10 tokens (    0.01 ms per token, 1.0 tokens per second)
slot print_timing: id  1 | task 20 | prompt eval time =      90.00 ms /   900 tokens (    0.01 ms per token, 1.0 tokens per second)
slot      release: id  0 | task 21 | stop processing: n_tokens = 54, truncated = 0
slot      release: id  1 | task 20 | stop processing: n_tokens = 904, truncated = 0
"""


def test_slots_side_by_side_are_kept_apart_and_told_in_the_order_of_their_start() -> None:
    told = [(r.task, r.prompt_tokens, r.cached_tokens, r.prefill_ns) for r in requests(SIDE_BY_SIDE)]
    assert told == [(20, 900, 0, 90_000_000), (21, 50, 40, 1_000_000)]


def test_a_server_that_starts_anew_counts_its_tasks_anew() -> None:
    first = "slot launch_slot_: id  0 | task 0 | processing task\n"
    prompt = (
        "slot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = 96, n_keep = 0, task.n_tokens = {}\n"
    )
    kept = "slot update_slots: id  0 | task 0 | cached n_tokens = {}, memory_seq_rm [0, end)\n"
    text = first + prompt.format(30) + kept.format(7) + first + prompt.format(31) + kept.format(8)
    assert [(r.prompt_tokens, r.cached_tokens) for r in requests(text)] == [(30, 7), (31, 8)]


def test_what_is_not_known_is_none() -> None:
    refused, broken_off = requests("""\
slot launch_slot_: id  0 | task 1 | processing task, is_child = 0
slot update_slots: id  0 | task 1 | new prompt, n_ctx_slot = 256, n_keep = 0, task.n_tokens = 300
slot      release: id  0 | task 1 | stop processing: n_tokens = 0, truncated = 0
slot launch_slot_: id  0 | task 2 | processing task, is_child = 0
""")
    assert (refused.prompt_tokens, refused.cached_tokens, refused.prefill_ns) == (300, None, None)
    assert (broken_off.prompt_tokens, broken_off.cached_tokens) == (None, None)


def test_a_shifted_slot_does_not_tell_its_prompt() -> None:
    (found,) = requests(SPARSE.replace("truncated = 0", "truncated = 1"))
    assert (found.prompt_tokens, found.cached_tokens) == (None, None)


def test_a_child_reads_nothing() -> None:
    text = INSIDE_OLLAMA.replace("task 11 |", "task 12 |").replace("is_child = 0", "is_child = 1")
    assert not requests(text)


def test_a_log_whose_head_is_missing_begins_with_the_next_prompt() -> None:
    cut = "\n".join(INSIDE_OLLAMA.splitlines()[5:]) + "\n" + EARLY_2026
    assert [r.task for r in requests(cut)] == [13]


def test_lines_of_two_threads_in_one() -> None:
    (found,) = requests(
        EARLY_2026.replace(
            "0.06.423.225 I slot      release",
            "0.06.423.200 W No parser definition detected, assuming pure content parser.0.06.423.225 I slot      release",
        )
        + "0.06.500.000 I slot launch_slot_: id  1 | task 99 | processing task"
    )[:1]
    assert found.prompt_tokens == 1300


@pytest.mark.parametrize(
    "line",
    [
        'srv  log_server_r: request: {"prompt":"what is 0.05.234.408 I slot launch_slot_: id  1 | task 13 | processing task"}',
        'time=2026-03-04T05:06:07Z level=DEBUG source=routes.go:1522 msg=chat prompt="slot launch_slot_: id  1 | task 13 | processing task"',
        "the log says: slot launch_slot_: id  1 | task 13 | processing task",
        "[GIN] slot launch_slot_: id  1 | task 13 | processing task",
    ],
)
def test_a_prompt_that_quotes_a_log_is_no_request(line: str) -> None:
    assert not requests(line)


CHANGES = {
    "slot update_slots: id  0 | task 39 | slot context shift, n_keep = 4, n_left = 4091, n_discard = 2045": (
        CacheChange.CONTEXT_SHIFT,
        0,
        39,
        2045,
    ),
    "slot update_slots: id  2 | task 5 | forcing full prompt re-processing due to lack of cache data (likely due to SWA)": (
        CacheChange.NO_CACHE_DATA,
        2,
        5,
        None,
    ),
    "slot update_slots: id  0 | task 7 | restored context checkpoint (pos_min = 0, pos_max = 511, n_tokens = 512, n_past = 512, size = 9.0 MiB)": (
        CacheChange.CHECKPOINT_RESTORED,
        0,
        7,
        512,
    ),
    "slot update_slots: id  0 | task 7 | erased invalidated context checkpoint (pos_min = 7, pos_max = 9, n_tokens = 10, size = 1.5 MiB)": (
        CacheChange.CHECKPOINT_ERASED,
        0,
        7,
        10,
    ),
    "slot update_slots: id  0 | task 7 | reusing chunk with size 300, shifting KV cache [400, 700) -> [350, 650)": (
        CacheChange.CHUNK_REUSED,
        0,
        7,
        300,
    ),
    "slot update_slots: id  0 | task 7 | input truncated, n_ctx = 4096, n_keep = 4, n_left = 4092, n_prompt_tokens = 2050": (
        CacheChange.TRUNCATED,
        0,
        7,
        2050,
    ),
    "slot update_slots: id  0 | task 7 | failed to truncate tokens with position >= 9 - clearing the memory": (
        CacheChange.SLOT_CLEARED,
        0,
        7,
        None,
    ),
    "slot process_sing: id  3 | task -1 | clearing prompt with 210 tokens": (
        CacheChange.SLOT_CLEARED,
        3,
        None,
        210,
    ),
    "srv    purge_slot: purging slot 2 with 77 tokens": (CacheChange.SLOT_CLEARED, 2, None, 77),
    "srv        update:  - cache size limit reached, removing oldest entry (size = 478.140 MiB)": (
        CacheChange.HOST_CACHE_EVICTED,
        None,
        None,
        None,
    ),
    "srv         alloc:  - prompt state size 900.000 MiB exceeds cache size limit 512.000 MiB, skipping": (
        CacheChange.HOST_CACHE_SKIPPED,
        None,
        None,
        None,
    ),
    "0.02.772.626 I srv    load_model: initializing slots, n_slots = 2": (
        CacheChange.LOADED,
        None,
        None,
        None,
    ),
    "2.22.122.163 I srv    operator(): operator(): cleaning up before exit...": (
        CacheChange.UNLOADED,
        None,
        None,
        None,
    ),
}


@pytest.mark.parametrize(("line", "wanted"), CHANGES.items(), ids=[c[0].value for c in CHANGES.values()])
def test_what_takes_a_cache_away(
    line: str, wanted: tuple[CacheChange, int | None, int | None, int | None]
) -> None:
    (found,) = changes(line)
    assert (found.change, found.slot, found.task, found.tokens) == wanted


def test_a_memory_that_could_not_be_cut_was_not_reused() -> None:
    lines = INSIDE_OLLAMA.splitlines()
    lines.insert(
        5, "slot update_slots: id  0 | task 11 | failed to truncate tokens with position >= 240 - clearing"
    )
    (found,) = requests("\n".join(lines))
    assert found.cached_tokens == 0
