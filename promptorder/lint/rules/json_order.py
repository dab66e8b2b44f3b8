"""The same JSON comes with its keys in another order.

What it does: finds JSON in the prompt, in a tool or in the arguments of an earlier call that is equal to that of the
earlier request but for the order of its keys.

Why it costs: to the model it is another text, and everything behind the first key that moved is read again. Maps of
Go, Rust and Swift have another order each time; a database's jsonb forgets the order.

Example::

    Facts: {"south": 5, "west": 6}
    Facts: {"west": 6, "south": 5}

Use instead: ``json.dumps(facts, sort_keys=True)``.

When it is fine to ignore: never.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO204"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Write JSON with sorted keys (sort_keys=True), or keep the text that was sent first."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "json-order")
