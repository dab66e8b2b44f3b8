"""What a model server's own log says of the prompts it read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SlotChoice(StrEnum):
    """How a server chose the cache that a prompt was laid upon."""

    LCP_SIMILARITY = "lcp-similarity"
    """The slot whose prompt has the longest common start, where it is long enough."""
    LRU = "lru"
    """No slot was like enough: the one that was idle the longest."""
    HOST_CACHE = "host-cache"
    """A prompt kept in the host's memory fitted better than what was in the slot."""
    BY_ID = "by-id"
    """The client named the slot."""
    FORK = "fork"
    """The start was copied out of another slot."""


class CacheChange(StrEnum):
    """What happened to a cache beside the prompts."""

    LOADED = "loaded"
    """A model was loaded: every cache of its process is empty."""
    UNLOADED = "unloaded"
    """The process that held the model has ended."""
    TRUNCATED = "truncated"
    """The prompt was cut to fit the context; ``tokens`` were left of it."""
    CONTEXT_SHIFT = "context-shift"
    """The middle of a slot was thrown away to make room; ``tokens`` is how many."""
    NO_CACHE_DATA = "no-cache-data"
    """The state to go on from is gone (sliding window, recurrent): the prompt is read from its start."""
    CHECKPOINT_RESTORED = "checkpoint-restored"
    """A saved state was put back; ``tokens`` is where it stands."""
    CHECKPOINT_ERASED = "checkpoint-erased"
    """A saved state was dropped; ``tokens`` is where it stood."""
    HOST_CACHE_EVICTED = "host-cache-evicted"
    """The oldest prompt in the host's memory was dropped."""
    HOST_CACHE_SKIPPED = "host-cache-skipped"
    """A prompt was too large for the host's memory."""
    CHUNK_REUSED = "chunk-reused"
    """``tokens`` behind the first difference were moved to their new place instead of read again."""
    SLOT_CLEARED = "slot-cleared"
    """The tokens of a slot were dropped; ``tokens`` is how many, where the log says."""
    SLOT_EVICTED = "slot-evicted"
    """Another prompt takes the slot over."""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One prompt that the server began to read.

    ``line`` counts from 1 in what was handed in; ``dialect`` names the reader. ``at`` is None where the log
    gives no full date. ``prompt_tokens`` is the whole prompt, ``cached_tokens`` the part that was not read
    again; ``derived`` tells that the log names only what was read and where the slot ended, and that these
    two were worked out from it. ``similarity`` is of the chosen slot, 0 to 1. Durations are the server's own.
    What the log does not say is None.
    """

    line: int
    dialect: str
    at: datetime | None = None
    slot: int | None = None
    task: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    prefill_ns: int | None = None
    decode_tokens: int | None = None
    decode_ns: int | None = None
    why: SlotChoice | None = None
    similarity: float | None = None
    derived: bool = False


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """Something that took a cache away, or put it back; slot and task where it concerns one."""

    line: int
    dialect: str
    change: CacheChange
    at: datetime | None = None
    slot: int | None = None
    task: int | None = None
    tokens: int | None = None


LogEntry = LoggedRequest | LoggedChange
