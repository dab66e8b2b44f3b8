"""A system message comes after turns of the chat.

What it does: finds messages of the role system (or developer) behind an answer of the assistant, in requests and
logs. Servers and templates that gather system messages put them in front of the chat: Ollama's templates with
``.System``, and gateways that translate to Anthropic's interface. OpenAI leaves them in their place; there it is a
note only.

Why it costs: each late message makes the head of the prompt another one, so the whole chat is read again.

Example::

    system: You are a careful helper.
    user: Fix the build.
    assistant: Looking.
    system: 48123 tokens left.

Use instead: put it into the newest user message.

When it is fine to ignore: the model's template ranges over the messages and leaves each in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint._logged import logged
from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO151"
CHANGES = "turn"
SEVERITY = "warning"
WORTH = 0
TIP = "Put it into the newest user message; servers may move system messages in front of the chat."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """Late system messages of a request, or of a log's requests."""
    if prompt.request is None:
        return
    yield from logged(prompt, "late-system")
    from promptorder.forms._requests import OPENAI, Request, late_systems
    from promptorder.lint._stranded import estimate_tokens

    request = prompt.request
    if not isinstance(request, Request):
        return
    for index in late_systems(request.parts):
        first = request.first[index]
        if first == request.first[index + 1]:
            continue
        place = prompt.segments[first]
        turns = [
            segment
            for part, start in zip(request.parts, request.first, strict=False)
            if part.role in ("user", "assistant", "history")
            for segment in prompt.segments[start : start + 1]
            if start < first
        ]
        tokens = sum(estimate_tokens(segment.text) for segment in turns)
        last = prompt.segments[request.first[index + 1] - 1]
        yield Hit(
            place.start,
            last.end,
            first,
            len(place.text),
            confidence="medium",
            message=(
                "this system message comes after the chat began: servers that gather system messages in front "
                f"read the chat before it (about {tokens:,} tokens) again"
            ),
            severity="info" if request.provider == OPENAI else "",
            worth=0,
            related=((turns[0].start, turns[-1].end, "the turns that it would move away"),) if turns else (),
            stranded_tokens=tokens,
        )
        return  # the first says it
