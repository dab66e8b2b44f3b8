"""The blocks of a request that carry a cache breakpoint: where each ends, and how much stands in front of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from promptorder.forms._requests import ANTHROPIC, Breakpoint, Request
from promptorder.lint._context import Around
from promptorder.lint._stranded import estimate_tokens
from promptorder.lint.engine import stranded
from promptorder.model.lint import STATIC, Hit, Prompt

_WORTH_TOKENS = 40
_VOLATILE = ("timestamp", "date", "request-id", "counter", "environment")


class BlockEnd(NamedTuple):
    """A breakpoint: its block's place in the file, its last segment, the tokens up to there."""

    start: int
    end: int
    segment: int
    tokens: int
    ttl: str
    in_chat: bool


def marked_request(prompt: Prompt) -> Request | None:
    """The request of a prompt where its provider caches up to breakpoints."""
    request = prompt.request
    return request if isinstance(request, Request) and request.provider == ANTHROPIC else None


def block_ends(prompt: Prompt, request: Request, marks: Sequence[Breakpoint]) -> list[BlockEnd]:
    """The breakpoints in the order of the blocks; one on the request itself is at the end of the last block."""
    tokens = 0
    up_to: list[int] = []
    for segment in prompt.segments:
        tokens += estimate_tokens(segment.text)
        up_to.append(tokens)
    found = []
    for mark in marks:
        inside = [i for i, part in enumerate(request.parts) if part.path[: len(mark.path)] == mark.path]
        last = request.first[inside[-1] + 1] - 1 if inside else -1
        if last < 0:
            continue
        first = request.first[inside[0]] if mark.path else last
        place = prompt.segments[min(first, last)]
        in_chat = request.parts[inside[-1]].role not in ("tools", "schema", "system")
        found.append(BlockEnd(place.start, place.end, last, up_to[last], mark.ttl, in_chat))
    return found


def spoilers(prompt: Prompt, ends: Sequence[BlockEnd]) -> Iterator[Hit]:
    """What changes in front of the first breakpoint with little behind it: a rule for the value itself is silent there."""
    for index in range(ends[0].segment + 1 if ends else 0):
        segment = prompt.segments[index]
        if segment.origin != STATIC or segment.role not in ("system", "tools"):
            continue
        for start, stop in _values(segment.text):
            lost = stranded(prompt, index, stop)
            if lost.tokens >= _WORTH_TOKENS or lost.history:
                return  # the value is reported where it stands
            yield Hit(
                segment.place(start),
                segment.place(stop - 1) + 1,
                index,
                stop,
                message=(
                    f"{' '.join(segment.text[start:stop].split())} changes, and stands before a cache breakpoint: "
                    f"the about {ends[0].tokens:,} tokens up to there are written anew with each request and never read"
                ),
                worth=0,
                stranded_tokens=ends[0].tokens,
            )
            return


def _values(text: str) -> Iterator[tuple[int, int]]:
    from promptorder.lint.registry import REGISTRY

    around = Around(text)
    for name in _VOLATILE:
        for found in REGISTRY.load(name).literals(text, around):
            yield found.start, found.end
