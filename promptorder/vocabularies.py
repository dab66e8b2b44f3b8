"""Where tokenizers come from: a GGUF file, a file of tiktoken's, the name of one of its encodings, or an estimate."""

from __future__ import annotations

import base64
import binascii
import os
import tempfile
from pathlib import Path

from promptorder.engines._gguf import MAGIC, read_vocabulary
from promptorder.errors import InputError, UsageError
from promptorder.tokenizers import Tokenizer, UnknownVocabularyError, of_vocabulary
from promptorder.tokenizers._patterns import GPT2, LLAMA3, O200K, QWEN2
from promptorder.tokenizers.byte_bpe import ByteBpe
from promptorder.tokenizers.estimate import Estimate

_CL100K = LLAMA3
_PATTERNS = {
    "o200k": O200K,
    "cl100k": _CL100K,
    "p50k": GPT2,
    "r50k": GPT2,
    "gpt2": GPT2,
    "qwen": QWEN2,
    "llama": LLAMA3,
}
"""The way to cut words that goes with a file, by what its name begins with."""
_BY_SIZE = {199_998: O200K, 100_256: _CL100K, 50_280: GPT2, 50_256: GPT2, 151_643: QWEN2, 128_000: LLAMA3}
"""The same by its number of tokens, for files of another name."""
_CACHED = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "p50k_base": "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "r50k_base": "6d1cbeee0f20b3d9449abfede4726ed8212e3aee",
}
"""The names of the files in tiktoken's cache: the SHA-1 of where it downloads them."""


def open_tokenizer(spec: str | None) -> Tokenizer:
    """The tokenizer that ``spec`` means.

    A path to a ``.gguf`` or ``.tiktoken`` file, the name of one of tiktoken's encodings whose file is in its cache
    (nothing is ever downloaded), or None for the estimate. Raises UsageError for a name that is neither, InputError
    for a file that is missing or cannot be used.
    """
    if spec is None:
        return Estimate()
    if spec in _CACHED:
        return _of_ranks(_cached(spec), spec)
    path = Path(spec).expanduser()
    if not path.exists() and path.suffix == "":
        raise UsageError(
            f"no tokenizer is called {spec}",
            hint=f"give a .gguf or .tiktoken file, or one of {', '.join(_CACHED)}",
        )
    try:
        with path.open("rb") as file:
            is_gguf = file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(
            f"the tokenizer {spec} cannot be read: {(error.strerror or str(error)).lower()}",
            hint="give the path of a .gguf or .tiktoken file",
        ) from None
    return _of_gguf(path) if is_gguf else _of_ranks(path, path.name)


def _of_gguf(path: Path) -> Tokenizer:
    try:
        return of_vocabulary(read_vocabulary(path), path.name)
    except UnknownVocabularyError as error:
        raise InputError(
            f"{path.name}: {error}",
            hint="leave --tokenizer out for an estimate, or ask a server with --model",
        ) from None
    except (ValueError, IndexError, OSError) as error:
        raise InputError(f"{path.name} has no usable vocabulary: {error}", hint="give another file") from None


def _cached(name: str) -> Path:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    path = Path(folder or Path(tempfile.gettempdir()) / "data-gym-cache") / _CACHED[name]
    if path.is_file():
        return path
    raise InputError(
        f"the file of {name} is not in tiktoken's cache ({path.parent}), and promptorder downloads nothing",
        hint=(
            f"on a machine with a network: TIKTOKEN_CACHE_DIR=tokens python -c 'import tiktoken; "
            f'tiktoken.get_encoding("{name}")\'; copy the folder tokens here and set TIKTOKEN_CACHE_DIR, or give its '
            f"file as --tokenizer {name}.tiktoken"
        ),
    )


def _of_ranks(path: Path, name: str) -> Tokenizer:
    """From a file whose lines are a token in base 64 and its rank."""
    try:
        lines = path.read_bytes().splitlines()
        pairs = (line.split() for line in lines if line)
        ranks = {base64.b64decode(token, validate=True): int(rank) for token, rank in pairs}
    except (ValueError, binascii.Error, OSError):
        raise InputError(
            f"{path.name} is neither a GGUF file nor one of tiktoken's",
            hint="each of its lines is a token and a rank",
        ) from None
    if not all(bytes((byte,)) in ranks for byte in range(256)):
        raise InputError(
            f"{path.name} is not whole: tokens for single bytes are missing", hint="give another file"
        )
    pattern = next((p for start, p in _PATTERNS.items() if name.lower().startswith(start)), None)
    pattern = pattern or _BY_SIZE.get(len(ranks))
    return ByteBpe(name.removesuffix(".tiktoken"), pattern or GPT2, ranks, exact=pattern is not None)
