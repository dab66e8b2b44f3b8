"""The turn that an answer holds, in the shape of a request's own."""

from __future__ import annotations

from typing import Any

from promptorder.traces import _gemini
from promptorder.traces.requests import GEMINI


def turn_of(response: dict[str, Any], api: str) -> dict[str, Any] | str | None:
    """The turn that a response holds, as a body whose parts are its own; a plain text as it is."""
    choices = response.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        return {"messages": [message]} if isinstance(message, dict) else choices[0].get("text")
    if isinstance(response.get("message"), dict):
        return {"messages": [response["message"]]}
    if isinstance(response.get("output"), list):
        return {"input": response["output"]}
    candidates = response.get("candidates")
    if api == GEMINI and isinstance(candidates, list) and candidates and isinstance(candidates[0], dict):
        content = candidates[0].get("content")
        return {"messages": [_gemini.message_of(content)]} if isinstance(content, dict) else None
    for key in ("content", "response"):
        said = response.get(key)
        if isinstance(said, list):
            return {"messages": [{"role": "assistant", "content": said}]}
        if isinstance(said, str):
            return said
    return None
