"""llama.cpp's server in a child process of its own, and what goes wrong with it as one of promptorder's errors.

A child (``_embedded_child.py``), though xllamacpp can run the server in this process, because there, as measured with
xllamacpp 2026.10: loading holds the interpreter's lock, so nothing can show progress; stopping during a prefill waits
for its batch (4.4 s); stopping right after the start can hang for ever; leaving during a prefill is a segmentation
fault; and a failed assertion of llama.cpp ends the process. A child is killed in milliseconds, and the next one is
cold beyond doubt.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Any

from promptorder.errors import EngineError, FailedReplyError, PromptTooLongError

_SHORT_CALL_LIMIT_S = 60.0
_LOG_PREFIX = re.compile(r"^[\d.]+ [A-Z] ")


class EmbeddedServer:
    """A running server. It is ready when the object is made, and gone when ``stop`` returns."""

    def __init__(self, model: Path, context_tokens: int) -> None:
        self.context_tokens = context_tokens
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        child = Path(__file__).with_name("_embedded_child.py")
        # -P keeps this folder, whose ollama.py is not the package ollama, off the child's import path.
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", str(child)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        try:
            self._url, self.load_ns, self.threads = self._handshake(model)
        except BaseException:  # an interrupt while loading must not leave the child behind
            self.stop()
            raise

    def _handshake(self, model: Path) -> tuple[str, int, int]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        wanted = {"model": str(model.absolute()), "context_tokens": self.context_tokens}
        with suppress(OSError):  # if it ended at once, there is no line to read below either
            stdin.write(json.dumps(wanted).encode() + b"\n")
            stdin.flush()
        for line in stdout:
            if line.startswith(b"{"):
                ready = json.loads(line)
                return ready["url"], ready["load_ns"], ready["threads"]
        self._process.wait()
        raise EngineError(
            f"llama.cpp cannot load {model.name}: {self._last_words()}",
            hint="try another GGUF file with --model PATH, or a smaller --num-ctx if memory is short",
        )

    @property
    def running(self) -> bool:
        """Whether the process has not ended by itself."""
        return self._process.poll() is None

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """A short call. Raises EngineError."""
        with self._call(path, body, _SHORT_CALL_LIMIT_S) as response:
            answer: dict[str, Any] = json.loads(response.read())
        return answer

    def stream(self, path: str, body: Mapping[str, Any], limit_s: float) -> Iterator[dict[str, Any]]:
        """The events of a streamed reply, as they come.

        Raises PromptTooLongError, FailedReplyError when the reply does not come whole, EngineError when it is refused.
        """
        with self._call(path, body, limit_s) as response:
            for line in response:
                kind, _, data = line.decode().strip().partition(": ")
                if kind == "error" or (kind == "data" and data.startswith('{"error"')):
                    raise FailedReplyError(f"the embedded server broke off: {data}")
                if kind == "data" and data != "[DONE]":
                    yield json.loads(data)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        with self._process:  # waits, and closes the pipes
            pass
        self._errors.close()

    @contextmanager
    def _call(self, path: str, body: Mapping[str, Any], limit_s: float) -> Iterator[HTTPResponse]:
        """Post, check the status, and translate what goes wrong while the reply is read."""
        # A connection a call: one that is kept open may be closed by the server just as it is used again.
        connection = HTTPConnection(self._url.removeprefix("http://"), timeout=limit_s)
        try:
            # ASCII escapes, so that a lone surrogate in a text is refused by the server, not fatal here.
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != HTTPStatus.OK:
                raise self._refusal(response.read())
            yield response
        except TimeoutError as error:
            raise FailedReplyError(
                f"the embedded server sent nothing for {limit_s:g} s", hint="allow it more with --timeout"
            ) from error
        except (HTTPException, OSError, ValueError) as error:
            raise FailedReplyError(f"the embedded server broke off: {self._end() or error}") from error
        finally:
            connection.close()

    def _refusal(self, data: bytes) -> Exception:
        error = json.loads(data)["error"]
        if error["type"] == "exceed_context_size_error":
            return too_long(f"{error['n_prompt_tokens']} tokens", self.context_tokens)
        return EngineError(f"the embedded server refuses the call: {error['message']}")

    def _end(self) -> str:
        """How the process ended, or nothing if it has not."""
        try:
            status = self._process.wait(timeout=1.0)  # a broken connection comes a little before the end
        except subprocess.TimeoutExpired:
            return ""
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        return f"it ended with {how}: {self._last_words()}"

    def _last_words(self) -> str:
        """The first error on its standard error, which names the cause; those that follow are its effects."""
        self._errors.seek(0)
        log = self._errors.read().decode(errors="replace")
        lines = [_LOG_PREFIX.sub("", line) for line in log.splitlines()] or ["no reason given"]
        return next((line for line in lines if "error" in line.lower()), lines[-1])


def too_long(what: str, context_tokens: int) -> PromptTooLongError:
    """The error for a prompt that does not fit the context, or whose answer does not."""
    return PromptTooLongError(
        f"the prompt is longer than the context: {what} do not fit {context_tokens}",
        hint="raise --num-ctx, or send fewer --pages",
    )
