"""A fake of Ollama's API for what a real server does not do on demand: faults, foreign models, refused keys.

The answers have the shape of those of Ollama 0.33.3. A token is four characters of the rendered prompt, and
reading takes as long as the answer says it took.
"""

from __future__ import annotations

import enum
import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from threaded_server import ThreadedServer

Counting = Literal["cached", "whole", "new"]
Durations = Literal["prefill", "milliseconds", "last-batch", "last-token"]
Caching = Literal["starts", "repeats", "nothing"]
Json = dict[str, Any]

JSON_TYPE = "application/json; charset=utf-8"
CHARACTERS_PER_TOKEN = 4
DEFAULT_CONTEXT = 4096
LEAST_CONTEXT = 256  # llama-server rounds a smaller context up
ANSWER = ["The", "answer", "stands", "in", "the", "second", "section", "of", "the", "report", "."]
NEW_TOKEN_NS = 10_000
BATCH_TOKENS = 512
ANSWER_TOKEN_NS = 200_000
LOAD_NS = 3_000_000
FIXED_NS = 500_000
NEWEST = (999,)  # for what is no version
HOLD_S = 0.02  # how long an unloaded model stays in the list: 22 ms were seen


class Fault(enum.Enum):
    """What goes wrong with a chat call."""

    RESET = "the connection is reset in the middle of the answer"
    GARBAGE = "bytes that are no JSON come in the middle of the answer"
    ERROR_OBJECT = "an error object with status 200 ends the answer"
    HANG = "nothing comes until the server or the client closes"
    STALL = "the answer begins and stops until the server or the client closes"
    NO_DONE = "the answer ends without its last line"
    DONE_FALSE = "the answer is one line with done: false and no figures"
    RESTART = "the server has restarted since the call before: nothing is loaded or cached"
    ERROR_500 = "the runner died: status 500"


@dataclass(frozen=True)
class FakeModel:
    """One entry in the list of models."""

    name: str = "tiny:latest"
    capabilities: Sequence[str] = ("completion",)
    remote_host: str | None = None
    context_tokens: int = 65536
    template: str = "{{- range .Messages }}<|{{ .Role }}|>{{ .Content }}\n{{ end }}<|assistant|>"
    family: str = "llama"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    def described(self) -> Json:
        details = {
            "parent_model": "",
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": "107K",
            "quantization_level": "F32",
        }
        return {"name": self.name, "model": self.name, "digest": self.digest, "details": details}

    def listed(self) -> Json:
        remote = {"remote_model": self.name, "remote_host": self.remote_host} if self.remote_host else {}
        described = self.described()
        described["details"] |= {"context_length": self.context_tokens, "embedding_length": 64}
        return {
            **described,
            **remote,
            "modified_at": "2026-01-01T00:00:00Z",
            "size": 439_938,
            "capabilities": list(self.capabilities),
        }


@dataclass(frozen=True)
class Recorded:
    """A request that came in."""

    method: str
    path: str
    body: Json
    headers: Mapping[str, str]


@dataclass
class _Runner:
    """A loaded model: its context, and every text it has read since."""

    context: int
    read: list[str] = field(default_factory=list)
    gone_at: float | None = None


@dataclass(frozen=True)
class _Prefill:
    """What reading a prompt comes to."""

    tokens: int
    reused: int
    load_ns: int


