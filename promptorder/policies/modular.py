"""Reuse of equal blocks wherever they stand: what lies beyond prefixes, as in Prompt Cache (MLSys 2024).

A prompt is cut at the ends of its content blocks where these are told (tools, system texts, messages), and each content block from its
own start into chunks of ``block_tokens``, the last of which may be shorter; a prompt without content blocks is one. A chunk is reused
when an equal one was read before, at whatever place and behind whatever text. So is all that an unlimited prefix cache would reuse: a token
counts when either holds. Nothing is forgotten, and no price is put on joining chunks that were not read together, which a model may feel:
it is the most that could be hoped for.

The ids of hashed blocks stand for all before them as well, so that equal blocks behind different texts cannot be told: of such a
trace it reuses what the unlimited prefix cache does. Prompt Cache reuses the modules that a schema declares; this is the same without a schema.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.model.trace import Cache, Cause, Served, TraceRequest
from promptorder.policies._options import PolicyOptions
from promptorder.policies._radix import Seen, cause_of

SIZE = None
_ID_BYTES = 4


@dataclass(frozen=True, slots=True)
class Options(PolicyOptions):
    """``block_tokens``: the tokens of a chunk."""

    block_tokens: int = 16

    def __post_init__(self) -> None:
        if self.block_tokens < 1:
            raise ValueError("block_tokens must be 1 or more")


class _Modular:
    def __init__(self, options: Options) -> None:
        self._seen = Seen(options.hash_block_tokens)
        self._chunk_bytes = _ID_BYTES * options.block_tokens
        self._chunks: dict[str, set[bytes]] = {}

    def serve(self, request: TraceRequest) -> Served:
        prompt_tokens, prefix = self._seen.read(request)
        cached = prefix
        if request.hash_block_tokens is None:
            cached += self._beyond(request, prefix)
        return Served(
            prompt_tokens, cached, cached, cause_of(prompt_tokens, cached, cached, cached, Cause.EVICTION)
        )

    def _beyond(self, request: TraceRequest, prefix_tokens: int) -> int:
        """The tokens behind the shared start that lie in chunks read before; all chunks of the prompt are noted."""
        known = self._chunks.setdefault(request.namespace, set())
        data = request.packed()
        size = self._chunk_bytes
        start_byte = _ID_BYTES * prefix_tokens
        chunks: set[bytes] = set()
        reused_bytes = 0
        start = 0
        for tokens in (*request.block_ends, len(request.ids)):
            end = _ID_BYTES * tokens
            for at in range(start, end, size):
                chunk = data[at : min(at + size, end)]
                chunks.add(chunk)
                if at + len(chunk) > start_byte and chunk in known:
                    reused_bytes += at + len(chunk) - max(at, start_byte)
            start = max(start, end)
        known |= chunks
        return reused_bytes // _ID_BYTES


def open_cache(options: Options) -> Cache:
    """An empty cache."""
    return _Modular(options)
