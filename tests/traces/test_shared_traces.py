"""Published traces, where they lie beside the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trace_logs import opened, read

from promptorder.errors import InputError
from promptorder.model.trace import TraceRequest
from promptorder.traces import TraceOptions

TRACES = Path(__file__).parents[3] / "shared" / "traces"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="the published traces are not here")


@pytest.mark.parametrize(
    ("name", "requests", "mean"), [("conversation", 12_031, 12_035), ("synthetic", 3_993, 15_325)]
)
def test_mooncake(name: str, requests: int, mean: int) -> None:
    log = opened(str(TRACES / "mooncake-fast25" / f"{name}_trace.jsonl"))
    found = list(log.requests())
    assert len(found) == requests
    assert round(sum(each.prompt_tokens or 0 for each in found) / requests) == mean
    assert all(each.sizes(None) == (512, each.prompt_tokens) for each in found)
    assert (log.report.skipped_lines, log.report.late, log.report.remarks) == (0, 0, [])


def test_710_sessions() -> None:
    log = opened(str(TRACES / "kv-cache-tester" / "traces710.compact.jsonl.gz"))
    sessions: set[str | None] = set()
    requests = 0
    last_s = 0.0
    for each in log.requests():
        sessions.add(each.session)
        requests += 1
        assert each.at_s is not None
        assert each.at_s >= last_s
        last_s = each.at_s
    assert (len(sessions), requests, log.report.skipped_lines) == (710, 48_658, 0)


def test_sessions_as_runs_and_as_lists_are_the_same() -> None:
    """The shapes of the prompts, by which blocks each shares with the one before."""

    def shape(requests: list[TraceRequest]) -> list[tuple[int, int, float]]:
        found, before = [], requests[0]
        for each in requests:
            shared = next(
                (n for n, (a, b) in enumerate(zip(before.ids, each.ids, strict=False)) if a != b), -1
            )
            found.append((len(each.ids), shared, round((each.at_s or 0) - (requests[0].at_s or 0), 3)))
            before = each
        return found

    whole: dict[str | None, list[TraceRequest]] = {}
    wanted = {f"trace_{n}" for n in ("0022", "0128", "0601")}
    for each in opened(str(TRACES / "kv-cache-tester" / "traces710.compact.jsonl.gz")).requests():
        if each.session in wanted:
            whole.setdefault(each.session, []).append(each)
    for name in wanted:
        listed = read(str(TRACES / "kv-cache-tester" / "sample" / f"{name}.json"))
        assert shape(listed) == shape(whole[name])


@pytest.mark.parametrize("path", sorted((TRACES / "goldens").glob("*.jsonl.gz")), ids=lambda path: path.name)
def test_goldens(path: Path) -> None:
    log = opened(str(path))
    found = list(log.requests())
    assert len(found) == (200 if "065" in path.name else 400)
    assert log.report.skipped_lines == 0
    assert sum(each.observed_cached_tokens is not None for each in found) == log.report.observed > 190


@pytest.mark.parametrize(
    "path", sorted((TRACES / "dynamo-fixtures").glob("*.jsonl")), ids=lambda path: path.name
)
def test_dynamo_fixtures(path: Path) -> None:
    wanted = sum(
        "hash_ids" in line or "input_sequence_hashes" in line for line in path.read_text().splitlines()
    )
    if not wanted:
        with pytest.raises(InputError, match="nothing of what they share"):
            opened(str(path))
        return
    log = opened(str(path))
    assert len(list(log.requests())) == wanted
    assert log.report.skipped_lines == 0


@pytest.mark.parametrize(
    "path", sorted((TRACES / "azure-llm-2023").glob("*.csv")), ids=lambda path: path.name
)
def test_azure_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match="nothing of what they share"):
        opened(str(path))


@pytest.mark.parametrize(
    "path", sorted((TRACES / "llama-server-logs").glob("*.log")), ids=lambda path: path.name
)
def test_server_logs(path: Path) -> None:
    log = opened(str(path))
    assert log.holds == "server-log"
    assert list(log.log_entries())


LOGS = sorted(TRACES.parent.glob("cases-f*/l*.jsonl")) + sorted(TRACES.parent.glob("cases-f*/log-*/*.jsonl"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_logs_of_requests(path: Path) -> None:
    log = opened(str(path))
    found = list(log.requests())
    wanted = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(found) == len(wanted)
    assert log.report.skipped_lines == 0
    for request, value in zip(found, wanted, strict=True):
        assert request.session == value.get("session")
        assert request.model == value.get("request", value)["model"]
        assert len(request.ids) > 50
    assert TraceOptions().tokenizer is None
