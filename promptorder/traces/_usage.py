"""What an answer says of its prompt's tokens, by each API's own definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from promptorder.forms._requests import ANTHROPIC
from promptorder.traces._envelope import count

_READ, _WRITTEN = "cache_read_input_tokens", "cache_creation_input_tokens"
_DETAILS = ("prompt_tokens_details", "input_tokens_details")


class Usage(NamedTuple):
    """The whole prompt, the part that was reused, and the answer, in tokens; None where it is not said.

    Of the rest of the prompt ``written_tokens`` were charged as written, of them ``written_long_tokens`` for an hour.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    written_tokens: int | None = None
    written_long_tokens: int = 0


def usage_of(envelope: dict[str, Any], response: object, api: str) -> Usage:
    """The first account of tokens that stands in the envelope or the response."""
    for each in _places(envelope, response):
        found = _usage(each, api)
        if found != Usage():
            return found
    return Usage()


def _places(envelope: dict[str, Any], response: object) -> Iterator[dict[str, Any]]:
    responses = list(reversed(response)) if isinstance(response, list) else [response]
    for each in (*responses, envelope):
        if not isinstance(each, dict):
            continue
        inner = each.get("response")
        for holder in (each, inner if isinstance(inner, dict) else {}):
            for key in ("usage", "usageMetadata", "usage_metadata", "timings"):
                if isinstance(holder.get(key), dict):
                    yield holder[key]
        if each is not envelope or "messages" not in each:
            yield each


def _usage(said: dict[str, Any], api: str) -> Usage:
    if (
        "prompt_eval_count" in said or "prompt_eval_cached_count" in said
    ):  # Ollama: cached is part of the count
        cached = said.get("prompt_eval_cached_count")
        return _whole(said.get("prompt_eval_count"), cached, said.get("eval_count"))
    if "cache_n" in said and "prompt_n" in said:  # llama-server: prompt_n was read
        cached, read = count(said["cache_n"]), count(said["prompt_n"])
        whole = None if cached is None or read is None else cached + read
        return Usage(whole, cached, count(said.get("predicted_n")))
    if "promptTokenCount" in said or "prompt_token_count" in said:
        return _whole(
            said.get("promptTokenCount", said.get("prompt_token_count")),
            said.get("cachedContentTokenCount", said.get("cached_content_token_count")),
            said.get("candidatesTokenCount", said.get("candidates_token_count")),
        )
    if "prompt_tokens" in said:
        return _whole(said["prompt_tokens"], _cached(said), said.get("completion_tokens"))
    if "input_tokens" in said:
        output = said.get("output_tokens")
        if (
            api == ANTHROPIC or _READ in said or _WRITTEN in said
        ):  # input_tokens is the rest behind the last mark
            read, written, rest = (count(said.get(key)) for key in (_READ, _WRITTEN, "input_tokens"))
            whole = None if rest is None else rest + (read or 0) + (written or 0)
            return Usage(whole, read, count(output), written, min(_written_long(said), written or 0))
        return _whole(said["input_tokens"], _cached(said), output)
    return Usage()


def _written_long(said: dict[str, Any]) -> int:
    each = said.get("cache_creation")
    return (count(each.get("ephemeral_1h_input_tokens")) or 0) if isinstance(each, dict) else 0


def _cached(said: dict[str, Any]) -> object:
    for key in _DETAILS:
        details = said.get(key)
        if isinstance(details, dict) and "cached_tokens" in details:
            return details["cached_tokens"]
    return said.get(_READ, said.get("prompt_cache_hit_tokens"))


def _whole(prompt: object, cached: object, output: object) -> Usage:
    whole, reused = count(prompt), count(cached)
    if whole is not None and reused is not None and reused > whole:
        reused = None  # two counts that contradict each other tell nothing
    return Usage(whole, reused, count(output))
