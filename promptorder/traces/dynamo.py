"""Dynamo's request traces (``dynamo.request.trace.v1``): a line an event, hashes of a prompt's blocks where one ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from promptorder.model.trace import PUBLISHED_HASH_BLOCK_TOKENS, TraceRequest
from promptorder.traces import Sample
from promptorder.traces._envelope import count, name_of, number
from promptorder.traces._reading import Reading

SUMMARY = "Dynamo request trace (JSON lines)"
HOLDS = "blocks"
OWN_CLOCK = False


def recognise(sample: Sample) -> float:
    """Sure where any of the first objects names the schema."""
    return 1.0 if any(_is_event(each) for each in sample.objects) else 0.0


def read(values: Iterable[tuple[int, dict[str, Any]]], reading: Reading) -> Iterator[TraceRequest]:
    """A request for each that ended; what else happened is passed over."""
    for line, event in values:
        request = event.get("request")
        if event.get("event_type") != "request_end" or not isinstance(request, dict):
            reading.file.other_lines += 1
            continue
        replay = request.get("replay")
        hashes = replay.get("input_sequence_hashes") if isinstance(replay, dict) else None
        if not isinstance(replay, dict) or not isinstance(hashes, list):
            reading.skip(line, "the request was traced without replay, so without hashes of its blocks")
            continue
        try:
            ids = reading.ids.blocks(hashes)
        except ValueError as error:
            reading.skip(line, str(error))
            continue
        agent = event.get("agent_context")
        session = agent.get("session_id") if isinstance(agent, dict) else None
        received_ms = number(request.get("request_received_ms", event.get("event_time_unix_ms")))
        model = name_of(request)
        yield TraceRequest(
            index=0,
            line=line,
            ids=ids,
            prompt_tokens=count(replay.get("input_length")),
            output_tokens=count(request.get("output_tokens")),
            hash_block_tokens=count(replay.get("trace_block_size")) or PUBLISHED_HASH_BLOCK_TOKENS,
            at_s=None if received_ms is None else received_ms / 1e3,
            namespace=model,
            session=session if isinstance(session, str) else None,
            model=model,
            observed_cached_tokens=count(request.get("cached_tokens")),
            path=reading.path,
        )


def _is_event(value: dict[str, Any]) -> bool:
    return str(value.get("schema", "")).startswith("dynamo.request.trace")
