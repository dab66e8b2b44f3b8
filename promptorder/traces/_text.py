"""Texts to packed ids, whole prompts and parts of them; what comes again is remembered."""

from __future__ import annotations

import sys
from array import array

from promptorder.tokenizers import Fragmenting, Tokenizer
from promptorder.tokenizers.chunked import ChunkedEncoder

_MEMORY_BYTES = 48 << 20
_ENTRY_BYTES = 200
"""What a remembered piece takes beside its characters and ids."""


class TextTokens:
    """A tokenizer for the texts of a trace: 4 bytes an id, in the machine's order."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._encoder = ChunkedEncoder(tokenizer)
        self.name, self.exact = tokenizer.name, tokenizer.exact
        if isinstance(tokenizer, Fragmenting):
            opening, closing = tokenizer.opening, tokenizer.closing
        else:
            opening, closing = tuple(tokenizer.encode("")), ()
        self.opening = array("I", opening).tobytes()
        self._closing_bytes = 4 * len(closing)
        self._opening_bytes = len(self.opening)
        self._newer: dict[str, bytes] = {}
        self._older: dict[str, bytes] = {}
        self._bytes = 0

    def prompt(self, text: str) -> bytes:
        """The ids of a whole prompt, BOS and EOS as the model wants."""
        return _native(self._encoder.encode(text))

    def piece(self, text: str) -> bytes:
        """The ids of a part of a prompt, with nothing put around it."""
        found = self._newer.get(text)
        if found is None:
            found = self._older.get(text)
            if found is None:
                whole = _native(self._encoder.encode(text))
                start = self._opening_bytes if whole.startswith(self.opening) else 0
                found = whole[start : len(whole) - self._closing_bytes]
            self._remember(text, found)
        return found

    def _remember(self, text: str, ids: bytes) -> None:
        """Two halves: when the newer is full the older is dropped, so what is used again and again stays."""
        size = 2 * len(text) + len(ids) + _ENTRY_BYTES
        if self._bytes + size > _MEMORY_BYTES // 2:
            self._older, self._newer, self._bytes = self._newer, {}, 0
        if size <= _MEMORY_BYTES // 2:
            self._newer[text] = ids
            self._bytes += size


def _native(packed: bytes) -> bytes:
    if sys.byteorder == "little":
        return packed
    numbers = array("I", packed)
    numbers.byteswap()
    return numbers.tobytes()
