"""Our tokenizers give the ids that llama.cpp itself gives, for each way to cut words and for both kinds."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import servers
import sliding_window
import tiny_gguf as tiny
import tiny_spm
from hypothesis import given, settings
from hypothesis import strategies as st

from promptorder.engines import embedded
from promptorder.model.engine import EngineOptions
from promptorder.tokenizers import Tokenizer
from promptorder.tokenizers._patterns import BY_PRE
from promptorder.vocabularies import open_tokenizer

pytestmark = pytest.mark.embedded

PIECES = [
    "A", "b", "The", " the", "ing", "ferry ", " ", "  ", "\t", "\n", "\r\n", "\n\n", " \n", "x.\nY", "x. Y", "end.", "go. Then",
    "a\n/", ".\n/", "1", "12", "2026-03-14T09:26:53Z", "٣", "½", "Ⅷ", "'s", "'S", "'re", "'LL", "'", "’s", "é", "e\u0301",
    "É", "ÀB", "中", "日本語", "カナ", "ひら", " 漢", "🎉", "👩‍👩‍👧", "(", ")", "_", "--", "$", "+", "<", "=", "|", "`", ".", ",", "!", "?",
    "//", "\\", "#",
    "{", "}", "\u00a0", "\u3000", "\u2028", "\u200b", "\x00", "\x1c", "\x85", "\u0301", "ß", "ǅ", "привет", "HELLO", "camelCase",
    "ʰ", "𝐀", "؟", "।", "€", "\ufeff", "가나", "ไทย", "ा", "aaaa", "abab", "<|user|>", "<|end|>", "<turn>", "<turn> now", "</s>",
]  # fmt: skip
TEXTS = st.lists(
    st.sampled_from(PIECES) | st.text(st.characters(codec="utf-8"), max_size=4), max_size=20
).map("".join)
ONE_EACH = {pattern: pre for pre, pattern in reversed(BY_PRE.items()) if pre}


@pytest.fixture(scope="module", autouse=True)
def _available() -> None:
    reason = embedded.available(EngineOptions())
    if reason is not None:
        pytest.skip(reason)


@contextlib.contextmanager
def serving(path: Path) -> Iterator[embedded.EmbeddedEngine]:
    engine = embedded.open_engine(EngineOptions(model=str(path)))
    assert isinstance(engine, embedded.EmbeddedEngine)
    with contextlib.closing(engine):
        yield engine


def check(path: Path, texts: list[str]) -> None:
    ours = open_tokenizer(str(path))
    assert ours.exact
    with serving(path) as engine:
        for text in texts:
            assert ours.encode(text) == engine.tokenize(text), text


def drawn(seed: int, number: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(PIECES, k=draw.randint(1, 24))) for _ in range(number)]


def documents() -> list[str]:
    root = Path(__file__).resolve().parents[2]
    return [
        path.read_text(encoding="utf-8")
        for path in (root / "README.md", root / "docs/doctor.md", Path(__file__))
    ]


@pytest.mark.parametrize("pre", sorted(ONE_EACH.values()))
def test_each_way_to_cut_words(pre: str, tmp_path: Path) -> None:
    path = tiny.make_tiny_gguf(tmp_path / "tiny.gguf", pre=pre)
    check(path, ["", " ", *drawn(len(pre), 150), *documents()])


@pytest.mark.parametrize("space_prefix", [True, False])
def test_the_other_kind(space_prefix: bool, tmp_path: Path) -> None:
    path = tiny_spm.make_tiny_spm(tmp_path / "spm.gguf", space_prefix=space_prefix)
    check(path, [" ", "the ferry leaves", "<turn>the <turn> now the", *drawn(3, 250), *documents()])


def test_a_real_model_of_the_other_kind() -> None:
    try:
        path = sliding_window.ensure_gemma3()
    except servers.ServersUnavailableError as error:
        pytest.skip(str(error))
    check(path, ["<start_of_turn>user\nhi<end_of_turn>\n", "<bos>x", *drawn(11, 200), *documents()])


Both = tuple[Tokenizer, embedded.EmbeddedEngine]


@pytest.fixture(scope="module")
def smollm2(smollm2_gguf: Path) -> Iterator[Both]:
    with serving(smollm2_gguf) as engine:
        yield open_tokenizer(str(smollm2_gguf)), engine


@settings(max_examples=300)
@given(text=TEXTS)
def test_a_real_model_on_any_text(smollm2: Both, text: str) -> None:
    ours, engine = smollm2
    assert ours.encode(text) == engine.tokenize(text)


def test_a_real_model_on_documents(smollm2: Both) -> None:
    ours, engine = smollm2
    for text in (*documents(), "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"):
        assert ours.encode(text) == engine.tokenize(text)
