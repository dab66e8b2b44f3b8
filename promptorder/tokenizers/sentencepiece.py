"""SentencePiece's byte pair encoding by scores: the kind of Llama 2, Mistral 7B and Gemma.

The two neighbours whose union has the highest score are merged, the leftmost first where scores are equal, until no
union is in the vocabulary; what is not in it then is written as bytes. Spaces are ``▁``. Source: the SentencePiece
paper (https://arxiv.org/abs/1808.06226) and llama.cpp, to whose own tokenizer the tests hold this.

There is no cutting into words in this kind, but two characters that stand side by side in no token can never be merged:
a text is cut there, in front of spaces and line ends, and the words are remembered.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

from promptorder.tokenizers import Vocabulary
from promptorder.tokenizers._special import Specials
from promptorder.tokenizers.byte_bpe import little_endian

_SPACE = "▁"
_NORMAL, _UNKNOWN, _CONTROL, _BY_USER, _UNUSED, _BYTE = range(1, 7)
_MOST_WORDS = 200_000
_LONG_LINE = 512
"""Characters from which a line is cut in front of capitals."""


class SentencePiece:
    """The tokenizer of a vocabulary with scores."""

    exact = True

    def __init__(self, vocabulary: Vocabulary, name: str) -> None:
        self.name = name
        tokens = vocabulary.tokens
        types = vocabulary.types or [_NORMAL] * len(tokens)
        if len(vocabulary.scores) != len(tokens):
            raise ValueError(f"{len(tokens)} tokens, but {len(vocabulary.scores)} scores")
        self._scores = vocabulary.scores
        self._ids = {token: ident for ident, token in enumerate(tokens)}
        self._specials = Specials(
            {
                token: ident
                for ident, (token, kind) in enumerate(zip(tokens, types, strict=True))
                if kind in (_CONTROL, _BY_USER)
            }
        )
        self._bytes = [self._ids.get(f"<0x{byte:02X}>") for byte in range(256)]
        self._unknown = vocabulary.unknown or 0
        self._prefix = vocabulary.add_space_prefix is not False
        self._words: dict[str, tuple[int, ...]] = {}
        self._line = re.compile(_border(tokens, "\n"))
        self._word = re.compile(_border(tokens, _SPACE))
        self._phrase = re.compile(f"{_border(tokens, _SPACE)}(?=.[A-Z])")
        bos, eos = vocabulary.bos, vocabulary.eos
        self.opening = (bos,) if vocabulary.add_bos is not False and bos is not None else ()
        self.closing = (eos,) if vocabulary.add_eos and eos is not None else ()

    def encode(self, text: str) -> list[int]:
        """All ids, special tokens and edges among them."""
        found = list(self.opening)
        for fragment in self.fragments(text):
            found += self.encode_fragment(fragment)
        found += self.closing
        return found

    def packed(self, text: str) -> bytes:
        """See ``Tokenizer.packed``."""
        found = array("I", self.opening)
        for fragment in self.fragments(text):
            found.extend(self.encode_fragment(fragment))
        found.extend(self.closing)
        return little_endian(found)

    def fragments(self, text: str) -> list[str]:
        """Special tokens as they stand, and lines with spaces written as the vocabulary has them, long ones cut."""
        found: list[str] = []
        after_special = True
        for piece in self._specials.split(text):
            if piece in self._specials.ids:
                found.append(piece)
                after_special = True
                continue
            written = f" {piece}" if self._prefix and after_special else piece
            after_special = False
            for line in self._line.split(written.replace(" ", _SPACE)):
                found += self._phrase.split(line) if len(line) > _LONG_LINE else (line,)
        return found

    def encode_fragment(self, fragment: str) -> list[int]:
        """The ids of one piece."""
        special = self._specials.ids.get(fragment)
        if special is not None:
            return [special]
        words = self._words
        found: list[int] = []
        for word in self._word.split(fragment):
            known = words.get(word)
            if known is None:
                known = self._merged(word)
                if len(words) >= _MOST_WORDS:
                    words.clear()
                words[word] = known
            found += known
        return found

    def _merged(self, word: str) -> tuple[int, ...]:
        """Merge the best neighbours until none are left; a queue keeps long words without borders quick."""
        whole = self._ids.get(word)
        if whole is not None and len(word) == 1:
            return (whole,)
        pieces: list[str | None] = list(word)
        after, before = list(range(1, len(word) + 1)), list(range(-1, len(word) - 1))
        ids, scores = self._ids, self._scores

        def pair(left: int) -> tuple[float, int, str] | None:
            right = after[left]
            if right >= len(pieces):
                return None
            union = f"{pieces[left]}{pieces[right]}"
            ident = ids.get(union)
            return None if ident is None else (-scores[ident], left, union)

        queue = [found for left in range(len(word) - 1) if (found := pair(left))]
        heapify(queue)
        while queue:
            _, left, union = heappop(queue)
            right = after[left] if pieces[left] is not None else len(pieces)
            if right >= len(pieces) or f"{pieces[left]}{pieces[right]}" != union:
                continue  # one of the two has been merged with another
            pieces[left], pieces[right] = union, None
            after[left] = after[right]
            if after[right] < len(pieces):
                before[after[right]] = left
            for place in (before[left], left):
                if place >= 0 and (found := pair(place)):
                    heappush(queue, found)
        return tuple(ident for piece in pieces if piece is not None for ident in self._spelled(piece))

    def _spelled(self, piece: str) -> tuple[int, ...]:
        ident = self._ids.get(piece)
        if ident is not None:
            return (ident,)
        spelled = [self._bytes[byte] for byte in piece.encode("utf-8", "replace")]
        return tuple(self._unknown if each is None else each for each in spelled)


def _border(tokens: Sequence[str], character: str) -> str:
    """A pattern for the places in front of a character, but not behind those that some token has in front of it."""
    joined = {
        left
        for token in tokens
        if character in token[1:]
        for left, right in pairwise(token)
        if right == character
    }
    return f"(?={character})(?<=[^{''.join(map(re.escape, sorted({*joined, character})))}])"
