"""The lines of Ollama itself: its own runners, its MLX runner, and llama-server from before autumn 2024."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from promptorder.model.serverlog import CacheChange, LoggedChange, LoggedRequest, SlotChoice
from promptorder.serverlog import REGISTRY, read_log, recognise

RUNNER = """\
time=2025-05-06T07:08:09.246Z level=WARN source=runner.go:131 msg="truncating input prompt" limit=4096 prompt=4946 keep=4 new=4096
time=2025-05-06T07:08:09.246Z level=DEBUG source=cache.go:104 msg="loading cache slot" id=0 cache=2054 prompt=4096 used=4 remaining=4092
time=2025-05-06T07:08:10.083Z level=DEBUG source=cache.go:240 msg="context limit hit - shifting" id=0 limit=4096 input=4096 keep=4 discard=2046
time=2025-05-06T07:08:11.000+02:00 level=DEBUG source=cache.go:232 msg="evicting cache slot" id=1 inputs=300 used=2025-05-06T07:08:00Z
time=2025-05-06T07:08:11.000+02:00 level=DEBUG source=cache.go:236 msg="forking cache slot" src=0 dst=1 inputs=120 total=4100
time=2025-05-06T07:08:11.001+02:00 level=DEBUG source=cache.go:104 msg="loading cache slot" id=1 cache=120 prompt=150 used=120 remaining=30
[GIN] 2025/05/06 - 07:08:11 | 200 |  845.482908ms |       127.0.0.1 | POST     "/api/chat"
"""
MLX = """\
time=2026-05-06T07:08:09.000Z level=INFO source=server.go:44 msg="MLX engine initialized" "MLX version"=0.30 device=gpu
time=2026-05-06T07:08:10.000Z level=INFO source=prefix_cache.go:125 msg="cache miss" total=900 matched=0 cached=0 left=900
time=2026-05-06T07:08:11.000Z level=INFO source=prefix_cache.go:125 msg="cache hit" total=905 matched=880 cached=864 left=41
time=2026-05-06T07:08:12.000Z level=WARN source=prefix_cache.go:252 msg="failed to restore cache, freeing all caches" offset=3646
"""
EARLY_MLX = """\
time=2026-02-06T07:08:10.000Z level=INFO source=cache.go:173 msg="Cache miss" left=900
time=2026-02-06T07:08:11.000Z level=INFO source=cache.go:175 msg="Cache hit" total=905 cached=880 left=25
time=2026-02-06T07:08:12.000Z level=INFO source=cache.go:167 msg="Cache miss" left=910 matched=300 reason=non_trimmable_divergence
"""
KEYED = """\
INFO [   launch_slot_with_task] slot is processing task | timestamp=1714489663 id_slot=0 id_task=32
INFO [            update_slots] kv cache rm [p0, end) | timestamp=1714489663 id_slot=0 id_task=32 p0=500
INFO [            update_slots] kv cache rm [p0, end) | timestamp=1714489664 id_slot=0 id_task=32 p0=1012
INFO [           print_timings] prompt eval time     =    1442.30 ms /   711 tokens | timestamp=1714489668 id_slot=0 id_task=32 t_prompt_processing=1442.297 n_prompt_tokens_processed=711
INFO [           print_timings] generation eval time =     400.00 ms /    87 runs   | timestamp=1714489669 id_slot=0 id_task=32 t_token_generation=400.0 n_decoded=87
INFO [            update_slots] slot released | timestamp=1714489669 id_slot=0 id_task=32 n_ctx=4096 n_past=1297 truncated=false
"""  # noqa: E501
KEYED_JSON = """\
{"function":"launch_slot_with_data","line":830,"msg":"slot is processing task","slot_id":0,"task_id":32,"timestamp":1714489663}
{"function":"update_slots","line":1836,"msg":"kv cache rm [p0, end)","p0":500,"slot_id":0,"task_id":32,"timestamp":1714489663}
{"function":"print_timings","line":269,"msg":"prompt eval time     =    1442.30 ms /   711 tokens","n_prompt_tokens_processed":711,"slot_id":0,"t_prompt_processing":1442.297,"task_id":32,"timestamp":1714489668}
{"function":"print_timings","line":283,"msg":"generation eval time =     400.00 ms /    87 runs","n_decoded":87,"slot_id":0,"t_token_generation":400.0,"task_id":32,"timestamp":1714489668}
{"function":"update_slots","line":1648,"msg":"slot released","n_past":39,"slot_id":0,"task_id":32,"truncated":false,"timestamp":1714489668}
"""  # noqa: E501


def requests(text: str) -> list[LoggedRequest]:
    return [entry for entry in read_log(text.encode().splitlines()) if isinstance(entry, LoggedRequest)]


def changes(text: str) -> list[LoggedChange]:
    return [entry for entry in read_log(text.encode().splitlines()) if isinstance(entry, LoggedChange)]


def counts(text: str) -> list[tuple[int | None, int | None]]:
    return [(r.prompt_tokens, r.cached_tokens) for r in requests(text)]


def test_its_own_runner() -> None:
    first, second = requests(RUNNER)
    assert counts(RUNNER) == [(4096, 4), (150, 120)]
    assert (first.slot, first.task, first.prefill_ns, first.why) == (0, None, None, None)
    assert first.at == datetime(2025, 5, 6, 7, 8, 9, 246_000, tzinfo=UTC)
    assert (second.slot, second.why) == (1, SlotChoice.FORK)
    assert [(c.change, c.slot, c.tokens) for c in changes(RUNNER)] == [
        (CacheChange.TRUNCATED, None, 4096),
        (CacheChange.CONTEXT_SHIFT, 0, 2046),
        (CacheChange.SLOT_EVICTED, 1, 300),
    ]


def test_its_mlx_runner() -> None:
    assert counts(MLX) == [(900, 0), (905, 864)]
    assert counts(EARLY_MLX) == [(900, 0), (905, 880), (910, 0)]
    assert [c.change for c in changes(MLX)] == [CacheChange.SLOT_CLEARED]
    assert [c.change for c in changes(EARLY_MLX)] == [CacheChange.NO_CACHE_DATA]


@pytest.mark.parametrize("text", [KEYED, KEYED_JSON])
def test_named_values(text: str) -> None:
    (found,) = requests(text)
    assert (found.prompt_tokens, found.cached_tokens) == (1211, 500)
    assert (found.prefill_ns, found.decode_ns, found.decode_tokens) == (1_442_297_000, 400_000_000, 87)
    assert found.at == datetime.fromtimestamp(1714489663, UTC)


def test_loading_and_unloading() -> None:
    text = """\
