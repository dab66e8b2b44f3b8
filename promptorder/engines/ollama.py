"""The Ollama server: chat calls, the cache made cold by unloading, and the server's own figures."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from promptorder.engines._ollama_client import OllamaClient, elsewhere
from promptorder.engines._ollama_versions import (
    answers_without_reading,
    count_meaning,
    duration_caveat,
    parse_version,
)
from promptorder.errors import (
    EngineError,
    FailedReplyError,
    ModelNotFoundError,
    ModelUnsuitableError,
    PromptTooLongError,
    UsageError,
)
from promptorder.model.engine import Cold, Engine, EngineInfo, EngineOptions, TokenCount
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Reply

SUMMARY = "a running Ollama server, on this machine or another"
AUTO_RANK = 10
INSTALL_HINT = "start Ollama with `ollama serve` (--host if it is not on this machine)"

KEEP_ALIVE = "15m"
"""Sent with every call: a server whose default is 0 would unload the model after each."""
_COUNTING_CONTEXT = 256
"""llama.cpp's smallest context: a longer prompt is refused, and the refusal names its tokens."""
_UNLOAD_LIMIT_S = 60.0
_SHORT_CALL_LIMIT_S = 60.0
_FIRST_CALL_LIMIT_S = 900.0
_SAMPLE_CHARACTERS = 1500
_SHORT_CHARACTERS = 4000
_FILLER_WORD = "word "  # at least a token each
_FILLER_MARGIN = 64
_PROBE_LIMIT_S = 5.0


def available(options: EngineOptions) -> str | None:
    """None when a server answers; else one sentence why not."""
    client = OllamaClient(options.host, options.headers)
    client.limit_wait(_PROBE_LIMIT_S)
    try:
        client.get("/api/version")
    except EngineError as error:
        return str(error)
    finally:
        client.close()
    return None


def open_engine(options: EngineOptions) -> Engine:
    """Connect and choose the model.

    Raises EngineUnreachableError, ModelNotFoundError, ModelUnsuitableError (embedding only, or a cloud
    model without ``allow_remote``), UsageError (a host that cannot be read, or no model named and several
    there).
    """
    return OllamaEngine(options)


