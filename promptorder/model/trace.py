"""A trace of requests, and what a cache did with each of them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

PUBLISHED_HASH_BLOCK_TOKENS = 512
"""How many tokens a hash id stands for where a trace does not say: as the Mooncake traces were published."""


class Breakpoint(NamedTuple):
    """A mark up to which a hosted service is asked to keep the prompt: after content block ``block`` (from 0)."""

    block: int
    lifetime_s: float | None = None


@dataclass(slots=True)
class TraceRequest:
    """One request of a trace, in the order in which it was sent.

    ``ids`` are token ids, or, where ``hash_block_tokens`` is not None, ids of blocks of that many tokens each,
    the last of which may be partly filled: an id stands for the block and for all that stands before it. Ids
    are below 2**32; what promptorder reads are ``array("I")``, which compare and slice in C, and whose ``tobytes()`` are
    packed, 4 bytes an id. ``prompt_tokens`` is the prompt's length as the trace says it, None where only the ids tell.
    ``generated`` are the ids of the answer, ``output_tokens`` their number as far as known.
    Requests of different ``namespace`` (another model, another tenant) share nothing.
    ``block_ends`` are the offsets in tokens behind each content block (tools, system texts, messages), and
    ``breakpoints`` the caller's marks in them, in their order; from block ``messages_from`` on they are messages.
    The first ``opening_blocks`` are tools and system texts, wherever the service keeps these.
    ``messages_key`` holds what is no text and yet parts the cache of the messages (Anthropic's tool choice, thinking,
    effort). ``implicit_breakpoint`` is False where the caller switched the service's own mark off. ``cache_key`` is
    the caller's name for a cache (``prompt_cache_key``), ``retention_s`` the lifetime asked for as a whole.
    ``may_reuse`` is False where the caller wants all of it read anew (llama-server's ``cache_prompt``: false).
    ``observed_cached_tokens`` is what the real server said it reused, ``observed_written_tokens`` what it charged as written into
    its cache, of them ``observed_written_long_tokens`` for a longer lifetime. ``path`` is the file that it stands in.
    ``api`` says whose request it is: anthropic, gemini, llama-server, ollama or openai; empty where nothing tells.
    """

    index: int
    line: int
    ids: Sequence[int]
    generated: Sequence[int] = ()
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    hash_block_tokens: int | None = None
    at_s: float | None = None
    namespace: str = ""
    session: str | None = None
    api: str = ""
    model: str = ""
    block_ends: tuple[int, ...] = ()
    breakpoints: tuple[Breakpoint, ...] = ()
    messages_from: int = 0
    opening_blocks: int = 0
    messages_key: str = ""
    implicit_breakpoint: bool = True
    cache_key: str | None = None
    retention_s: float | None = None
    may_reuse: bool = True
    observed_cached_tokens: int | None = None
    observed_written_tokens: int | None = None
    observed_written_long_tokens: int = 0
    path: str = ""

    def packed(self) -> bytes:
        """The ids as unsigned numbers of 32 bits one after another, in the machine's order; quick where they are an array of them."""
        ids = self.ids
        return (ids if isinstance(ids, array) and ids.itemsize == 4 else array("I", ids)).tobytes()

    def sizes(self, hash_block_tokens: int | None) -> tuple[int, int]:
        """How many tokens one id stands for, and how many the prompt has.

        ``hash_block_tokens`` overrides what the trace says of its hash ids. The trace's own length is kept
        where it fits the number of ids; where it does not, each id is a full block.
        """
        own = self.hash_block_tokens
        if own is None:
            return 1, len(self.ids)
        unit = hash_block_tokens or own
        said = self.prompt_tokens
        if said is not None and -(-said // unit) == len(self.ids):
            return unit, said
        return unit, unit * len(self.ids)


class Cause(StrEnum):
    """Why a request was not reused further than it was."""

    FIRST_REQUEST = "first-request"
    """Nothing that it starts with was ever read before."""
    FIRST_DIFFERENCE = "first-difference"
    """Up to where it parts from all earlier requests everything was reused (but for the remainder of a block)."""
    REPEATED = "repeated"
    """All of it was read before; only what must be evaluated each time was not reused."""
    EVICTION = "eviction"
    LIFETIME = "lifetime"
    BELOW_MINIMUM = "below-minimum"
    OTHER_SLOT = "other-slot"
    """Another slot, or another machine, held more of it than the one that answered."""
    HOST_CACHE = "host-cache"
    """The host's memory held more of it than the slot that answered, and was not asked, or its entry is like too little of it."""
    NOT_MARKED = "not-marked"
    """No breakpoint, or none within reach, stood where the shared start ends."""
    TOO_LONG = "too-long"
    """The prompt does not fit, and is refused."""
    CUT = "cut"
    """The prompt does not fit: its middle is cut out before it is read."""
    SWITCHED_OFF = "switched-off"
    """The caller asked that nothing be reused."""


class Served(NamedTuple):
    """What a cache did with one request.

    Of ``prompt_tokens``, ``cached_tokens`` were reused. ``seen_tokens`` (at least as many) is the longest start that
    this cache ever read before: what lies behind it is new text, what lies between was lost by ``cause``.
    ``written_tokens`` is what a hosted service charges as written into its cache, and of them
    ``written_long_tokens`` at the rate of a longer lifetime.
    """

    prompt_tokens: int
    cached_tokens: int
    seen_tokens: int
    cause: Cause
    written_tokens: int = 0
    written_long_tokens: int = 0


class Cache(Protocol):
    """A cache policy at work: it is given the requests of a trace one after another."""

    def serve(self, request: TraceRequest) -> Served:
        """Answer a request and keep of it what the policy keeps."""
        ...
