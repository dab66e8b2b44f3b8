"""Encoding many texts that repeat most of each other, as the requests of a log do: pieces are remembered."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from promptorder.tokenizers import Fragmenting, Tokenizer
from promptorder.tokenizers.byte_bpe import little_endian

_COST_BYTES = 200
"""What a remembered piece takes beside its characters and ids: two objects and a place in a table."""


class ChunkedEncoder:
    """``packed`` of a tokenizer, with a memory of at most about ``memory_bytes``.

    Pieces are those of ``Fragmenting``; a tokenizer that is none is asked for the whole text. The memory has two
    halves: when the newer is full the older is dropped, so what is used again and again stays.
    """

    def __init__(self, tokenizer: Tokenizer, *, memory_bytes: int = 64 << 20) -> None:
        self.tokenizer = tokenizer
        self._half_bytes = memory_bytes // 2
        self._newer: dict[str, bytes] = {}
        self._older: dict[str, bytes] = {}
        self._newer_bytes = 0

    def encode(self, text: str) -> bytes:
        """The ids of a text, four bytes each, little-endian."""
        tokenizer = self.tokenizer
        if not isinstance(tokenizer, Fragmenting):
            return tokenizer.packed(text)
        fragments = tokenizer.fragments(text)
        known = list(map(self._newer.get, fragments))
        found = [
            self._encoded(tokenizer, fragment) if ids is None else ids
            for fragment, ids in zip(fragments, known, strict=True)
        ]
        return b"".join((_packed(tokenizer.opening), *found, _packed(tokenizer.closing)))

    def _encoded(self, tokenizer: Fragmenting, fragment: str) -> bytes:
        ids = self._newer.get(fragment)
        if ids is None:
            ids = self._older.get(fragment)
            if ids is None:
                ids = _packed(tokenizer.encode_fragment(fragment))
            self._remember(fragment, ids)
        return ids

    def _remember(self, fragment: str, ids: bytes) -> None:
        # A character takes one to four bytes; two is what mixed text comes to.
        size = 2 * len(fragment) + len(ids) + _COST_BYTES
        if size > self._half_bytes // 4:
            return
        if self._newer_bytes + size > self._half_bytes:
            self._older, self._newer, self._newer_bytes = self._newer, {}, 0
        self._newer[fragment] = ids
        self._newer_bytes += size


def _packed(ids: Iterable[int]) -> bytes:
    return little_endian(array("I", ids))
