"""Requests whose prompts overlap in many ways, sent to a real server one after another, and what it says of each."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import subprocess
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import tiny_gguf
from servers import OllamaServer, _free_port, ensure_server

from promptorder.model.trace import Served, TraceRequest
from promptorder.policies._options import parse_policy

NUMBERS = {word: number for number, word in enumerate(dict.fromkeys(tiny_gguf.WORDS))}
"""Each word is one token of the tiny model; which id it has there does not matter to a cache."""
SPOKEN = list(NUMBERS)


class Asked(NamedTuple):
    """A request as it was sent: ``reused_tokens`` is the server's own count, None where it refused or did not say."""

    prompt: list[int]
    generated: list[int]
    reused_tokens: int | None
    prompt_tokens: int | None = None
    may_reuse: bool = True


class Traffic:
    """Prompts of random words: new ones, repeats, continuations, shared starts, cuts and chunks left out.

    A multiple of ``scale`` words each; the answers are told with ``answered``, so that conversations go on.
    """

    def __init__(self, seed: int, scale: float = 1.0, longest: int = 900) -> None:
        self._random = random.Random(seed)
        self._scale = scale
        self._longest = longest
        self._past: list[list[int]] = []
        self._preambles = [self._words(size) for size in (3, 12, 40, 40, 150)]

    def _words(self, size: int) -> list[int]:
        return self._random.choices(range(len(NUMBERS)), k=max(1, round(size * self._scale)))

    def next(self) -> list[int]:
        """The next prompt."""
        draw, kind = self._random, self._random.random()
        # Of two the longer one: else cuts would leave only short prompts in the end
        earlier = max(draw.choices(self._past[-40:], k=2), key=len) if self._past else []
        recent = draw.choice(self._past[-4:]) if self._past else []
        if not self._past or kind < 0.15:
            prompt = self._words(draw.choice((1, 20, 60, 400, 400)))
        elif kind < 0.35:
            prompt = draw.choice(self._preambles) + self._words(draw.randint(1, 60))
        elif kind < 0.45:
            prompt = list(earlier)
        elif kind < 0.65:
            prompt = draw.choice((earlier, recent)) + self._words(draw.randint(1, 80))
        elif kind < 0.80:  # a start of any length, so that ratios fall near each limit
            prompt = earlier[: draw.randint(1, len(earlier))] + self._words(draw.randint(1, 40))
        elif kind < 0.85:
            prompt = earlier[: draw.randint(1, len(earlier))]
        elif kind < 0.95:
            start = draw.randint(0, len(recent))
            end = draw.randint(start, len(recent))
            prompt = recent[:start] + self._words(draw.randint(1, 5)) + recent[end:]
        else:
            share = draw.choice((2, 4, 10, 20))
            prompt = earlier[: len(earlier) // share] + self._words(len(earlier) - len(earlier) // share)
        return prompt[: self._longest] or self._words(5)

    def answered(self, prompt: list[int], generated: Sequence[int]) -> None:
        """Remember a conversation so far."""
        self._past.append([*prompt, *generated])


def spoken(prompt: Sequence[int]) -> str:
    """The prompt's text."""
    return "".join(f" {SPOKEN[number]}" for number in prompt)


def heard(text: str) -> list[int]:
    """The tokens of an answer."""
    return [NUMBERS[word] for word in text.split()]


class LlamaServer:
    """A real llama-server on a free loopback port, for a `with` statement."""

    def __init__(self, model: Path, *flags: str) -> None:
        self._binary = ensure_server("0.33.3").parents[1] / "lib/ollama/llama-server"
        self._command = [str(self._binary), "-m", str(model), "-t", "1", "--no-webui", "--offline", *flags]
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    def __enter__(self) -> Self:
        self._port = _free_port()
        self._process = subprocess.Popen(
            [*self._command, "--host", "127.0.0.1", "--port", str(self._port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while self._ask("GET", "/health", None)[0] != 200:
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__(None, None, None)
                raise RuntimeError(f"llama-server did not start: {self._command}")
            time.sleep(0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def ask(self, prompt: list[int], answer_tokens: int = 1, *, may_reuse: bool = True) -> Asked:
        """Send a prompt; a refusal (HTTP 400) is an answer too."""
        body = {
            "prompt": spoken(prompt),
            "n_predict": answer_tokens,
            "temperature": 0,
            "cache_prompt": may_reuse,
        }
        status, said = self._ask("POST", "/completion", body)
        if status == 400:
            return Asked(prompt, [], None, None, may_reuse)
        assert status == 200, said
        counted = said["timings"]
        total = counted["cache_n"] + counted["prompt_n"]
        return Asked(prompt, heard(said["content"]), counted["cache_n"], total, may_reuse)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, ValueError):
            return 0, None
        finally:
            connection.close()


@contextlib.contextmanager
def tiny_ollama(version: str, model: Path, **env: str) -> Iterator[OllamaServer]:
    """A running Ollama of one's own that has the model `tiny`."""
    with OllamaServer(version, env=env) as server:
        server.create_model("tiny", model, tiny_gguf.TEMPLATE, tiny_gguf.PARAMETERS)
        yield server


def ask_ollama(
    server: OllamaServer,
    prompt: list[int],
    *,
    context_tokens: int,
    answer_tokens: int = 1,
    keep_alive: str = "5m",
) -> Asked:
    """Send a prompt as it is to the model `tiny`; the count is the reply's, or the log's where the reply has none."""
    offset = server.log_offset()
    body = {
        "model": "tiny",
        "prompt": spoken(prompt),
        "raw": True,
        "stream": False,
        "keep_alive": keep_alive,
        "options": {"num_predict": answer_tokens, "num_ctx": context_tokens, "temperature": 0},
    }
    (said,) = server.post("/api/generate", body)
    reused = said.get("prompt_eval_cached_count")
    if reused is None:
        found = server.counted_since(offset, 1)
        reused = found[-1].reused_tokens if found else None
    return Asked(prompt, heard(said["response"]), reused, said.get("prompt_eval_count"))


def converse(traffic: Traffic, ask: Callable[[list[int]], Asked], count: int) -> list[Asked]:
    """Send so many requests one after another."""
    asked = []
    for _ in range(count):
        asked.append(ask(traffic.next()))
        traffic.answered(asked[-1].prompt, asked[-1].generated)
    return asked


def replayed(policy: str, asked: Sequence[Asked]) -> Iterator[Served]:
    """What a policy makes of the requests."""
    cache = parse_policy(policy).open()
    for index, each in enumerate(asked):
        request = TraceRequest(
            index, index + 1, array("I", each.prompt), array("I", each.generated), may_reuse=each.may_reuse
        )
        yield cache.serve(request)


def differing(policy: str, asked: Sequence[Asked]) -> list[tuple[int, int | None, int]]:
    """The requests in which the replay is not what the server counted: index, counted, replayed.

    A refused one must be refused by the policy too.
    """
    return [
        (index, each.reused_tokens, served.cached_tokens)
        for index, (each, served) in enumerate(zip(asked, replayed(policy, asked), strict=True))
        if (
            each.reused_tokens is not None
            and (each.reused_tokens, each.prompt_tokens) != (served.cached_tokens, served.prompt_tokens)
        )
        or (each.reused_tokens is None and served.cause != "too-long")
    ]
