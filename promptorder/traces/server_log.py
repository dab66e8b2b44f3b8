"""Logs that llama-server and Ollama write themselves: what was really reused of each prompt, and nothing of its text.

``promptorder.serverlog`` reads them; there is nothing in them to replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import loads

from promptorder.serverlog import recognise as dialect_of
from promptorder.traces import Sample

SUMMARY = "log of llama-server or Ollama"
HOLDS = "server-log"
OWN_CLOCK = False


def recognise(sample: Sample) -> float:
    """Less sure than the formats of requests, for these log lines as JSON too."""
    return 0.6 if dialect_of(list(unwrapped(sample.lines))) else 0.0


def unwrapped(lines: Iterable[bytes]) -> Iterator[str | bytes]:
    """The lines, out of the objects in which Docker's files keep them where they are in such."""
    for line in lines:
        if line.startswith(b'{"log":'):
            try:
                yield str(loads(line)["log"])
                continue
            except (ValueError, RecursionError):
                pass
        yield line
