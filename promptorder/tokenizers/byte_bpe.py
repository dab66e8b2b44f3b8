"""Byte-level byte pair encoding: GPT-2's kind, of Llama 3, Qwen, SmolLM, gpt-oss and most others.

Merging is tiktoken's. A vocabulary in GPT-2's way names tokens by letters that stand for bytes and ranks pairs in a
list of merges; tiktoken ranks whole tokens, so a token's rank is the place of the merge that makes it.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Self

from promptorder.tokenizers import Vocabulary
from promptorder.tokenizers._patterns import BY_PRE, GPT2, WHOLE_WORDS
from promptorder.tokenizers._special import Specials

if TYPE_CHECKING:
    import tiktoken

_CONTROL, _BY_USER = 3, 4
_SENTENCE = re.compile(r"(?<=[.!?])(?= [A-Z])(?<=[a-z0-9].)")
_LONG_LINE = 512
"""Characters from which a line is cut into sentences."""
_BETWEEN_WORDS = re.compile(r"(?<=[A-Za-z])(?= [A-Za-z])")
_MOST_AT_ONCE, _NEAR = 200_000, 2_000
"""Characters: tiktoken 0.14 panics at a million spaces in a row, for want of stack. No line is that long by intention."""
_BATCH = 1 << 16
"""Characters that are merged at a time where nothing is remembered: fewer calls, and bounded memory."""


class ByteBpe:
    """Ranks of byte strings, and an expression that cuts words.

    ``ids`` are the model's ids by rank, None where they are the ranks themselves. From ``size`` on ids are no tokens: they
    stand for bytes that the vocabulary does not have.
    """

    def __init__(
        self,
        name: str,
        pattern: str,
        ranks: dict[bytes, int],
        *,
        ids: Sequence[int] | None = None,
        size: int | None = None,
        specials: Mapping[str, int] | None = None,
        exact: bool = True,
        opening: tuple[int, ...] = (),
        closing: tuple[int, ...] = (),
    ) -> None:
        self.name, self.exact = name, exact
        self.opening, self.closing = opening, closing
        self._pattern, self._ranks, self._ids = pattern, ranks, ids
        self._specials = Specials(dict(specials or {}))
        self._cuts_safely = not any(re.search(r"\n\S|[.!?] ", text[:-1]) for text in self._specials.ids)
        self._size = size
        self._made: tiktoken.Encoding | None = None

    @classmethod
    def of_vocabulary(cls, vocabulary: Vocabulary, name: str) -> Self:
        """From a model's own vocabulary; not exact where its way to cut words is not known."""
        byte_of = _bytes_of_letters()
        tokens, types = vocabulary.tokens, vocabulary.types or [1] * len(vocabulary.tokens)
        specials = {
            token: ident
            for ident, (token, kind) in enumerate(zip(tokens, types, strict=True))
            if kind in (_CONTROL, _BY_USER)
        }
        id_of = {token: ident for ident, token in enumerate(tokens) if token not in specials}
        made = (merge.replace(" ", "", 1) for merge in vocabulary.merges)
        in_order = list(dict.fromkeys(chain(byte_of, (token for token in made if token in id_of))))
        # SmolLM2 has no token for some bytes that no text of its training held; llama.cpp leaves those out.
        ids = [id_of.get(token, len(tokens) + place) for place, token in enumerate(in_order)]
        # Only the order of ranks matters, and only among merges: mostly the ids themselves are in it.
        merged = ids[len(byte_of) :]
        are_ranks = all(i < j for i, j in pairwise(merged))
        ranks = {
            token.translate(_LATIN).encode("latin-1"): ident if are_ranks else place
            for place, (token, ident) in enumerate(zip(in_order, ids, strict=True))
        }
        pattern = BY_PRE.get(vocabulary.pre)
        opening, closing = _edges(vocabulary)
        return cls(
            name,
            pattern or GPT2,
            ranks,
            ids=None if are_ranks else ids,
            size=len(tokens) if max(ids) >= len(tokens) else None,
            specials=specials,
            exact=pattern is not None and len(ranks) == len(in_order),
            opening=opening,
            closing=closing,
        )

    def encode(self, text: str) -> list[int]:
        """All ids, special tokens and edges among them."""
        found = list(self.opening)
        for piece in _batches(self.fragments(text)):
            found += self.encode_fragment(piece)
        found += self.closing
        return found

    def packed(self, text: str) -> bytes:
        """See ``Tokenizer.packed``."""
        found = array("I", self.opening)
        for piece in _batches(self.fragments(text)):
            found.extend(self.encode_fragment(piece))
        found.extend(self.closing)
        return little_endian(found)

    def fragments(self, text: str) -> list[str]:
        """Lines, and the sentences of long ones: no expression of ``_patterns`` joins both sides of such a border.

        A line end is a border between characters that are no white space, and no slash behind it: some expressions
        take line ends and slashes along with the punctuation in front of them.
        """
        if not self._cuts_safely:
            return [text]
        previous, *lines = text.split("\n")
        found: list[str] = []
        start = at = 0
        for line in lines:
            at += len(previous) + 1
            first, last = line[:1], previous[-1:]
            if first and last and first != "/" and not first.isspace() and not last.isspace():
                found.append(text[start:at])
                start = at
            previous = line
        found.append(text[start:])
        if max(map(len, found)) > _LONG_LINE:
            found = [
                piece
                for line in found
                for piece in (_SENTENCE.split(line) if len(line) > _LONG_LINE else (line,))
            ]
        return found

    def encode_fragment(self, fragment: str) -> list[int]:
        """The ids of a piece; half a surrogate pair is read as a question mark, since nobody can send it."""
        special = self._specials.ids
        found: list[int] = []
        for piece in self._specials.split(fragment):
            if piece in special:
                found.append(special[piece])
                continue
            for part in _bounded(piece):
                try:
                    ranks = self._encoding.encode_ordinary(part)
                except UnicodeEncodeError:
                    ranks = self._encoding.encode_ordinary(part.encode("utf-8", "replace").decode())
                found += ranks if self._ids is None else [self._ids[rank] for rank in ranks]
        if self._size is not None and found and max(found) >= self._size:
            found = [ident for ident in found if ident < self._size]
        return found

    @property
    def _encoding(self) -> tiktoken.Encoding:
        if self._made is None:
            import tiktoken

            self._made = tiktoken.Encoding(
                "promptorder", pat_str=self._pattern, mergeable_ranks=self._ranks, special_tokens={}
            )
        return self._made


