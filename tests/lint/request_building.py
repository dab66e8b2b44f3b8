"""Requests as programs send them, in our own words: what the cases for logs and requests are built of."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

RULES = (
    "You answer for the lending desk of a boat museum.\n"
    "Models may be touched only with gloves; say so before anything else.\n"
    "Tours start at the slipway and take three quarters of an hour.\n"
    "Children under six ride the harbour launch for nothing.\n"
    "The rope workshop is closed while the tide is out.\n"
    "Never promise a seat in the launch; the crew decides.\n"
    "Lost gloves are kept in the blue chest for two weeks.\n"
    "Answer in at most five sentences and name the hall."
)
LONG = "\n".join(f"{number}. {RULES}" for number in range(12))
ANSWER = "The tour begins at the slipway beside hall two, and gloves are handed out at the door of the rope workshop."
LONG_ANSWER = " ".join([ANSWER] * 4)


class Case(NamedTuple):
    """A log, and the findings of warning or error that it must have: (line, rule)."""

    name: str
    lines: list[Any]
    wanted: list[tuple[int, str]]


def chat(system: str, *turns: str, model: str = "qwen3:8b", **more: Any) -> dict[str, Any]:
    """A request with a system text and turns, the user's first."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]
    return {"model": model, **more, "messages": [{"role": "system", "content": system}, *messages]}


def session(
    *requests: dict[str, Any], name: str = "s1", step: int = 40, start: int = 0
) -> list[dict[str, Any]]:
    """The requests in envelopes, ``step`` seconds apart."""
    return [
        {
            "ts": f"2026-05-02T10:{(start + n * step) // 60:02d}:{(start + n * step) % 60:02d}Z",
            "session": name,
            "request": request,
        }
        for n, request in enumerate(requests)
    ]


def bare(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    return list(requests)


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {"q": {"type": "string"}}}
    return {
        "type": "function",
        "function": {"name": name, "description": description or f"Does {name}", "parameters": schema},
    }


def raw(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "llama3.2:3b", "prompt": text, "stream": False, **more}


def claude(system: list[Any] | str, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 300,
        "system": system,
        "messages": list(messages),
        **more,
    }


def block(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def text(case: Case) -> str:
    """The log as a file."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in case.lines)


TOOLS = [tool("find_model"), tool("open_chest"), tool("ring_bell")]
HEAD = "prompt-head-changed"
MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
CALL = {"type": "function", "function": {"name": "find_model", "arguments": '{"name": "dory", "hall": 2}'}}
CALL_AGAIN = {
    "type": "function",
    "function": {"name": "find_model", "arguments": '{"hall": 2, "name": "dory"}'},
}
SHOTS = [
    "Q: Are there toilets?\nA: In hall one.",
    "Q: May I film?\nA: Yes, without a lamp.",
    "Q: Is there tea?\nA: By the pier.",
]
NOTES = [
    "The dory was built in 1911 and has four oars.",
    "The launch carries nine people.",
    "Hall three smells of tar.",
]