class OllamaEngine:
    """One model on one Ollama server. Not safe for several threads."""

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._client = OllamaClient(options.host, options.headers)
        self._client.limit_wait(_SHORT_CALL_LIMIT_S)
        self._touched = False
        self._slowest_s = 0.0
        self._characters_per_token: float | None = None
        self._filler_tokens: int | None = None
        try:
            self._connect(options)
        except BaseException:
            self._client.close()
            raise

    def _connect(self, options: EngineOptions) -> None:
        version_text = str(self._client.get("/api/version").get("version") or "")
        version = parse_version(version_text)
        self._count_meaning = count_meaning(version)
        self._answers_unread = answers_without_reading(version)
        models: list[dict[str, Any]] = self._client.get("/api/tags").get("models") or []
        self._model = self._choose(models)
        shown = self._show(self._model)
        self._blob = _blob(shown)
        listed = next((model for model in models if _name(model) == self._model), {})
        remote = listed.get("remote_host") or shown.get("remote_host")
        if remote and not options.allow_remote:
            raise ModelUnsuitableError(
                f"{self._model} is a cloud model: the document would be sent to {remote}",
                hint="choose a local model (`ollama list` shows them), or add --allow-remote if it may leave "
                "this machine",
            )
        capabilities = [str(each) for each in shown.get("capabilities") or ()]
        if capabilities and "completion" not in capabilities:
            raise ModelUnsuitableError(
                f"{self._model} cannot complete text; it can: {', '.join(capabilities)}",
                hint="choose a model that answers, with --model; `ollama list` shows those that are there",
            )
        self._found = self._loaded()
        goes_to = remote or elsewhere(self._client.host_name)
        self._cold: Cold = options.cold or ("nonce" if goes_to else "unload")
        self._info = EngineInfo(
            name="ollama",
            version=None if version_text in ("", "0.0.0") else version_text,
            model=self._model,
            model_digest=listed.get("digest"),
            max_context_tokens=_context_length(shown),
            can_think="thinking" in capabilities,
            document_goes_to=goes_to,
            duration_caveat=duration_caveat(version),
            notes=tuple(self._notes()),
            facts={key: str(value) for key, value in (shown.get("details") or {}).items() if value},
        )

    @property
    def info(self) -> EngineInfo:
        """What is known by now."""
        return self._info

    @property
    def cold(self) -> Cold:
        """Unloading on this machine, the nonce elsewhere, unless the user chose."""
        return self._cold

    def render(self, prompt: Prompt) -> str | None:
        """The prompt through the model's template, by the server itself; None before version 0.30."""
        if not self._can_answer_unread():
            return None
        body = {**self._chat_body(prompt), "stream": False, "_debug_render_only": True}
        if self._info.context_tokens is None:
            body["options"]["num_ctx"] = self._loaded_context or _COUNTING_CONTEXT
        self._touched = True  # rendering loads the model, though it does not run it
        reply = self._client.post("/api/chat", body)
        rendered = (reply.get("_debug_info") or {}).get("rendered_template")
        return str(rendered) if rendered is not None else None

    def count_tokens(self, text: str) -> TokenCount:
        """Exact to a token where the server refuses a long prompt with its count; else from a sample."""
        return self._count(
            "/api/generate", lambda more: {"raw": True, "prompt": text + more}, text, whole=False
        )

    def count_prompt(self, prompt: Prompt) -> TokenCount:
        """As count_tokens, for a whole prompt with its template."""

        def content(more: str) -> dict[str, Any]:
            messages = _messages(prompt)
            messages[-1]["content"] += more
            return {"messages": messages}

        return self._count("/api/chat", content, prompt.text, whole=True)

    def use_context(self, tokens: int) -> None:
        """Fix ``num_ctx``. With the nonce, a loaded context that is large enough is kept as it is."""
        tokens = max(tokens, self._kept_context or 0)
        self._info = replace(self._info, context_tokens=tokens)

    def start_block(self) -> Reply:
        """Unload, wait until the model is gone, and load it with the options of all further calls."""
        started = time.perf_counter_ns()
        if self._cold == "unload":
            self._unload()
            started = time.perf_counter_ns()
        self._touched = True
        self._client.limit_wait(_FIRST_CALL_LIMIT_S)
        self._client.post("/api/generate", self._body({"prompt": "", "stream": False}))
        elapsed = time.perf_counter_ns() - started
        return Reply(answer="", load_ns=elapsed, elapsed_ns=elapsed, done_reason="load")

    def ask(self, prompt: Prompt, on_token: Callable[[], None] | None = None) -> Reply:
        """One streaming chat call. Raises FailedReplyError for a reply that does not come whole."""
        self._touched = True
        answer: list[str] = []
        thinking: list[str] = []
        first_token_ns: int | None = None
        last: dict[str, Any] = {}
        self._client.limit_wait(self._patience_s())
        started = time.perf_counter_ns()
        for part in self._client.stream("/api/chat", self._chat_body(prompt)):
            message = part.get("message") or {}
            content, thought = message.get("content") or "", message.get("thinking") or ""
            if (content or thought) and first_token_ns is None:
                first_token_ns = time.perf_counter_ns() - started
                if on_token is not None:
                    on_token()
            answer.append(content)
            thinking.append(thought)
            last = part
        elapsed = time.perf_counter_ns() - started
        if not last.get("done"):
            raise FailedReplyError("the reply ended before it was done")
        self._slowest_s = max(self._slowest_s, elapsed / 1e9)
        return self._reply(last, "".join(answer), "".join(thinking) or None, first_token_ns, elapsed)

    def restore(self) -> None:
        """Load the model again as it was found, or unload it where it was not loaded."""
        if not self._touched:
            return
        self._touched = False
        self._client.limit_wait(_FIRST_CALL_LIMIT_S)
        if self._found is None:
            self._client.post("/api/generate", {"model": self._model, "prompt": "", "keep_alive": 0})
            return
        options = {}
        if self._found.get("context_length"):
            options["num_ctx"] = self._found["context_length"]
        self._client.post(
            "/api/generate",
            {
                "model": self._found.get("model") or self._model,
                "prompt": "",
                "stream": False,
                "keep_alive": _seconds_left(self._found.get("expires_at")),
                "options": options,
            },
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _choose(self, models: list[dict[str, Any]]) -> str:
        names = [_name(model) for model in models]
        wanted = self._options.model
        if wanted:
            full = wanted if ":" in wanted.rsplit("/", 1)[-1] else f"{wanted}:latest"
            for name in names:
                if name.lower() in (wanted.lower(), full.lower()):
                    return name
            there = f"there are: {', '.join(names)}; " if names else "there is none yet; "
            raise ModelNotFoundError(
                f"the server at {self._client.address} does not have the model {wanted}",
                hint=f"{there}get it with `ollama pull {wanted}`",
            )
        if not names:
            raise ModelNotFoundError(
                f"the server at {self._client.address} has no model",
                hint="get one, for example with `ollama pull smollm2`",
            )
        usable = [name for name, model in zip(names, models, strict=True) if self._can_complete(name, model)]
        loaded = [_name(entry) for entry in self._client.get("/api/ps").get("models") or []]
        for name in loaded:
            if name in usable:
                return name
        if len(usable) == 1:
            return usable[0]
        raise UsageError(
            f"the server at {self._client.address} has {len(usable) or 'no'} models that complete text, and "
            "none is loaded",
            hint="choose one with --model: " + ", ".join(usable or names),
        )

    def _can_complete(self, name: str, listed: Mapping[str, Any]) -> bool:
        if listed.get("remote_host") and not self._options.allow_remote:
            return False
        capabilities = listed.get("capabilities")
        if capabilities is None:
            capabilities = self._show(name).get("capabilities")
        return not capabilities or "completion" in capabilities

    def _show(self, model: str) -> dict[str, Any]:
        return self._client.post("/api/show", {"model": model})

    def _loaded(self) -> dict[str, Any] | None:
        """The entry of the running model that shares our model's runner: names are only aliases."""
        entries = self._client.get("/api/ps").get("models") or []
        for entry in entries:
            name = _name(entry)
            if name == self._model or (self._blob and _blob(self._show(name)) == self._blob):
                return dict(entry)
        return None

    @property
    def _loaded_context(self) -> int | None:
        """The context with which the model was found loaded; None where it was not, or the server does not tell."""
        length = (self._found or {}).get("context_length")
        return int(length) if length else None

    @property
    def _kept_context(self) -> int | None:
        """That context where the model is not ours to unload: another one would reload it, its cache gone."""
        return self._loaded_context if self._cold == "nonce" else None

    def _unload(self) -> None:
        self._client.limit_wait(_UNLOAD_LIMIT_S)
        deadline = time.monotonic() + _UNLOAD_LIMIT_S
        pause_s = 0.005
        asked_for = ""
        while (entry := self._loaded()) is not None:
            name = _name(entry) or self._model
            if name != asked_for:
                self._client.post(
                    "/api/generate", {"model": name, "prompt": "", "stream": False, "keep_alive": 0}
                )
                asked_for = name
                continue
            if time.monotonic() > deadline:
                raise EngineError(
                    f"{name} is still loaded {_UNLOAD_LIMIT_S:.0f} s after it was asked to go",
                    hint="something else uses the model: stop it, or measure with --cold nonce",
                )
            time.sleep(pause_s)
            pause_s = min(0.25, pause_s * 1.5)

    def _notes(self) -> Iterator[str]:
        """A word before somebody's loaded model loses its cache or its place."""
        if self._found is not None and self._cold == "unload":
            yield (
                f"{_name(self._found)} is loaded on this server. It is unloaded before each layout, which drops its "
                "cache for whoever uses it, and loaded again at the end."
            )
        others = [_name(entry) for entry in self._client.get("/api/ps").get("models") or ()]
        others = [name for name in others if self._found is None or name != _name(self._found)]
        if others:
            yield (
                f"other models are loaded ({', '.join(others)}): the server may unload them to make room, and what "
                "they do meanwhile slows the measurement"
            )

    def _count(
        self, path: str, content: Callable[[str], dict[str, Any]], text: str, *, whole: bool
    ) -> TokenCount:
        """Count what ``content`` sends by having it refused; ``content`` takes a text to add at its end."""
        if not self._can_answer_unread():
            return self._estimate(text)
        if len(text) > _SHORT_CHARACTERS and self._kept_context is None:
            count = self._refused(path, content(""))
            return TokenCount(count, exact=True) if count is not None else self._estimate(text)
        # A short text would be read instead of refused: make it long, and take the filler off again.
        filler = "\n" + _FILLER_WORD * ((self._kept_context or _COUNTING_CONTEXT) + _FILLER_MARGIN)
        if self._filler_tokens is None:
            self._filler_tokens = self._refused("/api/generate", {"raw": True, "prompt": filler})
        padded = self._refused(path, content(filler))
        if padded is None or self._filler_tokens is None:
            return self._estimate(text)
        return TokenCount(max(1, padded - self._filler_tokens), exact=not whole)

    def _refused(self, path: str, content: dict[str, Any]) -> int | None:
        """Tokens of a prompt that is too long for the smallest context; None where it is not refused."""
        self._touched = True
        body = {
            "model": self._model,
            **content,
            "stream": False,
            "truncate": False,
            "keep_alive": KEEP_ALIVE,
            "options": {
                "num_ctx": self._kept_context or _COUNTING_CONTEXT,
                "num_predict": 1,
                "temperature": 0,
            },
        }
        if self._info.can_think:
            body["think"] = False
        try:
            self._client.post(path, body)
        except PromptTooLongError as refusal:
            match = re.search(r"n_prompt_tokens\D*(\d+)|request \((\d+) tokens\)", str(refusal.__cause__))
            return int(match[1] or match[2]) if match is not None else None
        return None

    def _estimate(self, text: str) -> TokenCount:
        """From a sample out of the text's middle: older servers count only by reading."""
        if self._characters_per_token is None:
            middle = max(0, len(text) // 2 - _SAMPLE_CHARACTERS // 2)
            sample = text[middle : middle + _SAMPLE_CHARACTERS]
            read = self._read_raw(sample, num_ctx=2048) or len(sample) // 4
            self._characters_per_token = max(1, len(sample)) / max(1, read)
        return TokenCount(max(1, round(len(text) / self._characters_per_token)), exact=False)

    def _can_answer_unread(self) -> bool:
        if self._answers_unread is None:
            self._probe()
        return bool(self._answers_unread)

    def _probe(self) -> None:
        """Ask a server of unknown version by a few tokens what it can do and what it counts."""
        body = self._body({"messages": [{"role": "user", "content": "hi"}], "stream": False})
        body["options"] |= {"num_ctx": self._loaded_context or _COUNTING_CONTEXT, "num_predict": 1}
        self._touched = True
        reply = self._client.post("/api/chat", {**body, "_debug_render_only": True})
        self._answers_unread = "_debug_info" in reply
        text = "one two three four five six seven eight nine ten eleven twelve"
        cold, warm = (self._read_raw(text, num_ctx=_COUNTING_CONTEXT) for _ in range(2))
        self._count_meaning = "read" if cold and (warm or 0) < cold else "whole"

    def _read_raw(self, text: str, *, num_ctx: int) -> int | None:
        """Let the server read a short text, and return the number of tokens it reports."""
        self._touched = True
        reply = self._client.post(
            "/api/generate",
            {
                "model": self._model,
                "raw": True,
                "prompt": text,
                "stream": False,
                "keep_alive": KEEP_ALIVE,
                "options": {
                    "num_ctx": self._kept_context or num_ctx,
                    "num_predict": 1,
                    "temperature": 0,
                },
            },
        )
        return _whole(reply, "prompt_eval_count")

    def _chat_body(self, prompt: Prompt) -> dict[str, Any]:
        body = self._body({"messages": _messages(prompt), "stream": True, "truncate": False})
        if self._info.can_think:
            body["think"] = False
        return body

    def _body(self, content: dict[str, Any]) -> dict[str, Any]:
        # The same options in every call: another num_ctx would reload the runner and drop its cache.
        options: dict[str, Any] = {
            "temperature": 0,
            "seed": self._options.seed,
            "num_predict": self._options.num_predict,
        }
        if self._info.context_tokens is not None:
            options["num_ctx"] = self._info.context_tokens
        return {"model": self._model, **content, "keep_alive": KEEP_ALIVE, "options": options}

    def _reply(
        self,
        last: Mapping[str, Any],
        answer: str,
        thinking: str | None,
        first_token_ns: int | None,
        elapsed_ns: int,
    ) -> Reply:
        count, cached = _whole(last, "prompt_eval_count"), _whole(last, "prompt_eval_cached_count")
        if self._info.counts_cached_tokens is None:
            counts = cached is not None or self._count_meaning == "read"
            self._info = replace(self._info, counts_cached_tokens=counts)
        only_read = cached is None and self._count_meaning == "read"
        return Reply(
            answer=answer,
            thinking=thinking,
            prompt_tokens=None if only_read else count,
            cached_tokens=cached,
            read_tokens=(count or 0)
            if only_read
            else (count - cached if count and cached is not None else None),
            output_tokens=_whole(last, "eval_count"),
            prefill_ns=_whole(last, "prompt_eval_duration"),
            decode_ns=_whole(last, "eval_duration"),
            load_ns=_whole(last, "load_duration"),
            total_ns=_whole(last, "total_duration"),
            first_token_ns=first_token_ns,
            elapsed_ns=elapsed_ns,
            done_reason=str(last["done_reason"]) if last.get("done_reason") else None,
        )

    def _patience_s(self) -> float:
        """A long prefill looks like a hanging server: wait by the speed that was seen."""
        if self._options.timeout_s is not None:
            return self._options.timeout_s
        if not self._slowest_s:
            return _FIRST_CALL_LIMIT_S
        return max(120.0, 10 * self._slowest_s)


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in prompt.messages]


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or entry.get("model") or "")


def _blob(shown: Mapping[str, Any]) -> str | None:
    """The digest of the weights' file: models that share it share a runner, whatever their names."""
    match = re.search(r"^FROM .*sha256-([0-9a-f]{64})$", str(shown.get("modelfile") or ""), re.MULTILINE)
    return match[1] if match else None


def _context_length(shown: Mapping[str, Any]) -> int | None:
    """The context that the model was made for, in tokens."""
    for key, value in (shown.get("model_info") or {}).items():
        if key.endswith(".context_length") and isinstance(value, int):
            return value
    return None


def _whole(reply: Mapping[str, Any], key: str) -> int | None:
    """A count or a duration; absent, and anything that is neither, is None."""
    value = reply.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds_left(expires_at: object) -> str:
    """A keep_alive that ends when the model would have been unloaded; at least five minutes."""
    try:
        # Nanoseconds are more digits than datetime takes.
        text = re.sub(r"(\.\d{6})\d+", r"\1", str(expires_at)).replace("Z", "+00:00")
        left = (datetime.fromisoformat(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        left = 0.0
    # A model that is kept for ever expires in some hundred years.
    return "-1s" if left > 10 * 365 * 86400 else f"{max(300, round(left))}s"
