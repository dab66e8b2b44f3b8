"""Ollama from 0.30 on: it starts a llama-server for each model, and ends it when the model is unused for a while.

Its flags are few: the slots and their context, and that the context is shifted when an answer fills it; all else is as llama-server
has it. A prompt that does not fit is cut by Ollama itself (0.30.11 and later): the first ``keep_tokens`` stay, half of the
rest of the context is left free, and the middle of the prompt is dropped. Read in the sources of Ollama 0.33.3 and held
against that server, request by request.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.model.trace import Cache, TraceRequest
from promptorder.policies._held import Held
from promptorder.policies._runners import Reuse, Runners
from promptorder.policies._slots import ServerOptions, Slots

SIZE = "parallel"


@dataclass(frozen=True, slots=True)
class Options(ServerOptions):
    """Ollama's settings.

    ``parallel``: OLLAMA_NUM_PARALLEL, the slots. ``keep_alive_s``: how long an unused model stays loaded; None: for ever.
    ``keep_tokens``: num_keep, what of a prompt's start is never dropped; one more where the model begins with a token of its own.
    """

    parallel: int = 1
    keep_alive_s: float | None = 300
    keep_tokens: int = 4

    def __post_init__(self) -> None:
        if not self.parallel or not self.context_tokens:
            raise ValueError("parallel and context_tokens must be 1 or more")


class _Ollama:
    def __init__(self, options: Options) -> None:
        self._slots = Slots(options, options.parallel, options.keep_tokens)
        self._context_tokens = options.context_tokens
        self._keep_tokens = options.keep_tokens

    def serve(self, prompt: Held, request: TraceRequest) -> Reuse:
        return self._slots.serve(self._cut(prompt), request)

    def _cut(self, prompt: Held) -> Held:
        context = self._context_tokens
        if prompt.tokens < context or context == 1:
            return prompt
        keep = min(self._keep_tokens, context - 1)
        left = context - max((context - keep) // 2, 1)
        return prompt.without(keep, prompt.tokens - left)


def size_unit_tokens(options: Options) -> int:
    """What one slot holds."""
    return options.slot_tokens


def open_cache(options: Options) -> Cache:
    """An Ollama that has loaded nothing."""
    return Runners(
        lambda: _Ollama(options),
        hash_block_tokens=options.hash_block_tokens,
        keep_alive_s=options.keep_alive_s,
        obeys=True,
    )
