"""Ollama's own runners, 0.4 to 0.24: slots that keep their last prompt, and nothing beside them.

By default a request takes the slot that shares the longest start with it, the first of equals. With OLLAMA_MULTIUSER_CACHE it does so only
if that slot holds nothing else; otherwise the start is copied into the slot unused for longest. A prompt that does not fit is
cut: its first ``keep_tokens`` stay, then what follows is dropped until the rest fits. Read in the sources of Ollama
0.6.5 (runner/llamarunner and runner/ollamarunner) and held against that server's log, request by request. Not modelled:
sliding windows and recurrent layers, and prompts with images.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.model.trace import Cache, TraceRequest
from promptorder.policies._held import EMPTY, Held, Room, answered, shared_tokens
from promptorder.policies._options import PolicyOptions
from promptorder.policies._runners import Reuse, Runners

SIZE = "parallel"


@dataclass(frozen=True, slots=True)
class Options(PolicyOptions):
    """Ollama's settings.

    ``parallel``: OLLAMA_NUM_PARALLEL, the slots. ``multiuser_cache``: OLLAMA_MULTIUSER_CACHE. ``context_tokens``: num_ctx, of
    each slot. ``keep_alive_s``: how long an unused model stays loaded; None: for ever. ``keep_tokens``: num_keep, what of
    a prompt's start is never dropped; one more where the model begins with a token of its own.
    """

    parallel: int = 1
    multiuser_cache: bool = False
    context_tokens: int = 4096
    keep_alive_s: float | None = 300
    keep_tokens: int = 4

    def __post_init__(self) -> None:
        if not self.parallel or not self.context_tokens:
            raise ValueError("parallel and context_tokens must be 1 or more")


class _Runner:
    def __init__(self, options: Options) -> None:
        self._held = [EMPTY] * options.parallel
        self._used = [0] * options.parallel
        self._clock = 0
        self._multiuser = options.multiuser_cache
        self._room = Room(options.context_tokens, min(options.keep_tokens, options.context_tokens - 1))

    def serve(self, prompt: Held, request: TraceRequest) -> Reuse:
        room = self._room
        if prompt.tokens > room.most_tokens:
            assert room.keep_tokens is not None
            prompt = prompt.without(room.keep_tokens, prompt.tokens - room.most_tokens)
        shares = [shared_tokens(each, prompt) for each in self._held]
        longest = max(shares)
        slot = shares.index(longest)
        if self._multiuser and longest < self._held[slot].tokens:
            slot = self._used.index(min(self._used))
        self._clock += 1
        self._used[slot] = self._clock
        self._held[slot] = answered(prompt, request, room)
        return Reuse(prompt, min(longest, prompt.tokens - 1), longest, self._held[slot])


def size_unit_tokens(options: Options) -> int:
    """What one slot holds."""
    return options.context_tokens


def open_cache(options: Options) -> Cache:
    """An Ollama that has loaded nothing."""
    return Runners(
        lambda: _Runner(options),
        hash_block_tokens=options.hash_block_tokens,
        keep_alive_s=options.keep_alive_s,
        obeys=True,
    )
