"""Which starts of prompts were ever read before: what a cache could have reused had it kept everything."""

from __future__ import annotations

CHUNK_TOKENS = 32
_MOST_CHUNKS = 1 << 19


class SeenStarts:
    """The starts of everything read so far, in chunks of ``chunk_bytes`` packed bytes.

    A start is known by a 64-bit hash chained over its chunks. Memory is bounded, at some 100 MB: once ``most_chunks`` were
    read since the last time, those not read since are forgotten, and count as new text when they come back. So what it
    tells serves to name causes, and is no count of reused tokens.
    """

    def __init__(self, chunk_bytes: int = 4 * CHUNK_TOKENS, most_chunks: int = _MOST_CHUNKS) -> None:
        self._chunk_bytes = chunk_bytes
        self._most_chunks = most_chunks
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def read(
        self, data: bytes, upto: int | None = None, *, apart: object = None, life: int = 0, note: bool = True
    ) -> tuple[int, int]:
        """How many bytes from the start of ``data[:upto]`` were read before: ever, and within this ``life``.

        Both are whole chunks. What was read with another ``apart`` (a model, a tenant) is not the same text.
        Everything in ``data`` is noted as read in this life, unless ``note`` is False.
        """
        size, young, old = self._chunk_bytes, self._young, self._old
        upto = len(data) if upto is None else upto
        ever = lately = 0
        key = hash(apart)
        known_ever = known_lately = True
        for end in range(size, len(data) + 1, size):
            key = hash((key, data[end - size : end]))
            if known_ever:
                last = young.get(key)
                if last is None:
                    last = old.get(key)
                known_ever = last is not None and end <= upto
                known_lately = known_lately and known_ever and last == life
                if known_ever:
                    ever = end
                if known_lately:
                    lately = end
            if note:
                young[key] = life
            elif not known_ever:
                break
        if len(young) > self._most_chunks:
            self._old, self._young = young, {}
        return ever, lately
