"""More time passed between two requests than the cache lives.

What it does: compares the times in a log's envelopes with how long the cache is kept: Ollama's ``keep_alive`` (5
minutes by default), Anthropic's ``ttl`` (5 minutes or 1 hour), OpenAI's (an hour at most, or as
``prompt_cache_retention`` says).

Why it costs: after that the prompt is read from its first word on, however well it is built; Ollama loads the model
again too.

Example::

    {"ts": "2026-04-07T09:10:00Z", "request": {"model": "qwen3:8b", ...}}
    {"ts": "2026-04-07T09:22:10Z", "request": {"model": "qwen3:8b", ...}}

Use instead: ``"keep_alive": "30m"``.

When it is fine to ignore: nobody waits for the first answer after a pause. Gaps of a night are a note only.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO212"
CHANGES = "unknown"
SEVERITY = "warning"
WORTH = 40
TIP = "Set keep_alive (Ollama) or a longer ttl, or send a small request before the time is over."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "idle-gap")
