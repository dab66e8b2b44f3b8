"""The Ollama server: chat calls, the cache made cold by unloading, and the server's own figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from promptorder.engines._gguf import vocabulary_of
from promptorder.engines._ollama_client import OllamaClient, elsewhere
from promptorder.engines._ollama_counting import KEEP_ALIVE, Counting
from promptorder.engines._ollama_memory import Memory
from promptorder.engines._ollama_models import (
    blob_of,
    capabilities_of,
    check_suitable,
    choose_model,
    context_length,
    name_of,
    show,
    sliding_window,
)
from promptorder.engines._ollama_replies import PrefillTimes, reply_of
from promptorder.errors import EngineError, FailedReplyError
from promptorder.model.engine import Cold, Engine, EngineInfo, EngineOptions, TokenCount
from promptorder.model.ollama_versions import parse_version
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Reply
from promptorder.tokenizers import Vocabulary

SUMMARY = "a running Ollama server, on this machine or another"
AUTO_RANK = 10
INSTALL_HINT = "start Ollama with `ollama serve` (--host if it is not on this machine)"

_SHORT_CALL_LIMIT_S = 60.0
_FIRST_CALL_LIMIT_S = 900.0
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
        self._first_of_block = False
        try:
            self._connect(options)
        except BaseException:
            self._client.close()
            raise

    def _connect(self, options: EngineOptions) -> None:
        client = self._client
        version_text = str(client.get("/api/version").get("version") or "")
        version = parse_version(version_text)
        self._prefill_times = PrefillTimes(version)
        models: list[dict[str, Any]] = client.get("/api/tags").get("models") or []
        self._model = choose_model(client, models, options.model, allow_remote=options.allow_remote)
        shown = show(client, self._model)
        listed = next((model for model in models if name_of(model) == self._model), {})
        remote = listed.get("remote_host") or shown.get("remote_host")
        check_suitable(self._model, shown, remote, allow_remote=options.allow_remote)
        self._memory = Memory(client, self._model, blob_of(shown))
        goes_to = remote or elsewhere(client.host_name)
        if options.cold == "unload" and not self._memory.can_unload:
            raise EngineError(
                "this server does not list the models that are loaded, so it cannot be seen whether one is gone",
                hint="use --cold nonce",
            )
        self._cold: Cold = options.cold or ("nonce" if goes_to or not self._memory.can_unload else "unload")
        self._info = EngineInfo(
            name="ollama",
            version=None if version is None and version_text in ("", "0.0.0") else version_text,
            model=self._model,
            model_digest=listed.get("digest"),
            max_context_tokens=context_length(shown),
            can_think="thinking" in capabilities_of(shown),
            document_goes_to=goes_to,
            duration_caveat=self._prefill_times.caveat,
            notes=tuple(self._memory.notes(unloads=self._cold == "unload")),
            facts={key: str(value) for key, value in (shown.get("details") or {}).items() if value},
            sliding_window_tokens=sliding_window(shown),
        )
        self._counting = Counting(
            client,
            self._model,
            version,
            can_think=self._info.can_think,
            loaded_context=self._memory.found_context,
            kept_context=self._kept_context,
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
        return self.rendered("/api/chat", {"messages": prompt.chat()})

    def rendered(self, path: str, content: Mapping[str, Any]) -> str | None:
        """What the model reads of a request to ``path``, by the server itself; None before version 0.30."""
        if not self._counting.answers_unread():
            return None
        body = self._body({**content, "truncate": False, "stream": False, "_debug_render_only": True})
        if self._info.can_think:
            body.setdefault("think", False)
        if self._info.context_tokens is None:
            body["options"]["num_ctx"] = self._counting.context
        self._touched = True  # rendering loads the model, though it does not run it
        reply = self._client.post(path, body)
        rendered = (reply.get("_debug_info") or {}).get("rendered_template")
        return str(rendered) if rendered is not None else None

    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the model, as the server has it: some megabytes of JSON."""
        return vocabulary_of(show(self._client, self._model, verbose=True).get("model_info") or {})

    def count_tokens(self, text: str) -> TokenCount:
        """Exact to a token where the server refuses a long prompt with its count; else from a sample."""
        return self._counting.count(
            "/api/generate", lambda more: {"raw": True, "prompt": text + more}, text, whole=False
        )

    def count_prompt(self, prompt: Prompt) -> TokenCount:
        """As count_tokens, for a whole prompt with its template."""

        def content(more: str) -> dict[str, Any]:
            messages = prompt.chat()
            messages[-1]["content"] += more
            return {"messages": messages}

        return self._counting.count("/api/chat", content, prompt.text, whole=True)

    def use_context(self, tokens: int) -> None:
        """Fix ``num_ctx``. With the nonce, a loaded context that is large enough is kept as it is."""
        tokens = max(tokens, self._kept_context or 0)
        self._info = replace(self._info, context_tokens=tokens)

    def start_block(self) -> Reply:
        """Unload, wait until the model is gone, and load it with the options of all further calls."""
        started = time.perf_counter_ns()
        if self._cold == "unload":
            self._memory.unload()
            started = time.perf_counter_ns()
        self._touched = True
        self._client.limit_wait(_FIRST_CALL_LIMIT_S)
        self._client.post("/api/generate", self._body({"prompt": "", "stream": False}))
        elapsed = time.perf_counter_ns() - started
        self._first_of_block = True
        return Reply(answer="", load_ns=elapsed, elapsed_ns=elapsed, done_reason="load")

    def ask(
        self, prompt: Prompt, on_token: Callable[[], None] | None = None, *, most_tokens: int | None = None
    ) -> Reply:
        """One streaming chat call. Raises FailedReplyError for a reply that does not come whole."""
        self._touched = True
        answer: list[str] = []
        thinking: list[str] = []
        first_token_ns: int | None = None
        last: dict[str, Any] = {}
        self._client.limit_wait(self._patience_s())
        started = time.perf_counter_ns()
        body = self._chat_body(prompt)
        if most_tokens is not None:
            body["options"]["num_predict"] = most_tokens  # no option of loading: nothing is reloaded
        for part in self._client.stream("/api/chat", body):
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
        reply = reply_of(
            last,
            answer,
            thinking,
            first_token_ns=first_token_ns,
            elapsed_ns=elapsed,
            counts_what_was_read=self._counting.meaning == "read",
        )
        return self._learned(reply)

    def others(self) -> tuple[str, ...]:
        """The models that the server has in memory beside ours, under whatever name that is."""
        return self._memory.others()

    def restore(self) -> None:
        """Load the model again as it was found, or unload it where it was not loaded."""
        if not (self._touched or self._counting.used):
            return
        self._touched = self._counting.used = False
        self._client.limit_wait(_FIRST_CALL_LIMIT_S)
        self._memory.put_back()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    @property
    def _kept_context(self) -> int | None:
        """The context as it was found, where the model is not ours to unload: another one would reload it, its cache gone."""
        return self._memory.found_context if self._cold == "nonce" else None

    def _chat_body(self, prompt: Prompt) -> dict[str, Any]:
        body = self._body({"messages": prompt.chat(), "stream": True, "truncate": False})
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

    def _learned(self, reply: Reply) -> Reply:
        """The reply as far as it can be believed; what it tells of the server goes into ``info``."""
        counts = self._info.counts_cached_tokens
        if counts is None:
            counts = reply.cached_tokens is not None or self._counting.meaning == "read"
        reply = self._prefill_times.believed(reply, cold=self._first_of_block)
        self._first_of_block = False
        self._info = replace(
            self._info, counts_cached_tokens=counts, duration_caveat=self._prefill_times.caveat
        )
        return reply

    def _patience_s(self) -> float:
        """A long prefill looks like a hanging server: wait by the speed that was seen."""
        if self._options.timeout_s is not None:
            return self._options.timeout_s
        if not self._slowest_s:
            return _FIRST_CALL_LIMIT_S
        return max(120.0, 10 * self._slowest_s)
