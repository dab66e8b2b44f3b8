"""An Ollama server's memory, seen from one model: how it was found loaded, made to go, and put back."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from promptorder.engines._ollama_client import OllamaClient
from promptorder.engines._ollama_models import blob_of, name_of, running, show, tells_what_runs
from promptorder.errors import EngineError, ModelNotFoundError

_UNLOAD_LIMIT_S = 60.0


class Memory:
    """What is loaded beside ``model``, and what of it is the model's own: names are only aliases.

    ``blob`` is the digest of the model's file, where the server tells it. ``found`` is the model's entry as it was at
    first, None where it was not loaded; ``can_unload`` whether the server shows that a model is gone.
    """

    def __init__(self, client: OllamaClient, model: str, blob: str | None) -> None:
        self._client = client
        self._model = model
        self._blob = blob
        self.found = self._loaded()
        self.can_unload = tells_what_runs(client)

    @property
    def found_context(self) -> int | None:
        """The context with which the model was found loaded; None where it was not, or the server does not tell."""
        length = (self.found or {}).get("context_length")
        return int(length) if length else None

    def others(self) -> tuple[str, ...]:
        """The models that the server has in memory beside ours, under whatever name that is."""
        ours = {self._model} | ({name_of(self.found)} if self.found is not None else set())
        names = (name_of(entry) for entry in running(self._client))
        return tuple(n for n in names if n not in ours and not self._is_ours(n))

    def notes(self, *, unloads: bool) -> Iterator[str]:
        """A word before somebody's loaded model loses its cache or its place."""
        if self.found is not None and unloads:
            yield (
                f"{name_of(self.found)} is loaded on this server. It is unloaded before each layout, which drops its "
                "cache for whoever uses it, and loaded again at the end."
            )
        if others := self.others():
            yield (
                f"other models are loaded ({', '.join(others)}): the server may unload them to make room, and what "
                "they do meanwhile slows the measurement"
            )

    def unload(self) -> None:
        """Ask the model to go, and wait until it is gone. Raises EngineError where something else keeps it."""
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

    def put_back(self) -> None:
        """Load the model again as it was found, or unload it where it was not loaded."""
        if self.found is None:
            if self.can_unload:
                self._client.post("/api/generate", {"model": self._model, "prompt": "", "keep_alive": 0})
            return
        options = {}
        if self.found.get("context_length"):
            options["num_ctx"] = self.found["context_length"]
        self._client.post(
            "/api/generate",
            {
                "model": self.found.get("model") or self._model,
                "prompt": "",
                "stream": False,
                "keep_alive": _seconds_left(self.found.get("expires_at")),
                "options": options,
            },
        )

    def _loaded(self) -> dict[str, Any] | None:
        """The entry of the running model that shares our model's runner."""
        for entry in running(self._client):
            if self._is_ours(name_of(entry)):
                return entry
        return None

    def _is_ours(self, name: str) -> bool:
        """Whether the model of this name is of our model's file."""
        if name == self._model or not self._blob:
            return name == self._model
        try:
            return blob_of(show(self._client, name)) == self._blob
        except ModelNotFoundError:  # deleted, and still in memory
            return False


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
