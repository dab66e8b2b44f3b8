"""A model with a vocabulary of SentencePiece's kind, small enough to be made in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import tiny_gguf as tiny

PIECES = (
    "▁the", "▁ferry", "▁", "▁▁", "▁▁▁▁", "th", "he", "the", "fe", "rr", "ferr", "er", "ry", "▁f", "▁t", "in", "ing", "▁le",
    "av", "es", "▁leav", "▁leaves", "\n\n", "e", "t", "h", "f", "r", "y", "i", "n", "g", "l", "a", "v", "s", "\n", "é",
    "日本", "日", "本", "aa", "aaa", "aaaa", "ab", "ba", "bab", "b",
)  # fmt: skip


def make_tiny_spm(path: Path, *, space_prefix: bool) -> Path:
    """Write the model; every byte is a token, and `<turn>` one that a user has defined."""
    kinds = gguf.TokenType
    pieces = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    pieces += [(f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)]
    pieces += [(piece, kinds.NORMAL) for piece in PIECES]
    pieces += [("<turn>", kinds.USER_DEFINED), ("<turn> now", kinds.USER_DEFINED)]
    normal = [text for text, kind in pieces if kind == kinds.NORMAL]
    # Longer ones are better, some are equally good.
    scores = [-float(normal.index(text) // 3) if kind == kinds.NORMAL else 0.0 for text, kind in pieces]
    writer: Any = gguf.GGUFWriter(path, "llama")
    tiny.add_shape(writer, len(pieces))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in pieces])
    writer.add_token_scores(scores)
    writer.add_token_types([kind for _, kind in pieces])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(space_prefix)
    tiny.write_with_weights(writer, len(pieces), speakable=list(range(260, 270)), seed=1)
    return path
