"""The bodies of requests, and what the model reads of them in the order in which servers render it.

Ollama (chat, generate), OpenAI (chat completions, responses), Anthropic messages and llama-server: tools, then the
system text, then the messages. What does not enter the prompt (metadata, seeds, user, cache keys) is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from promptorder.forms._json import Path

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "history",
    "function": "history",
}
_CALLED = ("stream", "temperature", "max_tokens", "n_predict", "cache_prompt", "keep_alive", "raw")
_ANSWERS = frozenset(
    (
        "response", "responses", "completion", "completions", "chosen", "rejected", "output", "outputs", "label", "labels",
        "answer", "answers", "target", "expected", "ideal", "choices", "reward", "preference",
    )
)  # fmt: skip
_PROMPTS = frozenset(("messages", "prompt", "input"))
_WRAPPED = ("request", "body", "request_body", "payload", "params", "json", "data", "kwargs")
_SCHEMAS = ("response_format", "format", "output_format", "json_schema", "grammar")
_OPENAI = re.compile(r"(?:^|/)(?:gpt-|chatgpt|o[1-9](?:-|$)|codex)", re.IGNORECASE)
_TAGGED = re.compile(r"^[\w./-]+:[\w.-]+$")
OLLAMA, OPENAI, ANTHROPIC, LLAMA_SERVER, UNKNOWN = "ollama", "openai", "anthropic", "llama-server", ""


class Part(NamedTuple):
    """A piece of what the model reads.

    ``role`` is one of a Segment's, or ``schema``; ``kind`` is text, thinking, image, call, id, tool or schema. ``path``
    leads to it in the body.
    """

    role: str
    kind: str
    text: str
    path: Path = ()


class Breakpoint(NamedTuple):
    """A ``cache_control`` mark: on the block at ``path``, which the cache then keeps up to its end."""

    path: Path
    ttl: str


class Request(NamedTuple):
    """One request as the rules for requests see it: each part's segments are ``first[i]`` up to ``first[i + 1]``."""

    provider: str
    body: dict[str, Any]
    parts: tuple[Part, ...]
    first: tuple[int, ...]
    places: dict[Path, tuple[int, int]]


def unwrap(value: object) -> tuple[dict[str, Any] | None, Path]:
    """The body in a request, or in an envelope around one, and the path to it."""
    path: Path = ()
    for _ in range(3):
        if not isinstance(value, dict):
            break
        if not _PROMPTS.isdisjoint(value) and is_request(value):
            return value, path
        key = next((k for k in _WRAPPED if isinstance(value.get(k), dict)), None)
        if key is None:
            break
        value, path = value[key], (*path, key)
    return None, ()


def is_request(value: dict[str, Any]) -> bool:
    """Whether this is a body that a server is sent, and not a record of a data set or an answer."""
    named = isinstance(value.get("model"), str)
    called = any(key in value for key in _CALLED) or isinstance(value.get("options"), dict)
    answered = bool(_ANSWERS & value.keys())
    messages = value.get("messages")
    if isinstance(messages, list):
        if not is_messages(messages):
            return False
        # A record to train on ends with the answer; so does a request, but seldom, and it says whose answer to go on with.
        return named or called or not (answered or messages[-1]["role"] in ("assistant", "model"))
    given = value.get("input")
    if named and given is not None:
        return (isinstance(given, list) and is_messages(given, 1)) or (
            isinstance(given, str) and "instructions" in value
        )
    return isinstance(value.get("prompt"), str) and (called or (named and not answered))


def is_messages(value: list[Any], least: int | None = None) -> bool:
    """Whether a list holds messages; with ``least``, that many of them beside items of other types are enough."""
    known = sum(1 for message in value if isinstance(message, dict) and _role(message))
    return known >= (least or max(1, len(value)))


def _role(message: dict[str, Any]) -> str:
    role = message.get("role")
    return _ROLES.get(role, "") if isinstance(role, str) else ""


def provider(body: dict[str, Any]) -> str:
    """Whose request this is, as far as its keys and its model's name tell."""
    model = body.get("model")
    name = model if isinstance(model, str) else ""
    if "claude" in name.lower() or "anthropic_version" in body:
        return ANTHROPIC
    if _OPENAI.search(name):
        return OPENAI
    if any(key in body for key in ("n_predict", "cache_prompt", "id_slot", "lora")):
        return LLAMA_SERVER
    if "keep_alive" in body or isinstance(body.get("options"), dict) or "think" in body:
        return OLLAMA
    if _TAGGED.match(name) and "/" not in name.split(":")[1]:
        return OLLAMA
    if "messages" not in body and isinstance(body.get("prompt"), str) and name and "system" in body:
        return OLLAMA
    return UNKNOWN