time=2025-05-06T07:08:08.000Z level=INFO source=server.go:405 msg="starting llama server" cmd="/usr/bin/ollama runner --model x"
time=2025-05-06T07:08:09.000Z level=DEBUG source=server.go:1011 msg="llama server stopped"
time=2026-05-06T07:08:09.000Z level=DEBUG source=llama_server.go:2308 msg="llama-server stopped" pid=27388
"""
    assert [c.change for c in changes(text)] == [
        CacheChange.LOADED,
        CacheChange.UNLOADED,
        CacheChange.UNLOADED,
    ]


@pytest.mark.parametrize(
    "prefix", ["", "May 06 07:08:09 box ollama[77]: ", "ollama  | ", "2026-05-06T07:08:09.1Z "]
)
@pytest.mark.parametrize(("text", "name"), [(RUNNER, "ollama-runner"), (MLX, "mlx")])
def test_wrapped_by_others(prefix: str, text: str, name: str) -> None:
    wrapped = "".join(prefix + line for line in text.splitlines(keepends=True))
    assert counts(wrapped) == counts(text)
    assert recognise(wrapped.splitlines()) == name


def test_each_dialect_knows_its_own() -> None:
    own = {"ollama-runner": RUNNER, "mlx": EARLY_MLX, "llama-server-keyed": KEYED}
    for name, text in own.items():
        assert recognise(text.splitlines()) == name
    assert recognise(["time=2026-01-01T00:00:00Z level=INFO source=routes.go:1 msg=x"]) == "ollama"
    assert recognise(['{"prompt": "slot is processing task"}', "", "slot machines | task force"]) is None
    assert recognise([]) is None


@pytest.mark.parametrize("name", REGISTRY.names())
def test_what_a_dialect_defines(name: str) -> None:
    module = REGISTRY.load(name)
    assert module.SUMMARY
    assert module.recognise([]) == 0.0
    assert callable(module.Reader)


@pytest.mark.parametrize(
    "line",
    [
        r'time=2025-05-06T07:08:09Z level=DEBUG source=r msg=x prompt="a \" msg=\"loading cache slot\" id=0 cache=1 prompt=9 used=3 remaining=6"',
        'msg="loading cache slot" id=0 cache=1 prompt=9 used=3 remaining=6',
        'time=2025-05-06T07:08:09Z level=DEBUG source=cache.go:104 msg="loading cache slot" id=0 cache=1 prompt=9 used=10 remaining=6',
        'time=2025-05-06T07:08:09Z level=DEBUG source=cache.go:104 msg="loading cache slot" id=0 cache=1 prompt=9 us',
        'time=2025-05-06T07:08:09Z level=INFO source=prefix_cache.go:125 msg="cache hit" total=5 cached=6 left=1',
    ],
)
def test_what_is_no_request(line: str) -> None:
    assert not requests(line)


def test_two_servers_in_one_file() -> None:
    assert counts(RUNNER + MLX + KEYED) == [(4096, 4), (150, 120), (900, 0), (905, 864), (1211, 500)]
