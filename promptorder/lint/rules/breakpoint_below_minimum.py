"""A cache breakpoint stands where too little text is in front of it.

What it does: estimates the tokens up to each ``cache_control`` mark of a request to Anthropic, and compares them with
the least that the model caches (512 to 4,096 tokens, by model).

Why it costs: below the minimum nothing is cached, and no error says so.

Example::

    {"model": "claude-haiku-4-5", "system": [{"type": "text", "text": "You name shelf numbers.",
                                              "cache_control": {"type": "ephemeral"}}], ...}

Use instead: mark a later block, such as the newest message, so that the chat is cached as soon as it is long enough;
or no mark.

When it is fine to ignore: the text will grow.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO152"
CHANGES = "never-cached"
SEVERITY = "warning"
WORTH = 0
TIP = "Mark a later block, or leave the mark out: the model caches nothing this short."
_SURE = 0.85
"""An estimate of tokens is up to 15 % off."""


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Breakpoints of a request with too little in front of them."""
    if prompt.request is None:
        return
    from promptorder.forms._requests import breakpoints
    from promptorder.lint._blocks import block_ends, marked_request
    from promptorder.providers import anthropic_minimum_tokens

    request = marked_request(prompt)
    if request is None:
        return
    least = anthropic_minimum_tokens(str(request.body.get("model", "")))
    ends = block_ends(prompt, request, list(breakpoints(request.body)))
    marked = [end for end in ends if end.tokens < least * _SURE]
    if not marked:
        return
    worst = marked[-1]
    # The chat's own marks move on with it, and a mark behind it caches this text too.
    note = worst.in_chat or len(marked) < len(ends)
    yield Hit(
        worst.start,
        worst.end,
        worst.segment,
        0,
        message=(
            f"only about {worst.tokens:,} tokens stand up to the end of this cached block, and the model caches "
            f"none below {least:,}: it is never cached"
        ),
        severity="info" if note else "",
        worth=0,
        stranded_tokens=worst.tokens,
    )
