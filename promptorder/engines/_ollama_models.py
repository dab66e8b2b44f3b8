"""Models of an Ollama server: which one is meant, and what the server says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from promptorder.engines._ollama_client import OllamaClient, is_missing
from promptorder.errors import EngineError, ModelNotFoundError, ModelUnsuitableError, UsageError

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


def show(client: OllamaClient, name: str, *, verbose: bool = False) -> dict[str, Any]:
    """What the server says of a model that it lists, with ``verbose`` its vocabulary too.

    Nothing where it imitates Ollama without this call.
    """
    try:
        return client.post("/api/show", {"model": name, "verbose": True} if verbose else {"model": name})
    except EngineError as error:
        if is_missing(error):
            return {}
        raise


def running(client: OllamaClient) -> list[dict[str, Any]]:
    """The models that are loaded; none where the server does not tell, see ``tells_what_runs``."""
    try:
        return list(client.get("/api/ps").get("models") or ())
    except EngineError as error:
        if is_missing(error):
            return []
        raise


def tells_what_runs(client: OllamaClient) -> bool:
    """Whether the server lists the models that are loaded: others imitate Ollama without it, and old versions had no list."""
    try:
        client.get("/api/ps")
    except EngineError as error:
        if is_missing(error):
            return False
        raise
    return True


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
    return _number_of_model(shown, ".context_length")


def sliding_window(shown: Entry) -> int | None:
    """The tokens to which most of the model's layers can look back; None where it has no such window."""
    return _number_of_model(shown, ".attention.sliding_window") or None


def _number_of_model(shown: Entry, suffix: str) -> int | None:
    for key, value in (shown.get("model_info") or {}).items():
        if key.endswith(suffix) and isinstance(value, int):
            return value
    return None


def _can_complete(client: OllamaClient, listed: Entry, *, allow_remote: bool) -> bool:
    if listed.get("remote_host") and not allow_remote:
        return False
    capabilities = listed.get("capabilities")
    if capabilities is None:
        capabilities = show(client, name_of(listed)).get("capabilities")
    return not capabilities or "completion" in capabilities
