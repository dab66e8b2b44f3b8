"""Bodies of requests as JSON lines, bare or in an envelope: OpenAI, Anthropic, Gemini, Ollama, llama-server.

An envelope may name ``ts``, ``session``, the API (``api``, ``url``, ``route``), and hold the ``response`` or its ``usage``.
Prompts become tokens block by block, in the order in which the service lays them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from promptorder.forms._requests import ANTHROPIC, LLAMA_SERVER, OLLAMA, OPENAI, provider, unwrap
from promptorder.model.trace import TraceRequest
from promptorder.traces import Sample
from promptorder.traces._envelope import moment_of, name_of, session_of, shown_keys
from promptorder.traces._json import any_json
from promptorder.traces._reading import Reading

SUMMARY = "request bodies (JSON lines)"
HOLDS = "text"
OWN_CLOCK = False

GEMINI = "gemini"
_RESPONSES = ("response", "response_body", "reply", "result", "answer")
_REQUESTS = ("request", "body", "request_body", "payload")
_PLACES = ("api", "provider", "route", "url", "endpoint", "path")
_ROUTES = (
    ("anthropic", ANTHROPIC), ("/v1/messages", ANTHROPIC), ("gemini", GEMINI), ("generatecontent", GEMINI),
    ("ollama", OLLAMA), ("/api/chat", OLLAMA), ("/api/generate", OLLAMA), ("llama-server", LLAMA_SERVER),
    ("llama.cpp", LLAMA_SERVER), ("api.openai.com", OPENAI), ("openai.azure.com", OPENAI),
)  # fmt: skip
_LOADING = frozenset(("model", "keep_alive", "options", "stream"))
_SALTS = ("cache_salt", "extra_key", "lora", "lora_name")


class Found(NamedTuple):
    """A body, whose request it is, and the answer that stands beside it."""

    api: str
    body: dict[str, Any]
    response: Any


def recognise(sample: Sample) -> float:
    """Sure where any of the first objects is a request, or an envelope around one."""
    return 0.7 if any(find(each) for each in sample.objects) else 0.0


def read(values: Iterable[tuple[int, dict[str, Any]]], reading: Reading) -> Iterator[TraceRequest]:
    """A request a line; what is none is skipped, what has an empty prompt is passed over."""
    from promptorder.traces._render import Renderer, UnreadableError

    renderer: Renderer | None = None
    for line, value in values:
        found = find(value)
        if found is None and _only_loads(value):
            reading.file.other_lines += 1
            continue
        if found is None:
            reading.skip(line, f"no request; it has {shown_keys(value)}")
            continue
        renderer = renderer or Renderer(reading)
        try:
            request = renderer.request(found, value, line)
        except UnreadableError as error:
            reading.skip(line, str(error))
            continue
        except RecursionError:
            reading.skip(line, "the request is nested too deeply")
            continue
        if not request.ids:
            reading.file.other_lines += 1
            continue
        request.at_s, request.session, request.path = moment_of(value), session_of(value), reading.path
        model = name_of(found.body) or name_of(value)
        salts = [str(found.body[key]) for key in _SALTS if found.body.get(key)]
        request.model, request.namespace = model, "\0".join((model, *salts)) if salts else model
        yield request


def find(value: dict[str, Any]) -> Found | None:
    """The request in an object, None where there is none."""
    value = _opened(value)
    api = _named_api(value)
    body, _ = unwrap(value)
    if body is None:
        body = _unusual(value)
        if body is None:
            return None
    if not api:
        api = GEMINI if "contents" in body else provider(body)
    response = next((value[key] for key in _RESPONSES if value.get(key) and value is not body), None)
    return Found(api, body, response)


def _only_loads(value: dict[str, Any]) -> bool:
    """Whether it only has Ollama load a model, or unload it."""
    bodies = [value, *(value[key] for key in _REQUESTS if type(value.get(key)) is dict)]
    return any("model" in body and body.keys() <= _LOADING for body in bodies)


def _opened(value: dict[str, Any]) -> dict[str, Any]:
    """An envelope whose request or response is JSON in a string, as exports of tables have it, with these opened."""
    texts = [
        key for key in (*_REQUESTS, *_RESPONSES) if type(value.get(key)) is str and value[key][:1] in "{["
    ]
    if not texts or "messages" in value or "prompt" in value:
        return value
    opened = dict(value)
    for key in texts:
        try:
            opened[key] = any_json(value[key])
        except ValueError:
            continue
    return opened


def _named_api(value: dict[str, Any]) -> str:
    for key in _PLACES:
        named = value.get(key)
        if type(named) is str:
            low = named.lower()
            found = next((api for part, api in _ROUTES if part in low), "")
            if found:
                return found
    return ""


def _unusual(value: dict[str, Any]) -> dict[str, Any] | None:
    """A body that lint passes over: Gemini's, a prompt of ids, or any messages under a key that says request."""
    bodies: list[dict[str, Any]] = [value, *(value[key] for key in _REQUESTS if type(value.get(key)) is dict)]
    for body in bodies:
        contents, prompt = body.get("contents"), body.get("prompt")
        if type(contents) is list and contents and type(contents[0]) is dict and "parts" in contents[0]:
            return body
        if type(prompt) is list and prompt and all(type(each) in (int, str) for each in prompt[:8]):
            return body
    for body in bodies[1:]:
        if type(body.get("messages")) is list or type(body.get("prompt")) is str or "input" in body:
            return body
    return None
