"""The Ollama server: chat calls, the cache made cold by unloading, and the server's own figures."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from promptorder.engines._gguf import vocabulary_of
from promptorder.engines._ollama_client import OllamaClient, elsewhere
from promptorder.engines._ollama_counting import KEEP_ALIVE, Counting, whole_number
from promptorder.engines._ollama_models import (
    blob_of,
    capabilities_of,
    check_suitable,
    choose_model,
    context_length,
    name_of,
    running,
    show,
    sliding_window,
    tells_what_runs,
)
from promptorder.errors import EngineError, FailedReplyError, ModelNotFoundError
from promptorder.model.engine import Cold, Engine, EngineInfo, EngineOptions, TokenCount
from promptorder.model.ollama_versions import duration_caveat, duration_is_doubtful, parse_version
from promptorder.model.prompt import Prompt
from promptorder.model.sample import Reply
from promptorder.tokenizers import Vocabulary

SUMMARY = "a running Ollama server, on this machine or another"
AUTO_RANK = 10
INSTALL_HINT = "start Ollama with `ollama serve` (--host if it is not on this machine)"

_UNLOAD_LIMIT_S = 60.0
_SHORT_CALL_LIMIT_S = 60.0
_FIRST_CALL_LIMIT_S = 900.0
_PROBE_LIMIT_S = 5.0
_MUCH_NS = 200_000_000
"""What a server does beside loading, reading and writing took up to 50 ms; several times that on a busy machine."""
_BY_OUR_CLOCK = (
    "the server gives no times of its own, as some that imitate Ollama: the time to the first token by our clock stands "
    "for the prefill"
)
_PART_OF_READING = (
    "this server's prompt_eval_duration covers only a part of the reading: nothing is inferred from it. "
    "Update Ollama to 0.33.3 or later"
)


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
        # Until a cold call has shown that they are whole, or are not.
        self._durations: Literal["whole", "doubtful", "parts"] = (
            "doubtful" if duration_is_doubtful(version) else "whole"
        )
        models: list[dict[str, Any]] = client.get("/api/tags").get("models") or []
        self._model = choose_model(client, models, options.model, allow_remote=options.allow_remote)
        shown = show(client, self._model)
        listed = next((model for model in models if name_of(model) == self._model), {})
        remote = listed.get("remote_host") or shown.get("remote_host")
        check_suitable(self._model, shown, remote, allow_remote=options.allow_remote)
        self._blob = blob_of(shown)
        self._found = self._loaded()
        goes_to = remote or elsewhere(client.host_name)
        self._can_unload = tells_what_runs(client)
        if options.cold == "unload" and not self._can_unload:
            raise EngineError(
                "this server does not list the models that are loaded, so it cannot be seen whether one is gone",
                hint="use --cold nonce",
            )
        self._cold: Cold = options.cold or ("nonce" if goes_to or not self._can_unload else "unload")
        self._info = EngineInfo(
            name="ollama",
            version=None if version is None and version_text in ("", "0.0.0") else version_text,
            model=self._model,
            model_digest=listed.get("digest"),
            max_context_tokens=context_length(shown),
            can_think="thinking" in capabilities_of(shown),
            document_goes_to=goes_to,
            duration_caveat=duration_caveat(version),
            notes=tuple(self._notes()),
            facts={key: str(value) for key, value in (shown.get("details") or {}).items() if value},
            sliding_window_tokens=sliding_window(shown),
        )
        self._counting = Counting(
            client,
            self._model,
            version,
            can_think=self._info.can_think,
            loaded_context=self._loaded_context,
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
        return self.rendered("/api/chat", {"messages": _messages(prompt)})

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
            messages = _messages(prompt)
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
            self._unload()
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
        reply = self._reply(last, "".join(answer), "".join(thinking) or None, first_token_ns, elapsed)
        return replace(self._believed(reply), pieces=tuple(piece for piece in answer if piece))

    def restore(self) -> None:
        """Load the model again as it was found, or unload it where it was not loaded."""
        if not (self._touched or self._counting.used):
            return
        self._touched = self._counting.used = False
        self._client.limit_wait(_FIRST_CALL_LIMIT_S)
        if self._found is None:
            if self._can_unload:
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

    def _loaded(self) -> dict[str, Any] | None:
        """The entry of the running model that shares our model's runner: names are only aliases."""
        for entry in running(self._client):
            if self._is_ours(name_of(entry)):
                return entry
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

    def others(self) -> tuple[str, ...]:
        """The models that the server has in memory beside ours, under whatever name that is."""
        ours = {self._model} | ({name_of(self._found)} if self._found is not None else set())
        names = (name_of(entry) for entry in running(self._client))
        return tuple(n for n in names if n not in ours and not self._is_ours(n))

    def _is_ours(self, name: str) -> bool:
        """Names are only aliases: whether this one's model is of our model's file."""
        if name == self._model or not self._blob:
            return name == self._model
        try:
            return blob_of(show(self._client, name)) == self._blob
        except ModelNotFoundError:  # deleted, and still in memory
            return False

    def _unload(self) -> None:
        self._client.limit_wait(_UNLOAD_LIMIT_S)
        deadline = time.monotonic() + _UNLOAD_LIMIT_S
        pause_s = 0.005
        asked_for = ""
        while (entry := self._loaded()) is not None:
            name = name_of(entry) or self._model
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
                f"{name_of(self._found)} is loaded on this server. It is unloaded before each layout, which drops its "
                "cache for whoever uses it, and loaded again at the end."
            )
        if others := self.others():
            yield (
                f"other models are loaded ({', '.join(others)}): the server may unload them to make room, and what "
                "they do meanwhile slows the measurement"
            )

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
        count, cached = (
            whole_number(last, "prompt_eval_count"),
            whole_number(last, "prompt_eval_cached_count"),
        )
        if self._info.counts_cached_tokens is None:
            counts = cached is not None or self._counting.meaning == "read"
            self._info = replace(self._info, counts_cached_tokens=counts)
        only_read = cached is None and self._counting.meaning == "read"
        return Reply(
            answer=answer,
            thinking=thinking,
            prompt_tokens=None if only_read else count,
            cached_tokens=cached,
            read_tokens=(count or 0)
            if only_read
            else (count - cached if count and cached is not None else None),
            output_tokens=whole_number(last, "eval_count"),
            prefill_ns=whole_number(last, "prompt_eval_duration"),
            decode_ns=whole_number(last, "eval_duration"),
            load_ns=whole_number(last, "load_duration"),
            total_ns=whole_number(last, "total_duration"),
            first_token_ns=first_token_ns,
            elapsed_ns=elapsed_ns,
            done_reason=str(last["done_reason"]) if last.get("done_reason") else None,
        )

    def _believed(self, reply: Reply) -> Reply:
        """Without a prefill time where this server's covers a part of the reading: a cold call's total tells."""
        if self._durations == "doubtful" and self._first_of_block and reply.waited_ns is not None:
            parts = reply.waited_ns > max(_MUCH_NS, reply.prefill_ns or 0)
            if parts:
                self._durations = "parts"
                self._info = replace(self._info, duration_caveat=_PART_OF_READING)
            elif parse_version(self._info.version or "") is not None:
                # Not of all models are they parts.
                self._info = replace(self._info, duration_caveat=None)
        self._first_of_block = False
        if reply.prefill_ns is None and reply.total_ns is None and reply.first_token_ns is not None:
            self._info = replace(self._info, duration_caveat=_BY_OUR_CLOCK)
            return replace(reply, prefill_ns=reply.first_token_ns)
        return replace(reply, prefill_ns=None) if self._durations == "parts" else reply

    def _patience_s(self) -> float:
        """A long prefill looks like a hanging server: wait by the speed that was seen."""
        if self._options.timeout_s is not None:
            return self._options.timeout_s
        if not self._slowest_s:
            return _FIRST_CALL_LIMIT_S
        return max(120.0, 10 * self._slowest_s)


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in prompt.messages]


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
