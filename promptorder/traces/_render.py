"""A request's body to tokens: blocks in the service's order, each encoded for itself, with the caller's marks in them.

The services' templates are not public, and a local model's is not in its log. So a line with the role stands before each
message, which comes to the 3 or 4 tokens that OpenAI names for it; what requests share is what their texts share.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

from promptorder.forms._json import Path
from promptorder.forms._requests import ANTHROPIC, LLAMA_SERVER, OLLAMA, OPENAI, Part, parts
from promptorder.model.trace import TraceRequest
from promptorder.traces import _gemini
from promptorder.traces._answers import turn_of
from promptorder.traces._ids import tokens as token_ids
from promptorder.traces._marks import MESSAGES, block_of, breakpoints, is_explicit, messages_key, retention_s
from promptorder.traces._reading import Reading
from promptorder.traces._usage import usage_of
from promptorder.traces.requests import GEMINI, Found

_PICTURE_TOKENS = {OPENAI: 765, ANTHROPIC: 1600, GEMINI: 258}
"""What a picture of usual size costs by the services' own words; elsewhere it hangs on the model."""
_OTHER_PICTURE_TOKENS = 600
_LOW_DETAIL_TOKENS = 85
_OPENING = ("system", "tools", "schema")
_BESIDE = ("system", "messages", "images")
"""What a template lays around a prompt."""


class UnreadableError(ValueError):
    """A request whose prompt cannot be read; the message says why."""


class _Laid(NamedTuple):
    """A prompt: packed ids, the end of each block in tokens, each block's place in the body, its first message.

    The first ``opening_blocks`` are tools and system texts; ``pictures`` tells of any picture in it.
    """

    packed: bytes
    ends: tuple[int, ...]
    keys: list[Path]
    messages_from: int
    opening_blocks: int = 0
    pictures: bool = False


