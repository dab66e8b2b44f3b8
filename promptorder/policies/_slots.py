"""The slots of llama-server, for its own policy and for Ollama's."""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.model.trace import TraceRequest
from promptorder.policies._held import EMPTY, ID_BYTES, Held, Room, answered, shared_tokens
from promptorder.policies._host_cache import HostCache, single
from promptorder.policies._options import PolicyOptions
from promptorder.policies._runners import Reuse
from promptorder.prefix import common_start

_CONTEXT_STEP = 256
_LEAST_KEPT = 0.5


@dataclass(frozen=True, slots=True)
class ServerOptions(PolicyOptions):
    """What llama-server can be told, but for the number of its slots.

    ``context_tokens``: of each slot, or of all together with ``unified``; the server rounds it up to a multiple of 256.
    ``cache_ram_mib``: the host's cache of prompts; 0: none, None: limited only by the context's tokens.
    ``slot_prompt_similarity``: the share of a prompt that a slot must hold more of to be chosen for it; 0: the slot unused for
    longest is. ``cache_reuse``: the least chunk behind the first difference that is shifted into place; 0: none is.
    ``cache_idle_slots``: other slots are copied into the host's cache with each request. ``unified``: all
    slots share one buffer. ``kv_bytes_per_token``: keys and values of a token over all layers.
    """

    context_tokens: int = 8192
    cache_ram_mib: int | None = 8192
    slot_prompt_similarity: float = 0.1
    cache_reuse: int = 0
    cache_idle_slots: bool = True
    unified: bool = False
    kv_bytes_per_token: int | None = None

    @property
    def slot_tokens(self) -> int:
        """A slot's context as the server has it."""
        return -(-self.context_tokens // _CONTEXT_STEP) * _CONTEXT_STEP


class _Slot:
    __slots__ = ("held", "used")

    def __init__(self) -> None:
        self.held = EMPTY
        self.used = -1


class Slots:
    """A llama-server with ``slots`` slots, given one request after another.

    ``keep_tokens`` None: an answer ends where the context is full. Else the context is shifted, and so many
    tokens of its start are kept.
    """

    def __init__(self, options: ServerOptions, slots: int, keep_tokens: int | None = None) -> None:
        self._slots = [_Slot() for _ in range(slots)]
        self._context_tokens = context = options.slot_tokens
        keep = None if keep_tokens is None else min(keep_tokens, context - 4)
        self._room = Room(context - 1, keep)
        self._threshold = single(options.slot_prompt_similarity)
        self._cache_reuse = options.cache_reuse
        self._unified = options.unified
        self._saves_idle = options.cache_idle_slots
        self._host: HostCache | None = None
        mib = options.cache_ram_mib
        if mib != 0:
            self._host = HostCache(
                limit_bytes=None if mib is None else mib << 20,
                limit_tokens=context * (1 if options.unified else slots),
                kv_bytes_per_token=options.kv_bytes_per_token,
                streams=1 if options.unified else slots,
            )
        self._clock = 0

    def serve(self, prompt: Held, request: TraceRequest) -> Reuse:
        """Choose a slot, exchange its prompt with the host's cache, and read what it does not hold."""
        shares = [shared_tokens(each.held, prompt) for each in self._slots]
        longest = max(shares)
        host_tokens = self._host.longest(prompt) if self._host is not None else 0
        number, loses_much = self._choose(prompt, shares)
        slot = self._slots[number]
        if loses_much and self._host is not None:
            self._exchange(self._host, slot, prompt, shares[number])
        if self._saves_idle and self._host is not None:
            self._save_idle(self._host, slot)
        self._clock += 1
        slot.used = self._clock
        if prompt.tokens >= self._context_tokens:
            return Reuse(None, 0, longest, slot.held, host_tokens)
        cached = 0
        if request.may_reuse:
            cached = shared_tokens(slot.held, prompt)
            if self._cache_reuse and prompt.unit == 1:
                cached += _shifted_tokens(slot.held.data, prompt.data, cached, self._cache_reuse)
            cached = min(cached, prompt.tokens - 1)
        slot.held = answered(prompt, request, self._room)
        if self._unified:
            self._make_room(slot)
        return Reuse(prompt, cached, longest, slot.held, host_tokens, request.may_reuse)

    def _choose(self, prompt: Held, shares: list[int]) -> tuple[int, bool]:
        """The slot for a prompt, and whether half of what it holds, or more, would be lost."""
        if self._threshold:
            best, best_found = None, 0.0
            for number, share in enumerate(shares):
                found = single(share / prompt.tokens)
                if found > best_found and found > self._threshold:
                    best, best_found = number, found
            if best is not None:
                kept = single(single(best_found * prompt.tokens) / self._slots[best].held.tokens)
                return best, kept < _LEAST_KEPT
        oldest = 0
        for number, slot in enumerate(self._slots):
            if slot.used <= self._slots[oldest].used:
                oldest = number
        return oldest, True

    def _exchange(self, host: HostCache, slot: _Slot, prompt: Held, shared: int) -> None:
        if slot.held.tokens:
            host.save(slot.held)
        better = host.better(prompt, slot.held, shared)
        if better is not None:
            if self._unified and better.tokens > self._context_tokens - self._others(slot):
                slot.held = (
                    EMPTY  # the state cannot be restored into a full buffer; it stays in the host's cache
                )
            else:
                host.take(better)
                slot.held = better
        host.shrink()

    def _save_idle(self, host: HostCache, busy: _Slot) -> None:
        for slot in self._slots:
            if slot is busy:
                continue
            if slot.held.tokens and host.save(slot.held):
                host.shrink()
            if self._unified:
                slot.held = EMPTY

    def _make_room(self, busy: _Slot) -> None:
        """One buffer for all: idle slots are emptied, the first one first, until the busy one's tokens fit."""
        for slot in self._slots:
            if busy.held.tokens + self._others(busy) <= self._context_tokens:
                return
            if slot is not busy:
                slot.held = EMPTY

    def _others(self, slot: _Slot) -> int:
        return sum(each.held.tokens for each in self._slots if each is not slot)


def _shifted_tokens(held: bytes, prompt: bytes, start: int, least: int) -> int:
    """How many tokens behind the shared ``start`` are found further on in ``held``, in chunks of ``least`` or more.

    Only the place in ``held`` advances where a chunk is not found; one that is found is moved to its place in the prompt.
    """
    at = done = start * ID_BYTES
    while chunk := prompt[done : done + least * ID_BYTES]:
        if len(chunk) < least * ID_BYTES:
            break
        at = held.find(chunk, at)
        while at % ID_BYTES and at >= 0:
            at = held.find(chunk, at + 1)
        if at < 0:
            break
        step = common_start(held[at:], prompt[done:]) // ID_BYTES * ID_BYTES
        at += step
        done += step
    return done // ID_BYTES - start
