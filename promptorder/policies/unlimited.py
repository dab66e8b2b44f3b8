"""An unlimited prefix cache: the most that any engine which reuses starts of prompts could reuse of a trace.

Exact by the token for token ids; by the id for hashed blocks, the partly filled last one with them. Nothing is
held back: all of a prompt that was read before counts, also the last token, which an engine would compute again.
With ``lifetime_s`` a token is forgotten when it was not read for longer; a read begins its time anew. A request
without a time is taken to come with the one before it.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.model.trace import Cache, Cause, Served, TraceRequest
from promptorder.policies._options import PolicyOptions
from promptorder.policies._radix import (
    Ids,
    Node,
    Seen,
    Trees,
    adopt,
    cause_of,
    cut,
    descend,
    ids_between,
    with_answer,
)

SIZE = None


@dataclass(frozen=True, slots=True)
class Options(PolicyOptions):
    """What is kept and how it is counted.

    ``lifetime_s``: how long without a read; None: for ever. ``block_tokens``: only whole blocks of so many tokens are reused.
    """

    lifetime_s: float | None = None
    block_tokens: int = 1

    def __post_init__(self) -> None:
        if self.block_tokens < 1:
            raise ValueError("block_tokens must be 1 or more")


class _Unlimited:
    def __init__(self, options: Options) -> None:
        self._seen = Seen(options.hash_block_tokens)
        self._block_tokens = options.block_tokens

    def serve(self, request: TraceRequest) -> Served:
        prompt_tokens, seen = self._seen.read(request)
        cached = seen - seen % self._block_tokens
        return Served(
            prompt_tokens, cached, seen, cause_of(prompt_tokens, cached, seen, cached, Cause.LIFETIME)
        )


class _TimedNode(Node):
    """A node with the time at which all of it was last read."""

    __slots__ = ("read_at_s",)

    def __init__(self, ids: Ids, start: int, end: int) -> None:
        super().__init__(ids, start, end)
        self.read_at_s = float("-inf")


class _Timed:
    def __init__(self, options: Options) -> None:
        assert options.lifetime_s is not None
        self._trees = Trees(_TimedNode, options.hash_block_tokens)
        self._block_tokens = options.block_tokens
        self._lifetime_s = options.lifetime_s
        self._now_s = 0.0

    def serve(self, request: TraceRequest) -> Served:
        root, ids, unit, prompt_tokens = self._trees.of(request)
        tokens = prompt_tokens
        if len(request.generated) > 1:
            ids, tokens = with_answer(request, ids, tokens)
        now = self._now_s = self._now_s if request.at_s is None else request.at_s
        path: list[_TimedNode] = []
        depth, inside = descend(root, ids, unit, tokens, path)
        if inside is not None:
            upper = _TimedNode(ids, inside.start, depth)
            cut(inside, upper, path[-1] if path else root, unit)
            upper.read_at_s = inside.read_at_s
            path.append(upper)
        oldest = now - self._lifetime_s
        alive = 0
        for node in path:
            if node.read_at_s < oldest:
                break
            alive = node.end
        if depth < tokens:
            leaf = _TimedNode(ids_between(ids, unit, depth, tokens), depth, tokens)
            adopt(path[-1] if path else root, leaf, unit)
            path.append(leaf)
        for node in path:
            node.read_at_s = now
        block = self._block_tokens
        seen = min(depth, prompt_tokens)
        cached = min(alive, prompt_tokens)
        cached -= cached % block
        return Served(
            prompt_tokens,
            cached,
            seen,
            cause_of(prompt_tokens, cached, seen, seen - seen % block, Cause.LIFETIME),
        )


def open_cache(options: Options) -> Cache:
    """An empty cache."""
    return _Unlimited(options) if options.lifetime_s is None else _Timed(options)
