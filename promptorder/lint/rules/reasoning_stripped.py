"""The thoughts of an earlier turn are missing when it is sent again.

What it does: finds turns of the assistant that were sent with thoughts (``<think>`` blocks, ``thinking``,
``reasoning_content``) in one request and without in the next, or the other way round.

Why it costs: the server has read the thoughts; without them the text is another one from there on.

Example::

    assistant: <think>greet briefly</think>Hello.
    assistant: Hello.

Use instead: the same in each request, with thoughts or without.

When it is fine to ignore: the model's template leaves earlier thoughts out anyway, and the turns are short.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO209"
CHANGES = "turn"
SEVERITY = "warning"
WORTH = 40
TIP = "Send the thoughts back as they came, or never let them into the history."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "reasoning-stripped")
