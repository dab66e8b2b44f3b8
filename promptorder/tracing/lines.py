"""``--per-request``: a line for each request and policy."""

from __future__ import annotations

from typing import IO

from promptorder.model.trace import Served
from promptorder.tracing.watch import Write


def writer(file: IO[str]) -> Write:
    """What writes a JSON line of each answer into ``file``."""
    write = file.write

    def written(number: int, index: int, served: Served) -> None:
        # Causes are words of our own: nothing in a line needs escaping.
        write(
            f'{{"policy": {number}, "index": {index}, "prompt_tokens": {served.prompt_tokens}, '
            f'"cached_tokens": {served.cached_tokens}, "cause": "{served.cause.value}"}}\n'
        )

    return written
