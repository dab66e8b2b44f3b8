"""The formats that logs of requests are kept in, one file each: from a file's lines to requests. Pure.

A module defines ``SUMMARY``, what such a file is; ``HOLDS``, what it tells of a prompt (see ``Holds``);
``OWN_CLOCK``, true where the times of a file count from its own start and say nothing of other files; ``recognise(sample) ->
float``, 1 where it is sure and 0 where it sees nothing; and ``read(values, reading) -> Iterator[TraceRequest]``, which is given
each line's number and JSON object, and counts in ``reading`` what it cannot use. A format that holds lengths or a
server's own words has no ``read``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from promptorder.plugins import Registry
from promptorder.tokenizers import Tokenizer

REGISTRY = Registry("promptorder.traces", "trace format")


class Sample(NamedTuple):
    """The first lines of a file, and the JSON objects among them.

    ``is_document`` tells a JSON text that goes over several lines, or a list of objects, from an object a line.
    """

    lines: Sequence[bytes]
    objects: Sequence[dict[str, Any]]
    is_document: bool = False


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """How a trace is to be read.

    ``tokenizer`` is asked for once, and only where a file holds text. ``strict`` stops at the first line that cannot be
    used. ``form`` names the format instead of looking. ``one_id_space`` says that small block ids mean the same in all
    files, as in parts of one trace; else each file has its own. ``subagents`` takes the requests of agents that agents
    called too. Requests whose times run backwards are put in order where ``window_requests`` are enough for it.
    """

    tokenizer: Callable[[], Tokenizer] | None = None
    strict: bool = False
    form: str | None = None
    one_id_space: bool = False
    subagents: bool = False
    window_requests: int = 1024
