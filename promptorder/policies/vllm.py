"""vLLM: full blocks in a pool, the least recently used overwritten first.

A block is found by all tokens up to its end. Only full blocks are kept, and of a prompt of n tokens at most (n - 1) // block_tokens are
looked up, so that one token at least is computed. What is found leaves the queue of free blocks; what is missing takes blocks from its
head. When the request ends its blocks go back last first, full ones to the end of the queue, a partly filled one to its front. A block
that is computed again though it is held already becomes a further copy. Blocks filled by the answer are kept like the prompt's, but for the
answer's last token, which is never computed. A prompt that the pool cannot take is refused.

Source: vLLM 0.33.0, ``vllm/v1/core``: ``KVCacheManager``, ``BlockPool``; one group of full attention, requests one after another.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.errors import UsageError
from promptorder.model.trace import Cache, Cause, Served, TraceRequest
from promptorder.policies._block_queue import BlockNode, BlockQueue
from promptorder.policies._options import PolicyOptions
from promptorder.policies._radix import Ids, Trees, adopt, cause_of, descend, ids_between, with_answer

SIZE = "num_blocks"


@dataclass(frozen=True, slots=True)
class Options(PolicyOptions):
    """The engine's sizes.

    ``num_blocks``: the blocks of the pool, with the null block, which holds nothing; None: as many as wanted.
    ``block_tokens``: the tokens of a block.
    """

    num_blocks: int | None = None
    block_tokens: int = 16

    def __post_init__(self) -> None:
        if self.block_tokens < 1:
            raise ValueError("block_tokens must be 1 or more")
        if self.num_blocks is not None and self.num_blocks < 1:
            raise ValueError("num_blocks must be 1 or more, for the null block is one of them")
        if self.hash_block_tokens is not None and not _fits(self.hash_block_tokens, self.block_tokens):
            raise ValueError(_misfit(self.hash_block_tokens, self.block_tokens))


def size_unit_tokens(options: Options) -> int:
    """How many tokens a block of the pool holds."""
    return options.block_tokens


class _Vllm:
    def __init__(self, options: Options) -> None:
        self._trees = Trees(BlockNode, options.hash_block_tokens)
        self._block_tokens = options.block_tokens
        self._pool_blocks = None if options.num_blocks is None else options.num_blocks - 1
        self._held_blocks = 0
        self._queue = BlockQueue()

    def serve(self, request: TraceRequest) -> Served:
        root, ids, unit, prompt_tokens = self._trees.of(request)
        size = self._block_tokens
        if not _fits(unit, size):
            raise UsageError(
                _misfit(unit, size),
                hint="give block_tokens=N (or hash_block_tokens=N) so that one divides the other",
            )
        pool = self._pool_blocks
        path: list[BlockNode] = []
        if pool is not None and -(-prompt_tokens // size) > pool:
            seen, _ = descend(root, ids, unit, prompt_tokens, path)
            return Served(prompt_tokens, 0, seen, Cause.TOO_LONG)
        tokens = prompt_tokens
        if len(request.generated) > 1:
            ids, tokens = with_answer(request, ids, tokens)
            if pool is not None and tokens > pool * size:
                tokens = pool * size
        depth, inside = descend(root, ids, unit, tokens, path)
        if inside is not None:
            path.append(self._queue.cut(inside, depth, path[-1] if path else root, unit, size))
        usable_blocks = max(prompt_tokens - 1, 0) // size
        if pool is None:
            found_blocks = min(depth // size, usable_blocks)
            if depth < tokens:
                self._grow(path[-1] if path else root, ids, unit, tokens)
        else:
            found_blocks = self._take(root, path, ids, unit, tokens, usable_blocks)
        seen = min(depth, prompt_tokens)
        cached = found_blocks * size
        cause = cause_of(prompt_tokens, cached, seen, min(seen // size, usable_blocks) * size, Cause.EVICTION)
        return Served(prompt_tokens, cached, seen, cause)

    def _take(
        self, root: BlockNode, path: list[BlockNode], ids: Ids, unit: int, tokens: int, usable_blocks: int
    ) -> int:
        """Find what is held of a prompt, overwrite for the rest, give all back; how many blocks were found."""
        assert self._pool_blocks is not None
        size = self._block_tokens
        queue = self._queue
        held = 0
        for node in path:
            held = node.held
            if held < node.blocks:
                if not node.copies:
                    break
                held = node.blocks
        last = path[-1] if path else root
        found = held
        repeated: list[BlockNode] = []
        rest: list[BlockNode] = []
        if found > usable_blocks:
            found = usable_blocks
            path, repeated, rest = self._part(root, path, found, held, unit)
        overwritten = -(-tokens // size) - found - (self._pool_blocks - self._held_blocks)
        if overwritten > 0:
            queue.protect(path)
            queue.overwrite(overwritten)
            self._held_blocks -= overwritten
        self._held_blocks += tokens // size - found
        if last.end < tokens:
            rest.append(self._grow(last, ids, unit, tokens))
        if repeated:
            queue.hold(reversed(rest))
            for node in reversed(repeated):
                queue.hold_again(node)
        else:
            path += rest
        queue.hold(reversed(path))
        return found

    def _grow(self, parent: BlockNode, ids: Ids, unit: int, tokens: int) -> BlockNode:
        """A new node for what no earlier prompt had; none of its blocks is held yet."""
        start = parent.end
        leaf = BlockNode(ids_between(ids, unit, start, tokens), start, tokens)
        leaf.first = leaf.held = start // self._block_tokens
        leaf.blocks = tokens // self._block_tokens
        adopt(parent, leaf, unit)
        return leaf

    def _part(
        self, root: BlockNode, path: list[BlockNode], found: int, held: int, unit: int
    ) -> tuple[list[BlockNode], list[BlockNode], list[BlockNode]]:
        """A path in three: with the blocks that were found, with those held but computed again (each in its own node), the rest."""
        size = self._block_tokens
        nodes: list[BlockNode] = []
        parent = root
        for node in path:
            for at in range(size * found, size * held + 1, size):
                if node.start < at < node.end:
                    parent = self._queue.cut(node, at, parent, unit, size)
                    nodes.append(parent)
            nodes.append(node)
            parent = node
        return (
            [node for node in nodes if node.blocks <= found],
            [node for node in nodes if found < node.blocks <= held],
            [node for node in nodes if node.blocks > held],
        )


def _fits(hash_block_tokens: int, block_tokens: int) -> bool:
    return hash_block_tokens % block_tokens == 0 or block_tokens % hash_block_tokens == 0


def _misfit(hash_block_tokens: int, block_tokens: int) -> str:
    return f"blocks of {block_tokens} tokens cannot be told from hashed blocks of {hash_block_tokens}: one must divide the other"


def open_cache(options: Options) -> Cache:
    """An empty pool."""
    return _Vllm(options)
