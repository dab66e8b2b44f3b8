"""The free blocks of a vLLM pool whose content can still be found, the next to be overwritten first.

An entry stands for the blocks of one node of the tree, or for a further copy of one block. Of a node the deepest block goes first,
so what is left of it is always a start. The queue is a linked list, since a node that is cut stays in its place in two parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from promptorder.policies._radix import Ids, Node, cut


class BlockNode(Node):
    """A node whose blocks are those that end in it: numbers ``first`` to ``blocks`` - 1 of the prompts that run through it.

    ``held`` is up to which of them the pool has the first copy. A block of which there are ``copies`` has a node of its own,
    which ends where it ends.
    """

    __slots__ = ("after", "before", "blocks", "copies", "first", "held")

    before: Entry
    after: Entry

    def __init__(self, ids: Ids, start: int, end: int) -> None:
        self.ids = ids
        self.start = start
        self.end = end
        self.children = {}
        self.first = self.blocks = self.held = 0
        self.copies: list[Copy] = _NONE


class Copy:
    """A further copy of the one block of ``node``, found only once the copies before it are gone."""

    __slots__ = ("after", "before", "node")

    before: Entry
    after: Entry

    def __init__(self, node: BlockNode) -> None:
        self.node = node


class _End:
    """Where the queue begins and ends."""

    __slots__ = ("after", "before")

    before: Entry
    after: Entry


Entry: TypeAlias = BlockNode | Copy | _End
_NONE: list[Copy] = []  # of all nodes without copies


class BlockQueue:
    """All blocks of the pool whose content can be found; between two requests each of them is free."""

    def __init__(self) -> None:
        self._end = _End()
        self._end.before = self._end.after = self._end

    def hold(self, nodes: Iterable[BlockNode]) -> None:
        """Put nodes at the end, one after another, with all their blocks held."""
        end = self._end
        for node in nodes:
            blocks = node.blocks
            if blocks == node.first:
                continue
            if node.held > node.first:
                after = node.after
                if after is end:
                    node.held = blocks
                    continue
                before = node.before
                before.after = after
                after.before = before
            elif node.copies:
                _remove(node.copies.pop(0))
            node.held = blocks
            last = end.before
            last.after = end.before = node
            node.before = last
            node.after = end

    def hold_again(self, node: BlockNode) -> None:
        """Hold the one block of a node once more than it is held; it may have been overwritten just now, or there is none."""
        if node.held > node.first or node.copies:
            copy = Copy(node)
            node.copies = [*node.copies, copy]
            self._append(copy)
        else:
            self.hold((node,))

    def protect(self, nodes: Iterable[BlockNode]) -> None:
        """Put at the end what nodes hold, out of reach of ``overwrite``."""
        for node in nodes:
            if node.held > node.first:
                _remove(node)
                self._append(node)
            elif node.copies:
                self.hold((node,))

    def overwrite(self, blocks: int) -> None:
        """Take that many blocks from the head of the queue; there must be as many."""
        end = self._end
        while blocks > 0:
            entry = end.after
            if isinstance(entry, BlockNode):
                held = entry.held - entry.first
                if held > blocks:
                    entry.held -= blocks
                    return
                entry.held = entry.first
                blocks -= held
            else:
                assert isinstance(entry, Copy)
                entry.node.copies.remove(entry)
                blocks -= 1
            _remove(entry)

    def cut(self, node: BlockNode, at: int, parent: Node, unit: int, block_tokens: int) -> BlockNode:
        """The part of ``node`` up to ``at`` tokens, a node of its own between it and its parent; each block keeps its place."""
        upper = BlockNode(node.ids, node.start, at)
        cut(node, upper, parent, unit)
        blocks = at // block_tokens
        upper.first = upper.held = node.first
        node.first = upper.blocks = blocks
        if node.held > upper.first and blocks > upper.first:
            upper.held = min(node.held, blocks)
            after = node.after
            node.after = after.before = upper
            upper.before, upper.after = node, after
            if node.held <= blocks:
                _remove(node)
        node.held = max(node.held, blocks)
        return upper

    def _append(self, entry: BlockNode | Copy) -> None:
        end = self._end
        last = end.before
        last.after = end.before = entry
        entry.before = last
        entry.after = end


def _remove(entry: Entry) -> None:
    before, after = entry.before, entry.after
    before.after = after
    after.before = before
