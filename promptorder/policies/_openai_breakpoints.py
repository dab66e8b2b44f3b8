"""OpenAI's rules from GPT-5.6 on: starts are kept up to breakpoints and found again exactly there."""

from __future__ import annotations

from promptorder.model.trace import Cause, Served, TraceRequest
from promptorder.policies._chain import chain_of, seen_blocks
from promptorder.providers import openai_lifetime_s

_MOST_WRITES = 4
_LOOKED_AT = 80
_Key = tuple[str | None, bytes | tuple[str, int]]


class Breakpoints:
    """What one organisation has cached: until when each start lives."""

    def __init__(
        self,
        *,
        minimum_tokens: int,
        lifetime_s: float | None,
        hash_block_tokens: int | None,
        mark_system: bool = False,
    ) -> None:
        self._mark_system = mark_system
        self._minimum_tokens = minimum_tokens
        self._lifetime_s = lifetime_s
        self._hash_block_tokens = hash_block_tokens
        self._now_s = 0.0
        self._expires_at_s: dict[_Key, float] = {}
        self._keys: set[bytes | tuple[str, int]] = set()
        self._seen: set[bytes | tuple[str, int]] = set()

    def serve(self, request: TraceRequest) -> Served:
        """Answer one request."""
        if request.at_s is not None:
            self._now_s = max(self._now_s, request.at_s)
        chain = chain_of(request, self._hash_block_tokens)
        if not chain.ends:
            return Served(0, 0, 0, Cause.FIRST_REQUEST)
        _, prompt_tokens = request.sizes(self._hash_block_tokens)
        keys: list[_Key] = [(request.cache_key, key) for key in chain.keys]
        # Where a trace does not tell its content blocks there is nothing to count back by.
        reach = _LOOKED_AT if request.block_ends else len(keys)
        hit, expired, elsewhere = -1, False, False
        for block in range(len(keys) - 1, max(-1, len(keys) - 1 - reach), -1):
            expires_at_s = self._expires_at_s.get(keys[block])
            if expires_at_s is None:
                elsewhere = elsewhere or chain.keys[block] in self._keys
            elif expires_at_s < self._now_s:
                expired = True
            else:
                hit = block
                break
        cached = chain.ends[hit] if hit >= 0 else 0
        lifetime_s = self._lifetime_s
        if lifetime_s is None:
            lifetime_s = openai_lifetime_s(request.model)[0]
        if hit >= 0:
            self._expires_at_s[keys[hit]] = self._now_s + lifetime_s
        reached = cached
        for block in self._marks(request, len(keys)):
            if block > hit and chain.ends[block] >= self._minimum_tokens:
                self._expires_at_s[keys[block]] = self._now_s + lifetime_s
                self._keys.add(chain.keys[block])
                reached = chain.ends[block]
        known = seen_blocks(chain, self._seen)
        seen = max(cached, chain.ends[known - 1] if known else 0)
        if seen <= cached:
            if cached == 0:
                short = prompt_tokens < self._minimum_tokens
                cause = Cause.BELOW_MINIMUM if short else Cause.FIRST_REQUEST
            else:
                cause = Cause.REPEATED if cached == prompt_tokens else Cause.FIRST_DIFFERENCE
        elif expired:
            cause = Cause.LIFETIME
        elif elsewhere:
            cause = Cause.OTHER_SLOT
        else:
            cause = Cause.BELOW_MINIMUM if seen < self._minimum_tokens else Cause.NOT_MARKED
        return Served(prompt_tokens, cached, seen, cause, reached - cached)

    def _marks(self, request: TraceRequest, blocks: int) -> list[int]:
        """The blocks at whose ends this request writes: the newest of the caller's, and the service's own last."""
        own = [blocks - 1] if request.implicit_breakpoint else []
        given = [mark.block for mark in request.breakpoints if 0 <= mark.block < blocks]
        if self._mark_system and 0 < request.opening_blocks < blocks:
            given = sorted({request.opening_blocks - 1, *given})
        return sorted({*given[len(own) - _MOST_WRITES :], *own})
