"""Recorded sessions of coding agents (kv-cache-tester): a JSON object a session, its requests with ids of 64-token blocks.

The ids, as ``hash_ids`` or as ``runs`` of ``[first, how many]``, count full blocks and mean something only within their
session; times count from its start. So sessions are replayed one after another.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from promptorder.model.trace import TraceRequest
from promptorder.prefix import common_start
from promptorder.traces import Sample
from promptorder.traces._envelope import count, name_of, number
from promptorder.traces._reading import Reading

SUMMARY = "sessions of coding agents"
HOLDS = "blocks"
OWN_CLOCK = True

_BLOCK_TOKENS = 64
_MOST_BLOCKS = 1 << 26
"""Of one session, so that a broken number does not take all memory."""


def recognise(sample: Sample) -> float:
    """Sure where an object has requests and the size of their blocks."""
    found = [each for each in sample.objects if type(each.get("requests")) is list]
    return 0.95 if any("block_size" in each or "hash_id_scope" in each for each in found) else 0.0


def read(values: Iterable[tuple[int, dict[str, Any]]], reading: Reading) -> Iterator[TraceRequest]:
    """The requests of each session in its own order, behind those of the session before."""
    for line, session in values:
        requests = session.get("requests")
        if type(requests) is not list:
            reading.skip(line, "no list of requests")
            continue
        yield from _Session(line, session, reading).requests(requests)


class _Session:
    def __init__(self, line: int, value: dict[str, Any], reading: Reading) -> None:
        self._line, self._reading = line, reading
        self._name = str(value.get("id", f"{reading.path}:{line}"))
        self._unit = count(value.get("block_size")) or _BLOCK_TOKENS
        self._blocks = array("I")
        self._list: list[Any] = []
        self._before = array("I")
        self._broken = 0

    def requests(self, values: list[Any]) -> Iterator[TraceRequest]:
        """Requests by their time, and behind them the session's clock is set forward."""
        found = sorted(self._flat(values, 0.0, self._name), key=lambda each: each[0])
        largest = max((_largest(value) for _, _, value in found), default=-1)
        if largest >= _MOST_BLOCKS:
            self._reading.skip(self._line, f"a block's id is {largest:,}")
            return
        start = self._reading.ids.reserve(largest + 1)
        self._blocks = array("I", range(start, start + largest + 1))
        together = self._reading.together
        opened_s = last_s = together.clock_s
        for at_s, session, value in found:
            try:
                ids = self._ids(value)
            except (TypeError, ValueError, IndexError):
                self._broken += 1
                continue
            last_s = max(last_s, opened_s + at_s)
            model = name_of(value)
            yield TraceRequest(
                index=0,
                line=self._line,
                ids=ids,
                prompt_tokens=count(value.get("in")),
                output_tokens=count(value.get("out")),
                hash_block_tokens=self._unit,
                at_s=opened_s + at_s,
                namespace=model,
                session=session,
                model=model,
                path=self._reading.path,
            )
        together.clock_s = last_s
        self._reading.report.remark("sessions tell no common clock: they follow one another")
        if self._broken:
            self._reading.skip(
                self._line, f"{self._broken} requests of the session have no list of block ids"
            )

    def _flat(
        self, values: list[Any], start_s: float, name: str
    ) -> Iterator[tuple[float, str, dict[str, Any]]]:
        last_s = start_s
        for value in values:
            if type(value) is not dict:
                self._broken += 1
                continue
            said_s = number(value.get("t"))
            at_s = start_s + said_s if said_s is not None and said_s >= 0 else last_s
            last_s = at_s
            inside = value.get("requests")
            if type(inside) is not list:
                yield at_s, name, value
            elif self._reading.options.subagents:
                yield from self._flat(inside, at_s, f"{name}/{value.get('agent_id', len(name))}")
            else:
                self._reading.report.remark("requests of agents that an agent called are left out")

    def _ids(self, value: dict[str, Any]) -> array[int]:
        runs = value.get("runs")
        if type(runs) is list:
            ids = array("I")
            for first, size in runs:
                if first < 0 or size < 0:
                    raise ValueError
                ids += self._blocks[first : first + size]
            return ids
        listed = value["hash_ids"] if type(value.get("hash_ids")) is list else None
        if listed is None:
            raise ValueError
        # Most of it is what the request before began with, and lists compare in C.
        shared = common_start(self._list, listed)
        blocks = self._blocks
        ids = self._before[:shared]
        for each in listed[shared:]:
            if each < 0:
                raise ValueError
            ids.append(blocks[each])
        self._list, self._before = listed, ids
        return ids


def _largest(value: dict[str, Any]) -> int:
    """The largest block id that a request names, -1 where none does."""
    try:
        runs = value.get("runs")
        if type(runs) is list:
            return max((int(first) + int(size) - 1 for first, size in runs), default=-1)
        return max(map(int, value.get("hash_ids") or ()), default=-1)
    except (TypeError, ValueError, OverflowError):
        return -1
