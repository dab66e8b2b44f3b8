"""The model was loaded again, or another one was asked.

What it does: finds requests to Ollama whose options for loading (``num_ctx``, ``num_batch``, ``num_gpu``,
``use_mmap``, ...) differ from those of the request before to the same model, ``keep_alive`` 0, and sessions that go
on with another model. Options for sampling do not matter. Another adapter (LoRA) is a note.

Why it costs: with the model its cache is gone, and loading it takes longer than most prompts.

Example::

    {"model": "qwen3:8b", "options": {"num_ctx": 8192}, ...}
    {"model": "qwen3:8b", "options": {"num_ctx": 9216}, ...}

Use instead: one ``num_ctx``, large enough for all requests, in every client of the server.

When it is fine to ignore: a person chose another model.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO211"
CHANGES = "session"
SEVERITY = "warning"
WORTH = 40
TIP = "Keep the model and the options that it is loaded with (num_ctx above all) the same in all requests."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "model-reloaded")