class Renderer:
    """Renders the requests of one file."""

    def __init__(self, reading: Reading) -> None:
        self._report = reading.report
        self._ids = reading.ids
        self._tokens = reading.together.tokens

    def request(self, found: Found, envelope: dict[str, Any], line: int) -> TraceRequest:
        """The request of one line, without ids where its prompt is empty. Raises UnreadableError."""
        api, body = found.api, found.body
        self._report.apis[api] = self._report.apis.get(api, 0) + 1
        if api == GEMINI or "contents" in body:
            body = _gemini.body_of(body)
        laid = self._whole(body, api) or self._blocks(body, api)
        if body.get("previous_response_id"):
            self._report.remark(
                "requests name a previous response that the service keeps: what it adds to their prompts is not in the log"
            )
        usage = usage_of(envelope if envelope is not found.body else {}, found.response, api)
        ids = _ids(laid.packed)
        generated = _ids(self._answer(found.response, api))
        self._count(usage.prompt_tokens, len(ids))
        key = found.body.get("prompt_cache_key")
        return TraceRequest(
            index=0,
            line=line,
            ids=ids,
            generated=generated,
            prompt_tokens=usage.prompt_tokens,
            output_tokens=usage.output_tokens,
            api=api,
            block_ends=laid.ends,
            breakpoints=tuple(breakpoints(body, laid.keys)),
            messages_from=laid.messages_from,
            opening_blocks=laid.opening_blocks,
            messages_key=messages_key(body, pictures=laid.pictures) if api == ANTHROPIC else "",
            implicit_breakpoint=not is_explicit(body),
            cache_key=key if isinstance(key, str) else None,
            retention_s=retention_s(body, api),
            may_reuse=body.get("cache_prompt") is not False,
            observed_cached_tokens=usage.cached_tokens,
            observed_written_tokens=usage.written_tokens,
            observed_written_long_tokens=usage.written_long_tokens,
        )

    def _count(self, said: int | None, counted: int) -> None:
        if said is not None:
            self._report.said_tokens += said
            self._report.counted_tokens += counted

    def _whole(self, body: dict[str, Any], api: str) -> _Laid | None:
        """A prompt that goes to the model as it is, without a template; None for others."""
        prompt = body.get("prompt")
        templated = api == OLLAMA and not body.get("raw")
        if templated or not isinstance(prompt, str | list) or any(body.get(key) for key in _BESIDE):
            return None
        pieces: list[bytes] = []
        try:
            if isinstance(prompt, str):
                pieces.append(self._tokens.prompt(prompt))
            elif isinstance(prompt, list) and all(type(each) is int for each in prompt):
                pieces.append(token_ids(prompt).tobytes())
            elif isinstance(prompt, list) and all(type(each) in (int, str) for each in prompt):
                if prompt and isinstance(prompt[0], str):
                    pieces.append(self._tokens.opening)
                pieces += (
                    self._tokens.piece(each) if isinstance(each, str) else token_ids([each]).tobytes()
                    for each in prompt
                )
            else:
                raise UnreadableError("several prompts in one request")
        except ValueError as error:
            raise UnreadableError(str(error)) from None
        packed = b"".join(pieces)
        return _Laid(packed, (len(packed) // 4,), [("prompt",)], 0)

    def _blocks(self, body: dict[str, Any], api: str) -> _Laid:
        """A prompt of blocks: tools, system texts, and the contents of messages."""
        piece = self._tokens.piece
        packed = [self._tokens.opening]
        earlier = body.get("context")
        if api == OLLAMA and isinstance(earlier, list):
            packed.append(_context(earlier))
        size = sum(map(len, packed))
        ends: list[int] = []
        keys: list[Path] = []
        message: Path = ()
        pictures = False
        messages_from = opening = -1
        role = ""
        for part in _in_order(parts(body), body, api):
            key = block_of(part.path)
            if keys and key == keys[-1]:
                ends.pop()
            else:
                keys.append(key)
            if part.path[0] in MESSAGES and messages_from < 0:
                messages_from = len(keys) - 1
            if part.role not in _OPENING and opening < 0:
                opening = len(keys) - 1
            if key[:2] != message:
                message = key[:2]
                role = _role(body, part)
                packed.append(piece(f"\n{role}\n"))
                size += len(packed[-1])
            if part.kind == "image":
                pictures = True
                packed.append(self._picture(part, body, api))
            else:
                packed.append(piece(part.text))
            size += len(packed[-1])
            ends.append(size // 4)
        if not keys:
            return _Laid(b"", (), [], 0)
        if role != "assistant":
            packed.append(piece("\nassistant\n"))
        return _Laid(
            b"".join(packed),
            tuple(ends),
            keys,
            max(messages_from, 0),
            len(keys) if opening < 0 else opening,
            pictures,
        )

    def _picture(self, part: Part, body: dict[str, Any], api: str) -> bytes:
        """A picture, sound or file: the same ids for the same content, their number estimated."""
        tokens = _PICTURE_TOKENS.get(api, _OTHER_PICTURE_TOKENS)
        if api == OPENAI and _detail(body, part.path) == "low":
            tokens = _LOW_DETAIL_TOKENS
        self._report.pictures += 1
        self._report.estimated_tokens += tokens
        return array("I", [self._ids.number(("picture", part.text))]).tobytes() * tokens

    def _answer(self, response: object, api: str) -> bytes:
        """The ids of an answer, as they come again when it is sent back."""
        if isinstance(response, list):
            response = next((each for each in reversed(response) if isinstance(each, dict)), None)
        message = turn_of(response, api) if isinstance(response, dict) else response
        if isinstance(message, str):
            return self._tokens.piece(message)
        if not isinstance(message, dict):
            return b""
        return b"".join(self._tokens.piece(part.text) for part in parts(message) if part.kind != "image")


def _in_order(found: list[Part], body: dict[str, Any], api: str) -> Iterable[Part]:
    """Parts as the service lays them out: hosted ones put tools first, local templates and DeepSeek behind the system text."""
    behind = api in (OLLAMA, LLAMA_SERVER) or "deepseek" in str(body.get("model", "")).lower()
    if not behind:
        return found
    tools = [part for part in found if part.role in ("tools", "schema")]
    if not tools:
        return found
    rest = [part for part in found if part.role not in ("tools", "schema")]
    first = next((at for at, part in enumerate(rest) if part.role != "system"), len(rest))
    return (*rest[:first], *tools, *rest[first:])


def _role(body: dict[str, Any], part: Part) -> str:
    if part.path[0] in MESSAGES and len(part.path) > 1:
        message = body[part.path[0]][part.path[1]]
        role = message.get("role")
        return role if isinstance(role, str) else part.role
    return "user" if part.role == "prompt" else part.role


def _detail(body: dict[str, Any], path: Path) -> object:
    value: Any = body
    for step in path:
        value = value[step]
    if not isinstance(value, dict):
        return None
    inner = value.get("image_url")
    return inner.get("detail") if isinstance(inner, dict) else value.get("detail")


def _context(ids: list[Any]) -> bytes:
    try:
        return token_ids(ids).tobytes()
    except ValueError as error:
        raise UnreadableError(str(error)) from None


def _ids(packed: bytes) -> array[int]:
    ids = array("I")
    ids.frombytes(packed)
    return ids
