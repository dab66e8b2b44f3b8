"""What the rest of the house asks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from promptorder.model.prompt import Prompt
from promptorder.model.sample import Reply

Cold = Literal["unload", "nonce"]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a person can say about an engine and its calls.

    ``timeout_s`` bounds the wait for the next piece of a reply; None means that the engine scales it.
    ``cold`` is None until somebody chooses: unloading where that is polite, else the nonce.
    """

    model: str | None = None
    host: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_remote: bool = False
    seed: int = 7
    num_predict: int = 80
    timeout_s: float | None = None
    cold: Cold | None = None


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Which engine and model are measured.

    ``context_tokens`` is the context that the calls use (None before it is chosen), ``max_context_tokens``
    what the model was made for. ``counts_cached_tokens`` is None until a reply has told.
    ``document_goes_to`` names the other machine that will see the document, or is None.
    ``duration_caveat`` says what the engine's duration covers where this is not simply the prefill.
    ``sliding_window_tokens`` is None where the model has none, or none is told.
    """

    name: str
    version: str | None
    model: str
    model_digest: str | None = None
    context_tokens: int | None = None
    max_context_tokens: int | None = None
    counts_cached_tokens: bool | None = None
    can_think: bool = False
    document_goes_to: str | None = None
    duration_caveat: str | None = None
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    sliding_window_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TokenCount:
    """A number of tokens, and whether the model's own tokenizer counted it."""

    tokens: int
    exact: bool


class Engine(Protocol):
    """A model that answers prompts and tells how long each part took.

    Every method may raise EngineError or one of its kinds.
    """

    @property
    def info(self) -> EngineInfo:
        """What is known by now."""

    @property
    def cold(self) -> Cold:
        """How each block starts cold: the user's choice, or what suits this engine."""

    def render(self, prompt: Prompt) -> str | None:
        """The prompt as the model sees it, chat template and all; None where the engine does not tell."""

    def count_tokens(self, text: str) -> TokenCount:
        """Tokens of a rendered text, without a full prefill. Call it before the first block only."""

    def count_prompt(self, prompt: Prompt) -> TokenCount:
        """Tokens of a whole prompt, without a full prefill. Call it before the first block only."""

    def use_context(self, tokens: int) -> None:
        """Fix the context size (``num_ctx``) of all calls that follow."""

    def start_block(self) -> Reply:
        """Make the cache cold where ``cold`` is ``unload``, load the model, and say how long loading took."""

    def ask(
        self, prompt: Prompt, on_token: Callable[[], None] | None = None, *, most_tokens: int | None = None
    ) -> Reply:
        """Send one prompt and wait for the whole answer; ``on_token`` is called at the first token.

        The answer has at most ``most_tokens``; None: as many as the options say.
        """

    def others(self) -> tuple[str, ...]:
        """Names of other models that are in the engine's memory: somebody else uses it."""

    def restore(self) -> None:
        """Leave the model loaded or unloaded as it was found."""

    def close(self) -> None:
        """Free what the engine holds; safe to call twice."""
