"""Talking to an Ollama server: raw replies, and every fault as one of promptorder's errors."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from promptorder.errors import (
    EngineError,
    EngineUnreachableError,
    FailedReplyError,
    ModelNotFoundError,
    ModelUnsuitableError,
    PromptTooLongError,
    UsageError,
)

if TYPE_CHECKING:
    import ollama

_CONNECT_LIMIT_S = 10.0


class OllamaClient:
    """The replies of one server as plain dictionaries.

    The client package's response types drop fields that they do not know, among them
    ``prompt_eval_cached_count``; asking it for ``dict`` keeps them. Host, headers, proxies and
    OLLAMA_HOST are read by the package itself, so every form that it takes is taken here.
    """

    def __init__(self, host: str | None, headers: Mapping[str, str]) -> None:
        import ollama

        try:
            self._client: ollama.Client = ollama.Client(host=host, headers=dict(headers))
            self._http = self._client._client
            self._port = self._http.base_url.port
        except ValueError as error:
            raise UsageError(
                f"cannot read the host {host!r}: {error}", hint="write it as http://127.0.0.1:11434"
            ) from error

    @property
    def address(self) -> str:
        """The server's URL without a user or password in it."""
        return str(self._http.base_url.copy_with(userinfo=b"")).rstrip("/")

    @property
    def host_name(self) -> str:
        """The server's name or address alone."""
        return str(self._http.base_url.host)

    def limit_wait(self, seconds: float) -> None:
        """How long to wait for the next piece of a reply."""
        import httpx

        self._http.timeout = httpx.Timeout(seconds, connect=min(_CONNECT_LIMIT_S, seconds))

    def get(self, path: str) -> dict[str, Any]:
        """GET a JSON object."""
        with self._translated():
            return self._client._request(dict, "GET", path)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """POST and wait for the whole JSON object."""
        with self._translated(str(body.get("model", ""))):
            reply = self._client._request(dict, "POST", path, json=body)
            # Errors that come after the headers went out arrive with status 200.
            if reply.get("error"):
                raise FailedReplyError(f"the server answered with an error: {_short(reply['error'])}")
            return reply

    def stream(self, path: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """POST and yield the parts of the reply as they come."""
        with self._translated(str(body.get("model", ""))):
            yield from self._client._request(dict, "POST", path, json=body, stream=True)

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._http.close()

    @contextmanager
    def _translated(self, model: str = "") -> Iterator[None]:
        import httpx
        import ollama

        try:
            yield
        except ollama.ResponseError as error:
            raise _refusal(error, self.address, model) from error
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise EngineUnreachableError(
                f"no Ollama server answers at {self.address}",
                hint="start it with `ollama serve`, or say where it is with --host",
            ) from error
        except httpx.TimeoutException as error:
            raise FailedReplyError(
                f"the server at {self.address} sent nothing for {self._http.timeout.read:.0f} s",
                hint="wait longer with --timeout SECONDS, or see what else keeps the server busy",
            ) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise UsageError(
                f"cannot use the host {self.address}: {error}", hint="write it as http://127.0.0.1:11434"
            ) from error
        except httpx.HTTPError as error:
            raise FailedReplyError(
                f"the connection to {self.address} broke off",
                hint="see in the server's log why; `ollama ps` shows whether the model still runs",
            ) from error
        except (json.JSONDecodeError, UnicodeDecodeError, TypeError) as error:
            raise FailedReplyError(
                f"what {self.address} answered is not Ollama's JSON",
                hint="check --host: a proxy or another program may answer there",
            ) from error


def is_missing(error: EngineError) -> bool:
    """Whether the server does not know the call, in contrast to a model that it does not have."""
    import ollama

    cause = error.__cause__
    if not isinstance(cause, ollama.ResponseError) or cause.status_code not in (404, 405, 501):
        return False
    return not re.search(r"model\b.*not found", cause.error)


def elsewhere(host_name: str) -> str | None:
    """The host's name where it is not this machine, else None.

    An address is this machine's own exactly if a socket can be bound to it.
    """
    if host_name in ("localhost", "0.0.0.0", "::"):  # noqa: S104 - names this machine, binds nothing
        return None
    try:
        found = socket.getaddrinfo(host_name, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return host_name
    for family, kind, protocol, _, address in found:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.bind(address)
        except OSError:
            return host_name
    return None


def _refusal(error: ollama.ResponseError, address: str, model: str) -> EngineError | PromptTooLongError:
    text = _short(error.error)
    if "exceed_context_size" in error.error or "exceeds the available context" in error.error:
        return PromptTooLongError(
            f"the prompt is longer than the context: {text}", hint="raise --num-ctx, or send fewer --pages"
        )
    if error.status_code == 404 and model and "not found" in text:
        return ModelNotFoundError(
            f"the server at {address} does not have the model {model}", hint=f"`ollama pull {model}`"
        )
    if error.status_code in (401, 403, 407):
        return EngineError(
            f"the server at {address} refuses access (HTTP {error.status_code})",
            hint="send what it asks for, such as --header 'Authorization: Bearer ...'",
        )
    if "does not support" in text:
        return ModelUnsuitableError(
            f"{model or 'the model'} cannot complete text: {text}",
            hint="choose another with --model; `ollama list` shows those that are there",
        )
    if error.status_code == 404:
        return EngineError(
            f"what answers at {address} is not Ollama (HTTP 404)", hint="check --host and its port"
        )
    return FailedReplyError(
        f"the server answered with an error: {text}",
        hint="the server's log says more; `ollama ps` shows whether the model still runs",
    )


def _short(text: object) -> str:
    """One line of a server's own words: they may quote a prompt, which must not fill the screen."""
    line = " ".join(str(text).split())
    return line if len(line) <= 200 else line[:199] + "…"
