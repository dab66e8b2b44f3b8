"""Gemini's bodies and answers in the shape of the other services, so that one renderer does for all."""

from __future__ import annotations

import json
from typing import Any


def body_of(body: dict[str, Any]) -> dict[str, Any]:
    """The same request with system, tools and messages."""
    found: dict[str, Any] = {"messages": [message_of(each) for each in _list(body.get("contents"))]}
    system = body.get("systemInstruction", body.get("system_instruction"))
    if system:
        found["system"] = message_of(system)["content"] if isinstance(system, dict) else str(system)
    tools = []
    for tool in _list(body.get("tools")):
        declared = tool.get("functionDeclarations", tool.get("function_declarations"))
        tools += _list(declared) if declared else [tool]
    if tools:
        found["tools"] = tools
    config = body.get("generationConfig", body.get("generation_config"))
    schema = config.get("responseSchema", config.get("response_schema")) if isinstance(config, dict) else None
    if isinstance(schema, dict):
        found["json_schema"] = schema
    return found


def message_of(content: dict[str, Any]) -> dict[str, Any]:
    """A turn; ``parts`` are its blocks."""
    role = "assistant" if content.get("role") == "model" else "user"
    return {"role": role, "content": [_block(part) for part in _list(content.get("parts"))]}


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    call = part.get("functionCall", part.get("function_call"))
    if isinstance(call, dict):
        return {"type": "tool_use", "name": call.get("name"), "input": call.get("args")}
    answer = part.get("functionResponse", part.get("function_response"))
    if isinstance(answer, dict):
        return {"type": "tool_result", "content": json.dumps(answer, ensure_ascii=False)}
    return {"type": "image", **part}


def _list(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
