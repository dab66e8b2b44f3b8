"""A real llama-server without Ollama around it, for a `with` statement; its log is a file."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import servers

_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class BareLlamaServer:
    """`llama-server` on a free loopback port, with the arguments that are given."""

    def __init__(self, model: Path, log_path: Path, *arguments: str) -> None:
        self.log_path = log_path
        self._folder = servers.ensure_server("0.33.3").parents[1] / "lib/ollama"
        self._command = [str(self._folder / "llama-server"), "-m", str(model), "--offline", "--no-webui"]
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._url = ""

    def __enter__(self) -> Self:
        port = servers._free_port()
        self._url = f"http://127.0.0.1:{port}"
        kept = {key: value for key, value in os.environ.items() if not key.startswith("LLAMA_ARG_")}
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._command, "--host", "127.0.0.1", "--port", str(port), *self._arguments],
                env={**kept, "LD_LIBRARY_PATH": str(self._folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + 30
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"llama-server did not start:\n{self.log_path.read_text()[-2000:]}")
            time.sleep(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, and with it the writing of its log."""
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            self._process.kill()
            self._process.wait()
            self._process = None

    def complete(self, prompt: str | list[int], **options: Any) -> Any:
        """Send one prompt and return the reply, the server's own counts among it."""
        body = {"prompt": prompt, "n_predict": 4, "cache_prompt": True, "temperature": 0, **options}
        request = urllib.request.Request(
            f"{self._url}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with _opener.open(request, timeout=60) as answer:
            return json.load(answer)

    def _answers(self) -> bool:
        try:
            with _opener.open(f"{self._url}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False
