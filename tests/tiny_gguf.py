"""A tiny model with random weights that real servers load at once and that always answers in plain text.

It never ends an answer by itself: limit each call with `num_predict`.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import gguf
import numpy as np

TEMPLATE = "{{- range .Messages }}<|{{ .Role }}|>{{ .Content }}\n{{ end }}<|assistant|>"
# Threads of Ollama's own runner wait by spinning: 60 tokens took 13 s on two busy cores, and 12 ms with one thread.
PARAMETERS = "PARAMETER num_thread 1"

CONTEXT_TOKENS = 65536
EMBEDDING = 64
FEED_FORWARD = 128
HEADS = 4

# What the model can say, and the only text its tokens are learnt from.
_TEXT = (
    "the of and to in is it that was for on are with as his they be at one have this from or had by but "
    "not what all were we when your can there use an each which she do how their if will up other about "
    "out many then them these so some her would make like him into time has look two more write go see "
    "number no way could people than first water been call who its now find long down day did get come "
    "made may part over new sound take only little work know place year live back give most very after "
    "thing our just name good sentence man think say great where help through much before line right too "
    "mean old any same tell report page table section contract question answer document order value price "
    "change number result reading"
)
WORDS = _TEXT.split()
ROLES = ("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
END = "<|end|>"


def make_tiny_gguf(path: Path, seed: int = 7, pre: str = "gpt-2") -> Path:
    """Write the model to `path`; the same seed gives the same bytes. `pre` says how text is cut into words."""
    tokens, merges = _vocabulary()
    special = [END, *ROLES]
    speakable = [tokens.index("Ġ" + word) for word in dict.fromkeys(WORDS)]
    vocabulary = [*tokens, *special]
    normal, control = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL

    writer: Any = gguf.GGUFWriter(path, "llama")
    writer.add_name("promptorder-tiny")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    add_shape(writer, len(vocabulary))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(vocabulary)
    writer.add_token_types([normal] * len(tokens) + [control] * len(special))
    writer.add_token_merges(merges)
    writer.add_bos_token_id(len(tokens))
    writer.add_eos_token_id(len(tokens))
    writer.add_add_bos_token(False)
    write_with_weights(writer, len(vocabulary), speakable, seed)
    return path


def add_shape(writer: Any, vocabulary_size: int) -> None:
    """Say how large the model is, in the header."""
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(vocabulary_size)


def write_with_weights(writer: Any, vocabulary_size: int, speakable: list[int], seed: int) -> None:
    """Add weights that say `speakable` tokens alone, and write the file."""
    for name, weight in _weights(vocabulary_size, speakable, np.random.default_rng(seed)).items():
        writer.add_tensor(name, weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _vocabulary() -> tuple[list[str], list[str]]:
    """Every byte, and byte pairs merged until each of `WORDS` is one token."""
    tokens = sorted(_byte_letters())
    merges: list[str] = []
    words = [("Ġ", *word) for word in dict.fromkeys(WORDS)]
    while any(len(word) > 1 for word in words):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(f"{left} {right}")
        tokens.append(left + right)
        words = [_merged(word, left, right) for word in words]
    return list(dict.fromkeys(tokens)), merges


def _merged(word: tuple[str, ...], left: str, right: str) -> tuple[str, ...]:
    parts: list[str] = []
    for part in word:
        if parts and parts[-1] == left and part == right:
            parts[-1] = left + right
        else:
            parts.append(part)
    return tuple(parts)


def _byte_letters() -> list[str]:
    """GPT-2 writes each byte as a visible letter: printable Latin-1 as itself, the rest from U+0100 on."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in visible]
    return [*map(chr, visible), *(chr(0x100 + place) for place in range(len(hidden)))]


def _weights(vocabulary: int, speakable: list[int], random: np.random.Generator) -> dict[str, Any]:
    """Draw random weights with a guard in them, so that the answer is words whatever the prompt.

    Dimension 0 is the same for every token, no layer writes to it, and the output matrix reads it as yes for
    words and as no for all else. The output also follows a ring through the words and avoids the word just
    said: Ollama ends an answer without its last line when one token comes 30 times running.
    """

    def normal(*shape: int, scale: float = 1.0) -> Any:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    embedding = normal(vocabulary, EMBEDDING)
    embedding[:, 0] = 4.0
    output = np.zeros((vocabulary, EMBEDDING), dtype=np.float32)
    output[:, 0] = -20.0
    ring = random.permutation(speakable)
    output[ring] = (
        normal(len(ring), EMBEDDING, scale=0.3) - embedding[ring] + 0.5 * embedding[np.roll(ring, 1)]
    )
    output[ring, 0] = 20.0
    scale = EMBEDDING**-0.5
    attention_output = normal(
        EMBEDDING, EMBEDDING, scale=3 * scale
    )  # so that answers depend on the whole prompt
    feed_forward_down = normal(EMBEDDING, FEED_FORWARD, scale=scale)
    attention_output[0] = feed_forward_down[0] = 0.0
    ones = np.ones(EMBEDDING, dtype=np.float32)
    return {
        "token_embd.weight": embedding,
        "output_norm.weight": ones,
        "output.weight": output,
        "blk.0.attn_norm.weight": ones,
        "blk.0.ffn_norm.weight": ones,
        "blk.0.attn_q.weight": normal(EMBEDDING, EMBEDDING, scale=scale),
        "blk.0.attn_k.weight": normal(EMBEDDING, EMBEDDING, scale=scale),
        "blk.0.attn_v.weight": normal(EMBEDDING, EMBEDDING, scale=scale),
        "blk.0.attn_output.weight": attention_output,
        "blk.0.ffn_gate.weight": normal(FEED_FORWARD, EMBEDDING, scale=scale),
        "blk.0.ffn_up.weight": normal(FEED_FORWARD, EMBEDDING, scale=scale),
        "blk.0.ffn_down.weight": feed_forward_down,
    }