class FakeOllama(ThreadedServer):
    """The fake server, running in threads while in its `with` statement.

    `faults` says what goes wrong with which chat call, counted from 1. Only calls that would run the model
    count, and of those only the ones whose body `counts` accepts. `waits` says which of them wait for a slot
    first, in ns. `counting`, `durations` and `answers_unread` (whether a prompt is rendered, and refused, without
    running the model) are those of the version unless they are given. `caching` is what its models can reuse: any
    start, only a whole prompt ("repeats"), or nothing. `lacks` are paths that it does not know, `leaves_out` keys that
    stand in no answer, as where another program imitates Ollama. `before` is called with the body of each counted chat
    call before it is read. `answer` gives the words of an answer by the tokens that were reused.
    """

    def __init__(
        self,
        *,
        version: str = "0.33.3",
        models: Sequence[FakeModel] = (FakeModel(),),
        loaded: Sequence[str] = (),
        required_header: tuple[str, str] | None = None,
        faults: Mapping[int, Fault] | None = None,
        counts: Callable[[Json], bool] = lambda body: True,
        counting: Counting | None = None,
        durations: Durations | None = None,
        answers_unread: bool | None = None,
        new_token_ns: int = NEW_TOKEN_NS,
        waits: Mapping[int, int] | None = None,
        caching: Caching = "starts",
        lacks: Collection[str] = (),
        leaves_out: Collection[str] = (),
        before: Callable[[FakeOllama, Json], None] = lambda fake, body: None,
        answer: Callable[[int], Sequence[str]] = lambda reused: ANSWER,
    ) -> None:
        self.version = version
        self.models = {model.name: model for model in models}
        self.required_header = required_header
        self.faults = dict(faults or {})
        self.counts = counts
        self.counting = counting or _counting_of(version)
        numbers = _numbers_of(version)
        whole_ms = (0, 4, 0) <= numbers <= (0, 6, 1)
        self.durations = durations or ("milliseconds" if whole_ms else "prefill")
        self.answers_unread = numbers >= (0, 30, 0) if answers_unread is None else answers_unread
        self.new_token_ns = new_token_ns
        self.waits = dict(waits or {})
        self.caching = caching
        self.answer = answer
        self.lacks, self.leaves_out, self.before = frozenset(lacks), frozenset(leaves_out), before
        self.waiting_counts = numbers < (0, 12, 5)
        self.requests: list[Recorded] = []
        self.chats = 0
        self.closing = threading.Event()
        self.lock = threading.RLock()
        self._runners = {_full_name(name): _Runner(DEFAULT_CONTEXT) for name in loaded}
        server = _Server(("127.0.0.1", 0), _Handler)
        server.fake = self
        super().__init__(server)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        super().__exit__(kind, error, trace)

    def paths(self) -> list[str]:
        """List the paths that were asked for, in order."""
        return [request.path for request in self.requests]

    def fail_next(self, fault: Fault) -> None:
        """Let the next counted chat call go wrong."""
        self.faults[self.chats + 1] = fault

    def forget(self) -> None:
        """Lose all that is loaded and cached, as by a restart."""
        self._runners.clear()

    def drop_cache(self) -> None:
        """Forget what was read, as when others have sent long prompts; the models stay loaded."""
        for runner in self._runners.values():
            runner.read.clear()

    def loaded(self) -> list[str]:
        """List the names of the models in memory."""
        now = time.monotonic()
        gone = [name for name, runner in self._runners.items() if runner.gone_at and runner.gone_at <= now]
        for name in gone:
            del self._runners[name]
        return list(self._runners)

    def context_of(self, name: str) -> int:
        return self._runners[name].context

    def unload(self, name: str) -> None:
        if runner := self._runners.get(name):
            runner.gone_at = time.monotonic() + HOLD_S

    def load(self, name: str, context: int) -> int:
        """Load a model unless it is loaded with this context, and say how long that took, in ns."""
        runner = self._runners.get(name)
        if runner and runner.gone_at is None and runner.context == context:
            return FIXED_NS // 5  # never 0: the scheduler's own time
        self._runners[name] = _Runner(context)
        return LOAD_NS

    def read(self, name: str, context: int, prompt: str) -> _Prefill:
        """Read a prompt: reuse its longest start that was read since loading, but never its last token."""
        load_ns = self.load(name, context)
        runner = self._runners[name]
        tokens = _tokens(prompt)
        if tokens > context:
            tokens = context // 2 + 2  # a cut prompt, as the real one reports it
            return _Prefill(tokens, 0, load_ns)
        shared = max((_shared(prompt, text) for text in runner.read), default=0)
        if self.caching == "nothing" or (self.caching == "repeats" and prompt not in runner.read):
            shared = 0
        runner.read.append(prompt)
        return _Prefill(tokens, min(shared // CHARACTERS_PER_TOKEN, tokens - 1), load_ns)

    def duration_ns(self, new_tokens: int, wait_ns: int) -> int:
        """Report the time of reading so many tokens the way this version does."""
        ns = FIXED_NS + self.new_token_ns * new_tokens + wait_ns * self.waiting_counts
        if self.durations == "milliseconds":
            return ns // 1_000_000 * 1_000_000
        if self.durations == "last-batch":
            return FIXED_NS + self.new_token_ns * ((new_tokens - 1) % BATCH_TOKENS + 1)
        return FIXED_NS + self.new_token_ns if self.durations == "last-token" else ns

    def counts_of(self, prefill: _Prefill) -> Json:
        """Report a prompt's tokens the way this version does."""
        if self.counting == "new":
            new = prefill.tokens - prefill.reused
            return {"prompt_eval_count": new} if new else {}
        counts = {"prompt_eval_count": prefill.tokens}
        if self.counting == "cached":
            counts["prompt_eval_cached_count"] = prefill.reused
        return counts


def _counting_of(version: str) -> Counting:
    numbers = _numbers_of(version)
    if (0, 33, 3) <= numbers < NEWEST:
        return "cached"
    return "new" if numbers == (0, 30, 0) or numbers < (0, 2, 0) else "whole"


def _numbers_of(version: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in version.split("-", 1)[0].split("."))
    except ValueError:
        return NEWEST
    return numbers if any(numbers) else NEWEST


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _shared(a: str, b: str) -> int:
    """Count the characters that two texts begin with alike."""
    differences = (place for place, (one, other) in enumerate(zip(a, b, strict=False)) if one != other)
    return next(differences, min(len(a), len(b)))


def _full_name(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeOllama

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away in the middle of an answer is part of the tests."""


class _HttpError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._handle({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            self._send_json({"error": "unexpected EOF"}, 400)
        else:
            self._handle(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: pytest's output is for the tests."""

    def _handle(self, body: Json) -> None:
        fake = self.server.fake
        fake.requests.append(Recorded(self.command, self.path, body, dict(self.headers)))
        routes: dict[tuple[str, str], Callable[[FakeOllama, Json], None]] = {
            ("GET", "/api/version"): self._version,
            ("GET", "/api/tags"): self._tags,
            ("GET", "/api/ps"): self._ps,
            ("POST", "/api/show"): self._show,
            ("POST", "/api/generate"): self._generate,
            ("POST", "/api/chat"): self._chat,
        }
        try:
            if fake.required_header and self.headers.get(fake.required_header[0]) != fake.required_header[1]:
                raise _HttpError(401, "unauthorized")
            route = routes.get((self.command, self.path))
            if route and self.path not in fake.lacks:
                route(fake, body)
            else:
                self._send(404, b"404 page not found", "text/plain")
        except _HttpError as error:
            self._send_json({"error": str(error)}, error.status)

    def _version(self, fake: FakeOllama, body: Json) -> None:
        self._send_json({"version": fake.version})

    def _tags(self, fake: FakeOllama, body: Json) -> None:
        self._send_json({"models": [model.listed() for model in fake.models.values()]})

    def _ps(self, fake: FakeOllama, body: Json) -> None:
        with fake.lock:
            entries = [
                {
                    **fake.models[name].described(),
                    "size": 0,
                    "size_vram": 0,
                    "expires_at": "2036-01-01T00:00:00Z",
                    "context_length": fake.context_of(name),
                }
                for name in fake.loaded()
            ]
        self._send_json({"models": entries})

    def _show(self, fake: FakeOllama, body: Json) -> None:
        name = _full_name(body.get("model") or body.get("name") or "")
        model = self._model(fake, name)
        shown: Json = {
            "modelfile": f"FROM /models/blobs/sha256-{model.digest}\n",
            "template": model.template,
            "details": model.described()["details"],
            "model_info": {
                "general.architecture": model.family,
                f"{model.family}.context_length": model.context_tokens,
                "tokenizer.ggml.add_bos_token": False,
            },
            "capabilities": list(model.capabilities),
            "modified_at": "2026-01-01T00:00:00Z",
        }
        if model.remote_host:
            shown |= {"remote_model": model.name, "remote_host": model.remote_host}
        self._send_json(shown)

    def _generate(self, fake: FakeOllama, body: Json) -> None:
        model = self._model(fake, body.get("model", ""))
        prompt = body.get("prompt", "")
        if not body.get("raw"):
            prompt = prompt and _rendered([{"role": "user", "content": prompt}])
        self._run(fake, model, body, prompt, lambda text: {"response": text})

    def _chat(self, fake: FakeOllama, body: Json) -> None:
        model = self._model(fake, body.get("model", ""))
        if "completion" not in model.capabilities:
            raise _HttpError(400, f'"{body["model"]}" does not support chat')
        messages = body.get("messages") or []
        prompt = _rendered(messages) if messages else ""

        def piece(text: str) -> Json:
            return {"message": {"role": "assistant", "content": text}}

        self._run(fake, model, body, prompt, piece)

    def _model(self, fake: FakeOllama, name: str) -> FakeModel:
        if not name:
            raise _HttpError(400, "model is required")
        model = fake.models.get(_full_name(name))
        if model is None:
            raise _HttpError(404, f"model '{name}' not found")
        return model

    def _run(
        self, fake: FakeOllama, model: FakeModel, body: Json, prompt: str, piece: Callable[[str], Json]
    ) -> None:
        base = {"model": body["model"], "created_at": "2026-01-01T00:00:00.000000000Z"}
        if body.get("_debug_render_only") and fake.answers_unread:
            self._send_json(
                {**base, **piece(""), "done": False, "_debug_info": {"rendered_template": prompt}}
            )
            return
        unloads = body.get("keep_alive") in (0, "0", "0s")
        options = body.get("options") or {}
        context = min(max(LEAST_CONTEXT, options.get("num_ctx") or DEFAULT_CONTEXT), model.context_tokens)
        with fake.lock:
            if not prompt:
                if unloads:
                    fake.unload(model.name)
                else:
                    time.sleep(fake.load(model.name, context) / 1e9)
                reason = "unload" if unloads else "load"
                self._send_json({**base, **piece(""), "done": True, "done_reason": reason})
                return
            if body.get("truncate") is False and _tokens(prompt) > context and fake.answers_unread:
                fake.load(model.name, context)
                raise _HttpError(400, _refusal(_tokens(prompt), context))
            fault = self._fault(fake, body)
            if fault is Fault.RESTART:
                fake.forget()
            prefill = fake.read(model.name, context, prompt)
            if unloads:
                fake.unload(model.name)
        asked = options.get("num_predict", -1)
        whole = list(fake.answer(prefill.reused))
        words = whole if asked < 0 else whole[:asked]
        new_tokens = prefill.tokens - prefill.reused
        wait_ns = fake.waits.get(fake.chats, 0) if self.path == "/api/chat" else 0
        prefill_ns = FIXED_NS + fake.new_token_ns * new_tokens
        decode_ns = ANSWER_TOKEN_NS * len(words)
        spent_ns = prefill.load_ns + prefill_ns + decode_ns + wait_ns
        time.sleep(spent_ns / 1e9)
        last = {
            "done": True,
            "done_reason": "length" if len(words) < len(whole) else "stop",
            "total_duration": spent_ns + FIXED_NS,
            "load_duration": prefill.load_ns,
            **fake.counts_of(prefill),
            "prompt_eval_duration": fake.duration_ns(new_tokens, wait_ns),
            "eval_count": len(words),
            "eval_duration": decode_ns,
        }
        last = {key: value for key, value in last.items() if key not in fake.leaves_out}
        pieces = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
        if body.get("stream", True):
            lines = [{**base, **piece(text), "done": False} for text in pieces]
            self._answer([*lines, {**base, **piece(""), **last}], fault, "application/x-ndjson")
        else:
            self._answer([{**base, **piece("".join(pieces)), **last}], fault, JSON_TYPE)

    def _fault(self, fake: FakeOllama, body: Json) -> Fault | None:
        if self.path != "/api/chat" or not fake.counts(body):
            return None
        fake.chats += 1
        fake.before(fake, body)
        return fake.faults.get(fake.chats)

    def _answer(self, lines: list[Json], fault: Fault | None, kind: str) -> None:
        """Send an answer of one or more lines, or what the fault makes of it."""
        if fault is Fault.ERROR_500:
            raise _HttpError(500, "llama runner process has terminated: signal: killed")
        if fault is Fault.HANG:
            self._wait_for_the_end()
            return
        if fault is Fault.DONE_FALSE:
            lines = [{**lines[0], "done": False}] if len(lines) > 1 else [_nothing_said(lines[0])]
        elif fault is Fault.NO_DONE:
            lines = lines[:-1]
        encoded = [json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in _spoilt(encoded, fault):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if fault is Fault.RESET:
            self._reset()
        elif fault is Fault.STALL:
            self._wait_for_the_end()
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _wait_for_the_end(self) -> None:
        """Keep the connection open and say nothing, until the client leaves or the fake closes."""
        self.close_connection = True
        self.connection.settimeout(0.02)
        while not self.server.fake.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def _reset(self) -> None:
        self.close_connection = True
        # Lingering for no time makes closing a reset instead of an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _send_json(self, answer: Json, status: int = 200) -> None:
        self._send(status, json.dumps(answer, separators=(",", ":")).encode(), JSON_TYPE)

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _spoilt(chunks: list[bytes], fault: Fault | None) -> Iterator[bytes]:
    """Yield what is still sent of an answer under this fault."""
    if fault in (Fault.RESET, Fault.STALL):
        yield chunks[0] if len(chunks) > 1 else chunks[0][:20]
    elif fault is Fault.GARBAGE:
        yield from chunks[:-1]
        yield b"\x00\xff\xfe<html>not json\n"
    elif fault is Fault.ERROR_OBJECT:
        yield from chunks[:-1]
        yield b'{"error":"an error was encountered while running the model: unexpected EOF"}\n'
    else:
        yield from chunks


def _nothing_said(line: Json) -> Json:
    """Make what a real server answers, unstreamed, where its runner ended without figures."""
    empty = {"message": {"role": "", "content": ""}} if "message" in line else {"response": ""}
    return {"model": "", "created_at": "0001-01-01T00:00:00Z", **empty, "done": False}


def _rendered(messages: Sequence[Json]) -> str:
    """Do what the models' template says."""
    turns = (f"<|{message['role']}|>{message.get('content', '')}\n" for message in messages)
    return "".join(turns) + "<|assistant|>"


def _refusal(tokens: int, context: int) -> str:
    """Word a refusal as Ollama hands on llama-server's: an error object as text in an error object."""
    message = (
        f"request ({tokens} tokens) exceeds the available context size ({context} tokens), try increasing it"
    )
    error = {
        "code": 400,
        "message": message,
        "type": "exceed_context_size_error",
        "n_prompt_tokens": tokens,
        "n_ctx": context,
    }
    return json.dumps({"error": error}, separators=(",", ":"))
