"""What holds for every tokenizer, without a server: pieces, packing, memory, and vocabularies that are not whole."""

from __future__ import annotations

import string
from array import array
from itertools import chain
from pathlib import Path

import pytest
import tiny_gguf as tiny
import tiny_spm
from hypothesis import given, settings
from hypothesis import strategies as st

from promptorder.engines._gguf import read_header, read_vocabulary
from promptorder.tokenizers import Fragmenting, Tokenizer, UnknownVocabularyError, Vocabulary, of_vocabulary
from promptorder.tokenizers._special import Specials
from promptorder.tokenizers.chunked import ChunkedEncoder
from promptorder.tokenizers.estimate import Estimate

TEXTS = st.lists(
    st.sampled_from(
        [
            "The ferry leaves.",
            " At 9:15.\n",
            "\n",
            "\n\n",
            "a\n/b",
            " x",
            "<|user|>",
            "é",
            "日本",
            "🎉",
            "\r\n",
            "\ud800",
        ]
    )
    | st.text(max_size=8),
    max_size=30,
).map("".join)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory, smollm2_gguf: Path) -> dict[str, Tokenizer]:
    folder = tmp_path_factory.mktemp("vocabularies")
    paths = {
        "smollm2": smollm2_gguf,
        "llama-bpe": tiny.make_tiny_gguf(folder / "bpe.gguf", pre="llama-bpe"),
        "gpt-4o": tiny.make_tiny_gguf(folder / "4o.gguf", pre="gpt-4o"),
        "spm": tiny_spm.make_tiny_spm(folder / "spm.gguf", space_prefix=True),
    }
    found: dict[str, Tokenizer] = {
        name: of_vocabulary(read_vocabulary(path), name) for name, path in paths.items()
    }
    return {**found, "estimate": Estimate()}


NAMES = ["smollm2", "llama-bpe", "gpt-4o", "spm", "estimate"]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150)
@given(text=TEXTS)
def test_packed_is_encode(every: dict[str, Tokenizer], name: str, text: str) -> None:
    ids = every[name].encode(text)
    numbers = array("I", every[name].packed(text))
    assert numbers.tolist() == ids
    assert all(0 <= each < 2**32 for each in ids)


@pytest.mark.parametrize("name", NAMES[:-1])
@settings(max_examples=150)
@given(text=TEXTS)
def test_pieces_are_encoded_each_for_itself(every: dict[str, Tokenizer], name: str, text: str) -> None:
    tokenizer = every[name]
    assert isinstance(tokenizer, Fragmenting)
    pieces = chain.from_iterable(map(tokenizer.encode_fragment, tokenizer.fragments(text)))
    assert [*tokenizer.opening, *pieces, *tokenizer.closing] == tokenizer.encode(text)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(texts=st.lists(TEXTS, max_size=6))
def test_what_is_remembered_changes_nothing(every: dict[str, Tokenizer], name: str, texts: list[str]) -> None:
    remembering = ChunkedEncoder(every[name], memory_bytes=4000)
    for text in (*texts, *texts):
        assert remembering.encode(text) == every[name].packed(text)


def test_memory_is_bounded(every: dict[str, Tokenizer]) -> None:
    remembering = ChunkedEncoder(every["smollm2"], memory_bytes=50_000)
    for number in range(3000):
        remembering.encode(f"Line {number} of many.\nAnother line {number}.\n")
    kept = {**remembering._older, **remembering._newer}
    assert 0 < sum(2 * len(text) + len(ids) + 200 for text, ids in kept.items()) <= 50_000


def test_lines_are_the_pieces_of_a_document(every: dict[str, Tokenizer]) -> None:
    text = "The ferry leaves at nine.\nPassengers arrive early.\n\nDogs are welcome.\n"
    for name in ("smollm2", "llama-bpe", "gpt-4o"):
        tokenizer = every[name]
        assert isinstance(tokenizer, Fragmenting)
        assert tokenizer.fragments(text)[0] == "The ferry leaves at nine.\n"
        assert "".join(tokenizer.fragments(text)) == text


def test_the_estimate_is_four_bytes_and_begins_anew_with_each_line() -> None:
    estimate = Estimate()
    assert not estimate.exact
    assert estimate.encode("") == []
    assert len(estimate.encode("abcdefgh")) == 2
    assert len(estimate.encode("日本語")) == 3
    first, second = estimate.encode("ab\nThe ferry"), estimate.encode("abcdefghij\nThe ferry")
    assert first[1:] == second[3:]


@given(
    texts=st.lists(st.text("ab<>| ", min_size=1, max_size=5), max_size=12),
    text=st.text("ab<>| ", max_size=40),
)
def test_the_longest_special_token_is_found_at_each_place(texts: list[str], text: str) -> None:
    specials = Specials({each: number for number, each in enumerate(texts)})
    expected: list[str] = []
    plain, at = "", 0
    while at < len(text):
        here = max((each for each in texts if text.startswith(each, at)), key=len, default="")
        if here:
            expected += [plain, here]
            plain, at = "", at + len(here)
        else:
            plain, at = plain + text[at], at + 1
    assert list(specials.split(text)) == [piece for piece in (*expected, plain) if piece]


def test_an_unknown_way_to_cut_words_is_not_exact(tmp_path: Path) -> None:
    path = tiny.make_tiny_gguf(tmp_path / "new.gguf", pre="a-new-one")
    tokenizer = of_vocabulary(read_vocabulary(path), "new")
    assert not tokenizer.exact
    assert tokenizer.encode("the ferry")


@pytest.mark.parametrize(
    "vocabulary",
    [
        Vocabulary("bert", "", ["a"]),
        Vocabulary("llama", "", ["a", "b"], scores=[0.0]),
        Vocabulary("gpt2", "gpt-2", list(string.ascii_letters), types=[1]),
    ],
)
def test_vocabularies_that_cannot_be_used(vocabulary: Vocabulary) -> None:
    with pytest.raises(UnknownVocabularyError):
        of_vocabulary(vocabulary, "x")


def test_the_header_of_a_file_leaves_the_vocabulary_out(tiny_gguf: Path) -> None:
    header = read_header(tiny_gguf)
    assert header["tokenizer.ggml.pre"] == "gpt-2"
    assert "tokenizer.ggml.tokens" not in header
    vocabulary = read_vocabulary(tiny_gguf)
    assert len(vocabulary.tokens) == len(vocabulary.types)
    assert "Ġferry" in vocabulary.tokens or len(vocabulary.merges) > 100


def test_a_cut_file_is_told(tiny_gguf: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_gguf.read_bytes()[:3000])
    with pytest.raises(ValueError, match="damaged"):
        read_vocabulary(cut)


@pytest.mark.parametrize("piece", ["a", " ", "\n", "\r\n", "1", "-", "日", " x", "\n \t", "word word "])
def test_a_line_of_millions_of_characters(piece: str, every: dict[str, Tokenizer]) -> None:
    text = piece * (2_000_000 // len(piece))
    for name in ("smollm2", "llama-bpe", "gpt-4o"):
        ids = every[name].packed(text)
        assert 0 < len(ids) <= 4 * (len(text.encode()) + 1)
    words = "word word " * 50_000
    pieces = sum(len(every["smollm2"].packed(words[i : i + 100_000])) for i in range(0, len(words), 100_000))
    assert abs(len(every["smollm2"].packed(words)) - pieces) <= 4 * 10
