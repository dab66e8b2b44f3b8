"""Mooncake's JSON lines and its relatives: lengths, and an id for each block of a prompt.

``timestamp`` (ms), ``input_length``, ``output_length``, ``hash_ids``: blocks of 512 tokens, as published with the paper
at FAST'25. Relatives: a header line (``dynamo.agentic_mooncake``) with the size of blocks and ``hash_id_scope`` local, ids that
mean something only within a ``play_id``; sessions whose later lines hold only what is new (``session_id`` and ``delay``); rows
with ``parent_chat_id`` (Bailian): blocks of 16 tokens, times in seconds.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from promptorder.model.trace import PUBLISHED_HASH_BLOCK_TOKENS, TraceRequest
from promptorder.traces import Sample
from promptorder.traces._envelope import count, name_of, number, shown_keys
from promptorder.traces._ids import NUMBERED_FROM
from promptorder.traces._reading import Reading

SUMMARY = "Mooncake hash ids (JSON lines)"
HOLDS = "blocks"
OWN_CLOCK = False

_BAILIAN_BLOCK_TOKENS = 16
_SIZES = (16, 32, 64, 128, 256, 1024, 2048, 4, 8)
_MOST_SESSIONS = 4096


class _Turn(NamedTuple):
    """What a session sent last: ids of its full blocks, its length with the answer, and the id it began with."""

    full: array[int]
    tokens: int
    opening: int


def recognise(sample: Sample) -> float:
    """Sure where objects have a list of hash ids, or the first one is the header."""
    found = sum(1 for each in sample.objects if _is_header(each) or type(each.get("hash_ids")) is list)
    return 0.95 if found and 2 * found >= len(sample.objects) else 0.0


def read(values: Iterable[tuple[int, dict[str, Any]]], reading: Reading) -> Iterator[TraceRequest]:
    """A request a row; what a row leaves out of a session's earlier turns is put before it."""
    path, blocks = reading.path, reading.ids.blocks
    unit, unit_s = _units(reading)
    scope: Hashable = _file_scope(reading)
    agentic = local = False
    sessions = _Sessions(reading)
    for line, row in values:
        hash_ids = row.get("hash_ids")
        if type(hash_ids) is not list:
            if _is_header(row):
                agentic, local = True, row.get("hash_id_scope") == "local"
                reading.file.other_lines += 1
            else:
                reading.skip(line, f"no hash_ids; it has {shown_keys(row)}")
            continue
        try:
            ids = blocks(hash_ids, (path, row.get("play_id")) if local else scope)
        except (ValueError, TypeError) as error:
            reading.skip(line, str(error))
            continue
        said, time = row.get("input_length"), number(row.get("timestamp"))
        request = TraceRequest(
            index=0,
            line=line,
            ids=ids,
            prompt_tokens=said if type(said) is int and said >= 0 else None,
            output_tokens=count(row.get("output_length")),
            hash_block_tokens=unit,
            at_s=None if time is None else time * unit_s,
            path=path,
        )
        if "model" in row:
            request.namespace = request.model = name_of(row)
        if "session_id" in row:
            sessions.go_on(request, str(row["session_id"]), whole=agentic or "delay" not in row)
        elif "parent_chat_id" in row:
            request.session = sessions.root(row)
        yield request


class _Sessions:
    """The sessions that were seen last."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._turns: OrderedDict[str, _Turn] = OrderedDict()
        self._roots: OrderedDict[str, str] = OrderedDict()

    def go_on(self, request: TraceRequest, name: str, *, whole: bool) -> None:
        """Name a request's session, and where it holds only what is new, put what came before in front of it.

        A row that begins like its session's first one is whole. The answer in between, and blocks that it shares, get ids that
        nothing else has.
        """
        request.session = name
        unit = request.hash_block_tokens or PUBLISHED_HASH_BLOCK_TOKENS
        before = self._turns.pop(name, None)
        ids = array("I", request.ids)
        opening = ids[0] if ids else -1
        tokens = request.prompt_tokens
        if tokens is None:
            tokens = unit * len(ids)
        if before is not None and opening != before.opening and not whole:
            tokens += before.tokens
            opening = before.opening
            ids = before.full + self._reading.ids.fresh(max(0, -(-tokens // unit) - len(before.full)))
            request.ids, request.prompt_tokens = ids, tokens
            self._reading.report.remark(
                "rows of sessions hold only what is new: earlier turns and answers were put before them"
            )
        full = ids[: tokens // unit] if -(-tokens // unit) == len(ids) else ids
        self._turns[name] = _Turn(full, tokens + (request.output_tokens or 0), opening)
        if len(self._turns) > _MOST_SESSIONS:
            self._turns.popitem(last=False)

    def root(self, row: dict[str, Any]) -> str:
        """The first chat of a chain of chats, each of which names the one before."""
        own, parent = str(row.get("chat_id")), str(row["parent_chat_id"])
        root = self._roots[own] = self._roots.get(parent, own if parent in ("-1", "None") else parent)
        if len(self._roots) > _MOST_SESSIONS:
            self._roots.popitem(last=False)
        return root


def _is_header(row: dict[str, Any]) -> bool:
    return str(row.get("schema", "")).startswith("dynamo.agentic_mooncake")


def _units(reading: Reading) -> tuple[int, float]:
    """How many tokens a block has, and how many seconds the unit of its times."""
    for row in reading.sample:
        for value in (row.get("block_size"), row.get("hash_block_tokens")):
            if type(value) is int and value > 0:
                return value, 1e-3
        if "parent_chat_id" in row:
            return _BAILIAN_BLOCK_TOKENS, 1.0
    rows = [
        (row["input_length"], len(row["hash_ids"]))
        for row in reading.sample
        if type(row.get("input_length")) is int and type(row.get("hash_ids")) is list and row["hash_ids"]
    ]
    rows = rows[:1] if any("delay" in row for row in reading.sample) else rows
    for unit in (PUBLISHED_HASH_BLOCK_TOKENS, *_SIZES):
        if all(blocks in (tokens // unit, -(-tokens // unit)) for tokens, blocks in rows):
            if unit != PUBLISHED_HASH_BLOCK_TOKENS:
                reading.report.remark(f"a hash id stands for {unit} tokens, as the prompts' lengths tell")
            return unit, 1e-3
    reading.report.remark(
        f"the lengths of prompts do not fit blocks of {PUBLISHED_HASH_BLOCK_TOKENS} tokens; "
        "hash_block_tokens of a policy says what a hash id stands for"
    )
    return PUBLISHED_HASH_BLOCK_TOKENS, 1e-3


def _file_scope(reading: Reading) -> Hashable:
    """What keeps small ids of this file apart: they were counted in it, while large ones are hashes of the text."""
    if not reading.together.several or reading.options.one_id_space:
        return None
    ids = [each for row in reading.sample if type(row.get("hash_ids")) is list for each in row["hash_ids"]]
    if any(type(each) is not int or not 0 <= each < NUMBERED_FROM for each in ids):
        return None
    reading.report.remark("each file has hash ids of its own: what different files share is not known")
    return reading.path
