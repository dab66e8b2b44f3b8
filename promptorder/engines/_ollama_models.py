"""Models of an Ollama server: which one is meant, and what the server says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from promptorder.engines._ollama_client import OllamaClient
from promptorder.errors import ModelNotFoundError, ModelUnsuitableError, UsageError

Entry = Mapping[str, Any]


def choose_model(
    client: OllamaClient, models: Sequence[Entry], wanted: str | None, *, allow_remote: bool
) -> str:
    """The full name of the model that is ``wanted``; without one the loaded model, else the only one.

    Raises ModelNotFoundError that lists those that are there, UsageError where there are several.
    """
    names = [name_of(model) for model in models]
    if wanted:
        full = wanted if ":" in wanted.rsplit("/", 1)[-1] else f"{wanted}:latest"
        for name in names:
            if name.lower() in (wanted.lower(), full.lower()):
                return name
        there = f"there are: {', '.join(names)}; " if names else "there is none yet; "
        raise ModelNotFoundError(
            f"the server at {client.address} does not have the model {wanted}",
            hint=f"{there}get it with `ollama pull {wanted}`",
        )
    if not names:
        raise ModelNotFoundError(
            f"the server at {client.address} has no model",
            hint="get one, for example with `ollama pull smollm2`",
        )
    usable = [name_of(model) for model in models if _can_complete(client, model, allow_remote=allow_remote)]
    for entry in running(client):
        if name_of(entry) in usable:
            return name_of(entry)
    if len(usable) == 1:
        return usable[0]
    raise UsageError(
        f"the server at {client.address} has {len(usable) or 'no'} models that complete text, and none is loaded",
        hint="choose one with --model: " + ", ".join(usable or names),
    )


def check_suitable(name: str, shown: Entry, remote: str | None, *, allow_remote: bool) -> None:
    """Raise ModelUnsuitableError for a cloud model without consent, and for one that cannot complete text."""
    if remote and not allow_remote:
        raise ModelUnsuitableError(
            f"{name} is a cloud model: the document would be sent to {remote}",
            hint="choose a local model (`ollama list` shows them), or add --allow-remote if it may leave this machine",
        )
    capabilities = capabilities_of(shown)
    if capabilities and "completion" not in capabilities:
        raise ModelUnsuitableError(
            f"{name} cannot complete text; it can: {', '.join(capabilities)}",
            hint="choose a model that answers, with --model; `ollama list` shows those that are there",
        )


def show(client: OllamaClient, name: str) -> dict[str, Any]:
    """What the server says of a model."""
    return client.post("/api/show", {"model": name})


def running(client: OllamaClient) -> list[dict[str, Any]]:
    """The models that are loaded."""
    return list(client.get("/api/ps").get("models") or ())


def name_of(entry: Entry) -> str:
    """A model's name in a list of the server."""
    return str(entry.get("name") or entry.get("model") or "")


def blob_of(shown: Entry) -> str | None:
    """The digest of the weights' file: models that share it share a runner, whatever their names."""
    match = re.search(r"^FROM .*sha256-([0-9a-f]{64})$", str(shown.get("modelfile") or ""), re.MULTILINE)
    return match[1] if match else None


def capabilities_of(shown: Entry) -> list[str]:
    """What a model can do; empty where the server does not tell."""
    return [str(each) for each in shown.get("capabilities") or ()]


def context_length(shown: Entry) -> int | None:
    """The context that the model was made for, in tokens."""
    for key, value in (shown.get("model_info") or {}).items():
        if key.endswith(".context_length") and isinstance(value, int):
            return value
    return None


def _can_complete(client: OllamaClient, listed: Entry, *, allow_remote: bool) -> bool:
    if listed.get("remote_host") and not allow_remote:
        return False
    capabilities = listed.get("capabilities")
    if capabilities is None:
        capabilities = show(client, name_of(listed)).get("capabilities")
    return not capabilities or "completion" in capabilities