def _bounded(text: str) -> Iterator[str]:
    """A text in pieces that the expressions' engine can take, cut between words where there are any near."""
    start = 0
    while len(text) - start > _MOST_AT_ONCE:
        end = start + _MOST_AT_ONCE
        words = [match.start() for match in _BETWEEN_WORDS.finditer(text, end - _NEAR, end)]
        end = words[-1] if words else end
        yield text[start:end]
        start = end
    yield text[start:]


def _batches(fragments: Iterable[str]) -> Iterator[str]:
    """Neighbours joined until they are worth a call; what is cut safely is joined safely."""
    waiting: list[str] = []
    length = 0
    for fragment in fragments:
        waiting.append(fragment)
        length += len(fragment)
        if length >= _BATCH:
            yield "".join(waiting)
            waiting, length = [], 0
    if waiting:
        yield "".join(waiting)


def little_endian(numbers: array[int]) -> bytes:
    """Unsigned 32-bit numbers as bytes, the lowest first on every machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _edges(vocabulary: Vocabulary) -> tuple[tuple[int, ...], tuple[int, ...]]:
    add_bos = vocabulary.pre in WHOLE_WORDS if vocabulary.add_bos is None else vocabulary.add_bos
    bos = (vocabulary.bos,) if add_bos and vocabulary.bos is not None else ()
    eos = (vocabulary.eos,) if vocabulary.add_eos and vocabulary.eos is not None else ()
    return bos, eos


def _bytes_of_letters() -> dict[str, int]:
    """The letter by which GPT-2 writes each byte: printable Latin-1 as itself, the others from U+0100 on."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = (byte for byte in range(256) if byte not in visible)
    return {chr(byte): byte for byte in sorted(visible)} | {
        chr(0x100 + place): byte for place, byte in enumerate(hidden)
    }


_LATIN = {ord(letter): byte for letter, byte in _bytes_of_letters().items()}
"""Translates a token's letters to characters whose code points are its bytes."""