def parts(body: dict[str, Any]) -> list[Part]:
    """What the model reads, in its order."""
    found = list(_tools(body))
    # Ollama makes a grammar of the schema, which the model does not read.
    schemas = (key for key in _SCHEMAS if isinstance(body.get(key), dict) and provider(body) != OLLAMA)
    found.extend(Part("schema", "schema", _dumps(body[key]), (key,)) for key in schemas)
    for key in ("system", "instructions"):
        found.extend(_content(body.get(key), "system", (key,)))
    for key in ("messages", "input"):
        value = body.get(key)
        if isinstance(value, str):
            found.append(Part("user", "text", value, (key,)))
        elif isinstance(value, list):
            for index, message in enumerate(value):
                if isinstance(message, dict):
                    found.extend(_message(message, (key, index)))
    found.extend(_images(body.get("images"), "prompt", ("images",)))
    if isinstance(body.get("prompt"), str) and body["prompt"]:
        found.append(Part("prompt", "text", body["prompt"], ("prompt",)))
    return found


def breakpoints(body: dict[str, Any]) -> Iterator[Breakpoint]:
    """The marks of a body, in the order of its blocks; one on the body itself has an empty path and comes last."""
    for key in ("tools", "system"):
        yield from _marked(body.get(key), (key,))
    messages = body.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        if isinstance(message, dict):
            yield from _marked(message.get("content"), ("messages", index, "content"))
    mark = body.get("cache_control")
    if isinstance(mark, dict):
        yield Breakpoint((), str(mark.get("ttl", "5m")))


def _marked(blocks: object, path: Path) -> Iterator[Breakpoint]:
    for index, block in enumerate(blocks if isinstance(blocks, list) else ()):
        mark = block.get("cache_control") if isinstance(block, dict) else None
        if isinstance(mark, dict):
            yield Breakpoint((*path, index), str(mark.get("ttl", "5m")))


def _tools(body: dict[str, Any]) -> Iterator[Part]:
    for key in ("tools", "functions"):
        tools = body.get(key)
        for index, tool in enumerate(tools if isinstance(tools, list) else ()):
            if isinstance(tool, dict):
                if "cache_control" in tool:
                    tool = {k: v for k, v in tool.items() if k != "cache_control"}  # noqa: PLW2901
                yield Part("tools", "tool", _dumps(tool), (key, index))


def _message(message: dict[str, Any], path: Path) -> Iterator[Part]:
    kind = message.get("type")
    role = _role(message) or ("history" if kind and kind != "message" else "user")
    if kind in ("function_call", "custom_tool_call"):
        yield from _call(message, path, message.get("call_id"))
        return
    for key in ("reasoning_content", "thinking", "reasoning"):
        thought = message.get(key)
        if isinstance(thought, str) and thought:
            yield Part(role, "thinking", thought, (*path, key))
            break
    if kind == "reasoning":
        yield Part("assistant", "thinking", _dumps(message), path)
        return
    for key in ("tool_call_id", "call_id"):
        if isinstance(message.get(key), str):
            yield Part(role, "id", message[key], (*path, key))
    yield from _images(message.get("images"), role, (*path, "images"))
    for key in ("content", "output"):
        yield from _content(message.get(key), role, (*path, key))
    calls = message.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            yield from _call(call.get("function") or call, (*path, "tool_calls", index), call.get("id"))


def _call(call: object, path: Path, ident: object) -> Iterator[Part]:
    if not isinstance(call, dict):
        return
    given = call.get("arguments", call.get("input", call.get("parameters")))
    text = given if isinstance(given, str) else _dumps(given)
    yield Part("assistant", "call", f"{call.get('name')} {text}", path)
    if isinstance(ident, str):
        yield Part("assistant", "id", ident, path)


def _content(content: object, role: str, path: Path) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield Part(role, "text", content, path)
    elif isinstance(content, list):
        for index, block in enumerate(content):
            if isinstance(block, str):
                yield Part(role, "text", block, (*path, index))
            elif isinstance(block, dict):
                yield from _block(block, role, (*path, index))


def _block(block: dict[str, Any], role: str, path: Path) -> Iterator[Part]:
    kind = str(block.get("type", ""))
    text = block.get("text")
    if isinstance(text, str):
        yield Part(role, "text", text, (*path, "text"))
    elif kind in ("thinking", "redacted_thinking", "reasoning"):
        key = "thinking" if "thinking" in block else "data"
        yield Part(role, "thinking", str(block.get(key, "")), (*path, key))
    elif kind in ("tool_use", "server_tool_use"):
        yield from _call(block, path, block.get("id"))
    elif kind.endswith("tool_result"):
        if isinstance(block.get("tool_use_id"), str):
            yield Part("history", "id", block["tool_use_id"], (*path, "tool_use_id"))
        yield from _content(block.get("content"), "history", (*path, "content"))
    else:
        yield Part(role, "image", _picture(block), path)


def _images(images: object, role: str, path: Path) -> Iterator[Part]:
    for index, image in enumerate(images if isinstance(images, list) else ()):
        yield Part(role, "image", _picture(image), (*path, index))


def _picture(value: object) -> str:
    """A picture or file by its hash: its bytes are of no use to anybody here, and large."""
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if k != "cache_control"}
    text = value if isinstance(value, str) else _dumps(value)
    return f"picture {blake2b(text.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def late_systems(parts: Sequence[Part]) -> Iterator[int]:
    """The system messages that come after a turn of the assistant, by index."""
    begun = False
    for index, part in enumerate(parts):
        if part.role == "assistant":
            begun = True
        elif part.role == "system" and begun:
            yield index
