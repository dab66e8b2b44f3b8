"""vLLM's pool and SGLang's tree once more, as plainly as the rules can be written: one object a block, one key a node, no cleverness.

The policies keep trees of intervals; this is what they must equal in every request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Block:
    name: tuple[int, ...] | None = None


class PlainVllm:
    """``free`` is the queue; ``found`` are the copies of each block in the order in which they came. A name is all tokens up to its end."""

    def __init__(self, num_blocks: int, size: int) -> None:
        self.free = [Block() for _ in range(num_blocks - 1)]
        self.size = size
        self.found: dict[tuple[int, ...], list[Block]] = {}

    def ask(self, prompt: Sequence[int], answer: Sequence[int] = ()) -> int:
        size = self.size
        if -(-len(prompt) // size) > len(self.free):
            return 0
        hits: list[Block] = []
        for number in range((len(prompt) - 1) // size):
            copies = self.found.get(tuple(prompt[: size * (number + 1)]))
            if not copies:
                break
            hits.append(copies[0])
        for block in hits:
            self.free.remove(block)
        whole = [*prompt, *answer[:-1]]
        mine = list(hits)
        while size * len(mine) < len(whole) and self.free:
            block = self.free.pop(0)
            if block.name is not None:
                self.found[block.name].remove(block)
                block.name = None
            mine.append(block)
        for number, block in enumerate(mine):
            if block.name is None and size * (number + 1) <= len(whole):
                block.name = tuple(whole[: size * (number + 1)])
                self.found.setdefault(block.name, []).append(block)
        mine.reverse()
        self.free = [b for b in mine if b.name is None] + self.free + [b for b in mine if b.name is not None]
        return size * len(hits)


@dataclass(eq=False)
class Leaf:
    key: list[int]
    parent: Leaf | None = None
    children: list[Leaf] = field(default_factory=list)
    used: int = 0
    locked: bool = False


class PlainSGLang:
    """Nodes with the time of their last use; to make room all leaves are looked at for the oldest."""

    def __init__(self, capacity: int | None, page: int) -> None:
        self.root = Leaf([])
        self.capacity = capacity
        self.page = page
        self.clock = 0

    def nodes(self) -> list[Leaf]:
        found, todo = [], [self.root]
        while todo:
            node = todo.pop()
            found.append(node)
            todo += node.children
        return found[1:]

    def whole_pages(self, tokens: Sequence[int]) -> list[int]:
        return list(tokens[: len(tokens) // self.page * self.page])

    def walk(self, tokens: list[int]) -> Leaf:
        """The last node of the longest start that is there; the node that it ends in is split."""
        self.clock += 1
        now, node = self.clock, self.root
        while tokens:
            for child in node.children:
                same = 0
                while same < min(len(child.key), len(tokens)) and child.key[same] == tokens[same]:
                    same += 1
                same -= same % self.page
                if same:
                    break
            else:
                return node
            child.used = now
            if same < len(child.key):
                self.clock += 1
                upper = Leaf(child.key[:same], node, [child], self.clock, child.locked)
                node.children[node.children.index(child)] = upper
                child.key, child.parent = child.key[same:], upper
                return upper
            node, tokens = child, tokens[same:]
        return node

    def path(self, node: Leaf) -> list[Leaf]:
        found = []
        while node.parent is not None:
            found.append(node)
            node = node.parent
        return found

    def insert(self, tokens: list[int]) -> Leaf:
        node = self.walk(tokens)
        rest = tokens[sum(len(each.key) for each in self.path(node)) :]
        if rest:
            self.clock += 1
            leaf = Leaf(rest, node, used=self.clock)
            node.children.append(leaf)
            return leaf
        return node

    def make_room(self, tokens: int) -> None:
        if self.capacity is None:
            return
        wanted = sum(len(node.key) for node in self.nodes()) + tokens - self.capacity
        while wanted > 0:
            leaves = [node for node in self.nodes() if not node.children and not node.locked]
            if not leaves:
                return
            oldest = min(leaves, key=lambda node: node.used)
            assert oldest.parent is not None
            oldest.parent.children.remove(oldest)
            wanted -= len(oldest.key)

    def ask(self, prompt: Sequence[int], answer: Sequence[int] = ()) -> int:
        node = self.walk(self.whole_pages(prompt[:-1]))
        locked = self.path(node)
        hits = sum(len(each.key) for each in locked)
        for each in locked:
            each.locked = True
        self.make_room(len(prompt) - hits)
        node = self.insert(self.whole_pages(prompt))
        if len(answer) > 1:
            for each in self.path(node):
                each.locked = True
            self.make_room(len(prompt) % self.page + len(answer) - 1)
            self.insert(self.whole_pages([*prompt, *answer[:-1]]))
        for each in self.nodes():
            each.locked = False
        return hits
