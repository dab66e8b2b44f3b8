"""What the prompts themselves allow to be reused, before anything is measured.

A server can reuse the longest start that a prompt shares with one it read before. Within a block that
started cold these are the block's own earlier prompts, so the expected reuse follows from the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from promptorder.model.comparison import Expectation
from promptorder.model.engine import TokenCount
from promptorder.model.prompt import Prompt
from promptorder.prefix import common_start

Count = Callable[[str], TokenCount]


class Rendered(NamedTuple):
    """A prompt as the model sees it (or the nearest that is known), and where the document stands in it."""

    text: str
    document_start: int
    document_end: int


def locate(prompt: Prompt, rendered: str | None) -> Rendered:
    """Find the document in the rendered prompt; without one, take the messages' plain text."""
    index, offset = prompt.document_start
    if rendered is not None:
        document = prompt.messages[index].text[offset : offset + prompt.document_characters].strip()
        start = rendered.find(document)
        if start >= 0:
            return Rendered(rendered, start, start + len(document))
    before = sum(len(message.text) + 1 for message in prompt.messages[:index])
    text = rendered if rendered is not None else prompt.text
    start = min(before + offset, len(text))
    return Rendered(text, start, min(start + prompt.document_characters, len(text)))


def expectations(
    block: Sequence[Rendered], count: Count, prompt_tokens: Sequence[TokenCount]
) -> list[Expectation]:
    """For each prompt of one block, in order, what it shares with the earlier ones; tokens.

    ``prompt_tokens`` are the whole prompts' counts. The shared part is counted as text, so it may be one
    token off where the first difference lies inside a token. At least one token of a prompt is always
    read: the engine needs its scores to answer.
    """
    results = []
    for number, (prompt, whole) in enumerate(zip(block, prompt_tokens, strict=True)):
        shared = max((common_start(prompt.text, earlier.text) for earlier in block[:number]), default=0)
        before, through = prompt.text[: prompt.document_start], prompt.text[: prompt.document_end]
        counts = [_count(text, prompt, whole, count) for text in (prompt.text[:shared], before, through)]
        shared_tokens, before_tokens, through_tokens = (each.tokens for each in counts)
        results.append(
            Expectation(
                prompt_tokens=whole.tokens,
                shared_tokens=min(shared_tokens, whole.tokens - 1),
                before_document_tokens=before_tokens,
                document_tokens=max(1, through_tokens - before_tokens),
                exact=whole.exact,
            )
        )
    return results


def _count(text: str, prompt: Rendered, whole: TokenCount, count: Count) -> TokenCount:
    if not text:
        return TokenCount(0, whole.exact)
    if text == prompt.text:
        return whole
    return count(text)
