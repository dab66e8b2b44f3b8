"""Tokenizers, one file a kind: from a text to the ids that a model reads. Pure: vocabularies are handed in.

``estimate`` needs no vocabulary, ``byte_bpe`` is the byte-level kind of most models (``tokenizer.ggml.model`` gpt2),
``sentencepiece`` the kind of Llama 2 and Gemma (``llama``). ``promptorder.vocabularies`` finds and reads vocabularies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Tokenizer(Protocol):
    """What a text is in tokens."""

    @property
    def name(self) -> str:
        """Whose tokens these are, for people."""

    @property
    def exact(self) -> bool:
        """Whether the ids are those that the model reads; false for an estimate."""

    def encode(self, text: str) -> list[int]:
        """The ids of a whole prompt: special tokens found in it, BOS and EOS added as the model wants."""

    def packed(self, text: str) -> bytes:
        """The same ids as unsigned 32-bit numbers, little-endian: four bytes a token."""


@runtime_checkable
class Fragmenting(Protocol):
    """A tokenizer that knows where a text can be cut without changing its tokens.

    ``encode(text)`` is ``opening``, ``encode_fragment`` of each of ``fragments(text)``, and ``closing``.
    """

    opening: tuple[int, ...]
    closing: tuple[int, ...]

    def fragments(self, text: str) -> list[str]:
        """The pieces of a text that are encoded each for itself; lines, where that is safe."""

    def encode_fragment(self, fragment: str) -> Sequence[int]:
        """The ids of one piece."""


class Vocabulary(NamedTuple):
    """What a GGUF file, or a server, says of a model's tokenizer; keys as in ``tokenizer.ggml.*``.

    ``types`` are 1 normal, 2 unknown, 3 control, 4 defined by a user, 5 unused, 6 a byte; empty where not told, as
    ``scores`` (kind ``llama``) and ``merges`` (kind ``gpt2``) are. ``add_bos`` and ``add_eos`` are None where
    not told: then the kind decides.
    """

    model: str
    pre: str
    tokens: Sequence[str]
    types: Sequence[int] = ()
    scores: Sequence[float] = ()
    merges: Sequence[str] = ()
    bos: int | None = None
    eos: int | None = None
    unknown: int | None = None
    add_bos: bool | None = None
    add_eos: bool | None = None
    add_space_prefix: bool | None = None


class UnknownVocabularyError(ValueError):
    """A vocabulary of a kind that is not known here; the message says which."""


def of_vocabulary(vocabulary: Vocabulary, name: str) -> Tokenizer:
    """The tokenizer of a model. Raises UnknownVocabularyError."""
    try:
        if vocabulary.model == "gpt2":
            from promptorder.tokenizers.byte_bpe import ByteBpe

            return ByteBpe.of_vocabulary(vocabulary, name)
        if vocabulary.model == "llama":
            from promptorder.tokenizers.sentencepiece import SentencePiece

            return SentencePiece(vocabulary, name)
    except ValueError as error:
        raise UnknownVocabularyError(f"the vocabulary is not whole: {error}") from error
    raise UnknownVocabularyError(f"tokenizers of the kind {vocabulary.model!r} are not known")
