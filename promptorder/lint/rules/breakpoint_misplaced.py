"""A cache breakpoint stands where it cannot help.

What it does: looks at the ``cache_control`` marks of a request to Anthropic, and reports something that changes (a
clock, a date, an id, a counter, the folder or branch) in the last block of a marked stretch, more than four marks,
and a mark of one hour behind one of five minutes.

Why it costs: a stretch is found in the cache only if it is the same up to the mark, so a clock at its end spoils all
of it: it is written anew with each request, at 1.25 or 2 times the price, and never read.

Example::

    {"system": [{"type": "text", "text": "(2,000 tokens of rules) Now: 2026-03-14 09:26:53",
                 "cache_control": {"type": "ephemeral"}}], ...}

Use instead: the mark at the end of what stays, and the clock in a block behind it.

When it is fine to ignore: never.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO153"
CHANGES = "request"
SEVERITY = "warning"
WORTH = 0
TIP = "Set the mark at the end of what stays, and put what changes behind it."
_MOST = 4


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Marks of a request that cannot help."""
    if prompt.request is None:
        return
    from promptorder.forms._requests import breakpoints
    from promptorder.lint._blocks import BlockEnd, block_ends, marked_request, spoilers

    request = marked_request(prompt)
    if request is None:
        return
    marks = list(breakpoints(request.body))
    ends = block_ends(prompt, request, marks)

    def hit(at: BlockEnd, message: str) -> Hit:
        return Hit(
            at.start,
            at.end,
            at.segment,
            0,
            "never-cached",
            message=message,
            worth=0,
            stranded_tokens=at.tokens,
        )

    if len(ends) > _MOST:
        yield hit(ends[_MOST], f"this is breakpoint {_MOST + 1} of {len(ends)}; a request may have {_MOST}")
    short = next((index for index, end in enumerate(ends) if end.ttl == "5m"), len(ends))
    for end in ends[short:]:
        if end.ttl == "1h":
            yield hit(end, "a breakpoint of one hour stands behind one of five minutes, which is refused")
            break
    yield from spoilers(prompt, ends)
