"""Requests as texts: a chat in the one shape that servers take, and its parts joined where nobody can render it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from promptorder.difference.changes import tool_name
from promptorder.forms._json import Path
from promptorder.forms._requests import OLLAMA, Part, parts, provider

JOINED = "approximate: no template, the parts joined in the order of servers"
AS_IS = "the text as it is"
_RECOGNISED = 60
"""Characters of a system text by which it is found in a rendered one."""
_SENT_ON = ("options", "think", "chat_template_kwargs", "reasoning_effort")


class Rendered(NamedTuple):
    """What a model reads of a request, and who says so, for people."""

    text: str
    how: str


def without_template(body: dict[str, Any]) -> Rendered:
    """A raw prompt as it is, else the parts joined."""
    return Rendered(str(body["prompt"]), AS_IS) if is_raw(body) else Rendered(joined(body), JOINED)


def is_raw(body: dict[str, Any]) -> bool:
    """Whether a request holds the whole prompt itself: to llama-server or a completions API, or Ollama's ``raw``."""
    if not isinstance(body.get("prompt"), str) or "messages" in body:
        return False
    return bool(body.get("raw")) or (provider(body) != OLLAMA and len(parts(body)) == 1)


def joined(body: dict[str, Any]) -> str:
    """The parts of a request with a line for each role: some tokens a message, as templates have."""
    return joined_parts(parts(body))


def joined_parts(found: Sequence[Part]) -> str:
    """The same for parts; a raw prompt is that and no more."""
    if len(found) == 1 and found[0].role == "prompt":
        return found[0].text
    pieces = []
    role = message = None
    for part in found:
        if (part.role, part.path[:2]) != (role, message):
            role, message = part.role, part.path[:2]
            pieces.append(f"<|{role}|>\n")
        pieces.append(f"{part.text}\n")
    return "".join(pieces)


def chat(body: dict[str, Any]) -> dict[str, Any]:
    """A request of any provider as ``messages`` (role and text) and ``tools``; pictures stand for themselves by their hash."""
    messages: list[dict[str, Any]] = []
    last: Path = ()
    for part in parts(body):
        if part.role in ("tools", "schema"):
            continue
        role = {"prompt": "user", "history": "tool"}.get(part.role, part.role)
        place = part.path[:2] if part.path[:1] in (("messages",), ("input",)) else part.path[:1]
        if place != last or not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": ""})
            last = place
        text = f"<think>{part.text}</think>" if part.kind == "thinking" else part.text
        before = messages[-1]["content"]
        messages[-1]["content"] = f"{before}\n{text}" if before else text
    made: dict[str, Any] = {"messages": messages}
    tools = [_tool(tool) for tool in body.get("tools") or () if isinstance(tool, dict)]
    if tools:
        made["tools"] = tools
    made.update({key: body[key] for key in _SENT_ON if key in body})
    return made


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    if "function" in tool or "name" not in tool:
        return tool
    schema = tool.get("input_schema") or tool.get("parameters") or {"type": "object", "properties": {}}
    function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": schema}
    return {"type": "function", "function": function}


def as_rendered(found: Sequence[Part], text: str) -> list[Part]:
    """Parts in the order of a rendered text: many templates put the tools behind the system text."""
    tools = [part for part in found if part.role in ("tools", "schema")]
    others = [part for part in found if part.role not in ("tools", "schema")]
    behind = next((i for i, part in enumerate(others) if part.role != "system"), len(others))
    if not tools or not behind:
        return list(found)
    system = text.find(others[0].text.strip()[:_RECOGNISED])
    tool = text.find(f'"{tool_name(tools[0])}"')
    if not 0 <= system < tool:
        return list(found)
    return [*others[:behind], *tools, *others[behind:]]


def written(path: Path) -> str:
    """A path in a body as JSONPath: ``$.messages[0].content``."""
    steps = []
    for step in path:
        if isinstance(step, int):
            steps.append(f"[{step}]")
        elif step.isidentifier():
            steps.append(f".{step}")
        else:
            steps.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "$" + "".join(steps)
