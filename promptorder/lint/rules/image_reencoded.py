"""The same picture comes in other bytes.

What it does: finds a picture of an earlier turn that is another one when the turn is sent again: encoded or scaled
anew, or under a link that is signed anew.

Why it costs: servers know a picture by its bytes, so the picture and all behind it are read again, and pictures are
dear.

Example::

    {"role": "user", "content": "What is this?", "images": ["/9j/4AAQ..."]}
    {"role": "user", "content": "What is this?", "images": ["iVBORw0K..."]}

Use instead: encode once, and keep the result beside the message.

When it is fine to ignore: it is another picture.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO210"
CHANGES = "turn"
SEVERITY = "warning"
WORTH = 40
TIP = "Keep the bytes of a picture that was sent, and send the same again."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Requests of a log that lost by it."""
    yield from logged(prompt, "image-reencoded")
