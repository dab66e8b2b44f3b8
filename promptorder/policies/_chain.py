"""A prompt as the chain of its content blocks: what services that cache up to marks compare."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

from promptorder.model.trace import TraceRequest


class Chain(NamedTuple):
    """The blocks of a prompt: ``keys[i]`` stands for all that is read up to the end of block i, which is at ``ends[i]`` tokens."""

    keys: list[bytes | tuple[str, int]]
    ends: list[int]


def chain_of(request: TraceRequest, hash_block_tokens: int | None) -> Chain:
    """The chain of a request's content blocks, of one block where none is told, or of a trace's hashed blocks.

    What parts only the messages' cache (``messages_key``) enters at the first message.
    """
    unit, prompt_tokens = request.sizes(hash_block_tokens)
    if request.hash_block_tokens is not None:
        # An id already stands for all before it.
        ends = [min(unit * (number + 1), prompt_tokens) for number in range(len(request.ids))]
        return Chain([(request.namespace, each) for each in request.ids], ends)
    data = request.packed()
    ends = list(request.block_ends) or [prompt_tokens]
    keys: list[bytes | tuple[str, int]] = []
    key = request.namespace.encode()
    start = 0
    for number, end in enumerate(ends):
        block = blake2b(data[4 * start : 4 * end], digest_size=16, key=blake2b(key, digest_size=16).digest())
        if number == request.messages_from:
            block.update(request.messages_key.encode())
        key = block.digest()
        keys.append(key)
        start = end
    return Chain(keys, ends)


def seen_blocks(chain: Chain, seen: set[bytes | tuple[str, int]]) -> int:
    """How many blocks from the start were read before; all of them are noted as read."""
    keys = chain.keys
    low, high = 0, len(keys)
    while low < high:  # whoever read a block has read all before it
        middle = (low + high) // 2
        if keys[middle] in seen:
            low = middle + 1
        else:
            high = middle
    seen.update(keys[low:])
    return low
