"""The key of the cache is another one in each request.

What it does: finds requests of one session, or of one chat that goes on, with another ``prompt_cache_key`` (OpenAI),
``cache_salt`` (vLLM) or ``extra_key`` (SGLang).

It also finds Anthropic's marks whose ``ttl`` changed, since each of the two has an entry of its own.

Why it costs: the key decides which machine, or which part of the cache, a request is sent to. With a new one nothing
is found there.

Example::

    {"prompt_cache_key": "k-1b9d6bcd", "messages": [...]}
    {"prompt_cache_key": "k-110ec58a", "messages": [...]}

Use instead: the session's id, or the name and version of the prompt.

When it is fine to ignore: the salt keeps users apart on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO213"
CHANGES = "request"
SEVERITY = "warning"
WORTH = 40
TIP = "Use one key for all requests that share their start: of the program, or of the session."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "cache-key-changed")
