"""Model servers' own logs, one dialect a file: what really was reused.

``read_log(lines)`` yields the prompts in the order in which the server began them (``LoggedRequest``), and between them
what happened to the caches (``LoggedChange``); ``recognise(lines)`` names the dialect of a file's first lines::

    for entry in read_log(open("server.log", "rb")):
        if isinstance(entry, LoggedRequest):
            print(entry.prompt_tokens, entry.cached_tokens, entry.why)

All dialects listen at once, so that one file may hold the logs of several servers. Lines may be text or bytes,
whole or cut; what is not understood is passed over, and nothing raises. Memory does not grow with the file. Requests
are kept apart by slot and task: two processes that use the same numbers at the same moment cannot be told apart.

A dialect is a module with ``SUMMARY``, ``recognise(lines) -> float`` (1 where it is sure, 0 where it sees nothing) and
``Reader``, which is made with a Ledger and gets every line: ``read(number, line)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from promptorder.model.serverlog import CacheChange, LogEntry, LoggedChange, LoggedRequest, SlotChoice
from promptorder.plugins import Registry
from promptorder.serverlog._ledger import Ledger

REGISTRY = Registry("promptorder.serverlog", "dialect of server logs")

__all__ = [
    "REGISTRY",
    "CacheChange",
    "LogEntry",
    "LoggedChange",
    "LoggedRequest",
    "SlotChoice",
    "read_log",
    "recognise",
]

_LONGEST_LINE = 4000
"""A debug log holds whole prompts in a line; what is looked for stands at the start of one."""


def read_log(lines: Iterable[str | bytes]) -> Iterator[LogEntry]:
    """Prompts and changes of the caches, in the order of the lines where they begin; never raises of itself."""
    ledger = Ledger()
    readers = [module.Reader(ledger).read for module in REGISTRY.load_all().values()]
    for number, line in enumerate(lines, start=1):
        text = _text(line)
        for read in readers:
            read(number, text)
        if ledger.waiting:
            yield from ledger.finished()
    yield from ledger.rest()


def recognise(lines: Sequence[str | bytes]) -> str | None:
    """The dialect of these lines, the first some hundred of a file, or None for what is no server's log."""
    texts = [_text(line) for line in lines]
    sure = {name: module.recognise(texts) for name, module in REGISTRY.load_all().items()}
    best = max(sure, key=lambda name: sure[name])
    return best if sure[best] > 0 else None


def _text(line: str | bytes) -> str:
    cut = line[:_LONGEST_LINE]
    return cut if isinstance(cut, str) else cut.decode("utf-8", "replace")
