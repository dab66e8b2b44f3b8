"""SGLang: a radix tree of prompts in whole pages, of which whole leaves go, the least recently used first.

Of a prompt of n tokens the first n - 1 are looked up, in whole pages; where that ends inside a node, the node is cut there, and its lower part
counts as used too. What was found is locked, room is made for the rest, and all whole pages of the prompt are kept. Room is
made by leaf nodes: to be short of one token may cost a long one; a node whose last child has gone is a leaf. An answer is kept in the
same way, in a node of its own, but for its last token, which is never computed. As in the engine's cache, on its own, a prompt longer than
the capacity is let in all the same.

Source: SGLang 0.5.23, ``sglang/srt/mem_cache/radix_cache.py``, eviction policy lru; requests one after another, prompts in one piece.
"""

from __future__ import annotations

from collections import OrderedDict
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

SIZE = "capacity_tokens"


@dataclass(frozen=True, slots=True)
class Options(PolicyOptions):
    """The engine's sizes.

    ``capacity_tokens``: what the tree may hold; None: as much as wanted. ``page_tokens``: the tokens of a page.
    """

    capacity_tokens: int | None = None
    page_tokens: int = 1

    def __post_init__(self) -> None:
        if self.page_tokens < 1:
            raise ValueError("page_tokens must be 1 or more")


def size_unit_tokens(options: Options) -> int:
    """The capacity is told in tokens."""
    return 1


class _Leaf(Node):
    """A node that knows where it hangs, so that it can go."""

    __slots__ = ("key", "parent")

    key: int | bytes
    parent: _Leaf


class _SGLang:
    """``_used`` holds all nodes, the least recently used first, and each before its parent: the first is always a leaf."""

    def __init__(self, options: Options) -> None:
        self._trees = Trees(_Leaf, options.hash_block_tokens)
        self._seen = Seen(options.hash_block_tokens)
        self._page_tokens = options.page_tokens
        self._capacity_tokens = options.capacity_tokens
        self._held_tokens = 0
        self._used: OrderedDict[_Leaf, None] = OrderedDict()

    def serve(self, request: TraceRequest) -> Served:
        page = self._page_tokens
        _, seen = self._seen.read(request)
        root, ids, unit, prompt_tokens = self._trees.of(request)
        usable = max(prompt_tokens - 1, 0) // page * page
        path = [root]
        cached = self._follow(path, ids, unit, usable)
        self._make_room(path, prompt_tokens - cached)
        self._insert(path, ids, unit, prompt_tokens // page * page)
        if len(request.generated) > 1:
            ids, tokens = with_answer(request, ids, prompt_tokens)
            self._make_room(path, tokens - prompt_tokens // page * page)
            self._insert(path, ids, unit, tokens // page * page)
        reusable = min(seen // page * page, usable)
        cause = cause_of(prompt_tokens, cached, seen, reusable, Cause.EVICTION)
        return Served(prompt_tokens, cached, seen, cause)

    def _follow(self, path: list[_Leaf], ids: Ids, unit: int, tokens: int) -> int:
        """Lengthen ``path`` as far as the tree has the prompt; how far that is."""
        page = self._page_tokens
        depth, inside = descend(path[-1], ids, unit, tokens, path, page)
        if inside is not None:
            upper = _Leaf(ids, inside.start, depth)
            cut(inside, upper, inside.parent, unit, page)
            upper.parent, upper.key = inside.parent, inside.key
            inside.parent, inside.key = upper, next(iter(upper.children))
            self._used.move_to_end(inside)
            self._used[upper] = None
            path.append(upper)
        return depth

    def _insert(self, path: list[_Leaf], ids: Ids, unit: int, tokens: int) -> None:
        """Keep a prompt up to ``tokens``; its nodes are the most recently used then."""
        used = self._used
        depth = self._follow(path, ids, unit, tokens)
        if depth < tokens:
            leaf = _Leaf(ids_between(ids, unit, depth, tokens), depth, tokens)
            leaf.parent = path[-1]
            leaf.key = adopt(leaf.parent, leaf, unit, self._page_tokens)
            self._held_tokens += tokens - depth
            used[leaf] = None
            path.append(leaf)
        self._use(path)

    def _use(self, path: list[_Leaf]) -> None:
        move = self._used.move_to_end
        for place in range(len(path) - 1, 0, -1):
            move(path[place])

    def _make_room(self, path: list[_Leaf], tokens: int) -> None:
        """Let leaves go until ``tokens`` more fit, or nothing is left but the path."""
        if self._capacity_tokens is None or self._held_tokens + tokens <= self._capacity_tokens:
            return
        self._use(path)
        used = self._used
        wanted = self._held_tokens + tokens - self._capacity_tokens
        locked = path[-1]
        while wanted > 0 and used:
            leaf = next(iter(used))
            if leaf is locked:
                break
            del used[leaf]
            del leaf.parent.children[leaf.key]
            gone = leaf.end - leaf.start
            self._held_tokens -= gone
            wanted -= gone


def open_cache(options: Options) -> Cache:
    """An empty tree."""
    return _SGLang(options)
