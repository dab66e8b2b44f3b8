"""Where tokenizers come from: files, names in tiktoken's cache, and never the network."""

from __future__ import annotations

import base64
import socket
from pathlib import Path
from typing import NoReturn

import pytest
import tiktoken

from promptorder.errors import InputError, UsageError
from promptorder.vocabularies import _CACHED, open_tokenizer

WORDS = ("the", " the", " ferry", "ing", " le", "av", "es", " leaves", "12", "123")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise AssertionError("something wants to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)


def ranks() -> dict[bytes, int]:
    pieces = [bytes((byte,)) for byte in range(256)]
    for word in WORDS:
        pieces += [word.encode()[:length] for length in range(2, len(word) + 1)]
    return {piece: rank for rank, piece in enumerate(dict.fromkeys(pieces))}


def write(path: Path, text: str | None = None) -> Path:
    lines = (f"{base64.b64encode(token).decode()} {rank}" for token, rank in ranks().items())
    path.write_text("\n".join(lines) + "\n" if text is None else text)
    return path


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "r50k_base", "p50k_base"])
def test_a_file_is_read_as_tiktoken_reads_it(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"{name}.tiktoken")
    ours = open_tokenizer(str(path))
    write(tmp_path / _CACHED[name])
    by_name = open_tokenizer(name)
    pattern = ours._pattern  # type: ignore[attr-defined]
    theirs = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks(), special_tokens={})
    for text in ("", "the ferry leaves at 12345", "  ÉTÉ's\n\nI'LL <|endoftext|>", "日本 🎉"):
        assert ours.encode(text) == by_name.encode(text) == theirs.encode_ordinary(text)
    assert ours.exact
    assert ours.name == name


def test_patterns_cut_as_openai_publishes_them(tmp_path: Path) -> None:
    ours = open_tokenizer(str(write(tmp_path / "cl100k_base.tiktoken")))
    digits = [len(ours.encode(text)) for text in ("123", "1234")]
    assert digits[0] < digits[1]
    old = open_tokenizer(str(write(tmp_path / "r50k_base.tiktoken")))
    assert old.encode("123123") != ours.encode("123") * 3


def test_a_file_of_an_unknown_name_and_size_is_not_exact(tmp_path: Path) -> None:
    assert not open_tokenizer(str(write(tmp_path / "mine.tiktoken"))).exact


def test_a_model_file_is_known_by_its_first_bytes(tiny_gguf: Path, tmp_path: Path) -> None:
    blob = tmp_path / "sha256-of-something"
    blob.write_bytes(tiny_gguf.read_bytes())
    tokenizer = open_tokenizer(str(blob))
    assert tokenizer.exact
    assert tokenizer.name == "sha256-of-something"


def test_an_encoding_that_is_not_in_the_cache_is_told_how_to_get(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not in tiktoken's cache") as caught:
        open_tokenizer("o200k_base")
    assert "TIKTOKEN_CACHE_DIR" in caught.value.hint
    assert "--tokenizer o200k_base.tiktoken" in caught.value.hint


def test_a_name_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no tokenizer is called o300k"):
        open_tokenizer("o300k")


@pytest.mark.parametrize("text", ["not base64 at all\n", "dGhl x\n", "\x00\x01"])
def test_files_that_are_none(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a GGUF file nor one of tiktoken's"):
        open_tokenizer(str(write(tmp_path / "x.tiktoken", text)))


def test_files_that_are_not_whole_or_missing(tmp_path: Path, tiny_gguf: Path) -> None:
    with pytest.raises(InputError, match="not whole"):
        open_tokenizer(str(write(tmp_path / "half.tiktoken", "dGhl 0\n")))
    with pytest.raises(InputError, match="cannot be read"):
        open_tokenizer(str(tmp_path / "no.gguf"))
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_gguf.read_bytes()[:500])
    with pytest.raises(InputError, match="no usable vocabulary"):
        open_tokenizer(str(cut))


def test_without_a_word_it_is_an_estimate() -> None:
    assert not open_tokenizer(None).exact
