"""Which policies are replayed: by default, and at other sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import NamedTuple

from promptorder.model.trace import TraceRequest
from promptorder.model.trace_result import BOUND, CurvePoint
from promptorder.policies._options import Policy
from promptorder.replay import Tally

_BY_API = {
    "ollama": ("ollama",),
    "llama-server": ("llama-server",),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "gemini": (),
}
_BY_IDS = ("llama-server", "vllm", "sglang")
_BY_HASHES = ("vllm", "sglang")


def default_policies(first: TraceRequest) -> tuple[str, ...]:
    """What is replayed where nobody says: the bound, and the engines that such a request goes to."""
    if first.api in _BY_API:
        return (BOUND, *_BY_API[first.api])
    return (BOUND, *(_BY_IDS if first.hash_block_tokens is None else _BY_HASHES))


class AtSize(NamedTuple):
    """Policy ``number`` with another capacity."""

    number: int
    policy: Policy
    size: int
    size_tokens: int


def at_sizes(policies: Sequence[Policy], sizes_tokens: Sequence[int]) -> list[AtSize]:
    """Each policy that has a size, at each of the sizes."""
    found = []
    for number, policy in enumerate(policies):
        if policy.size_option is None:
            continue
        unit = policy.module.size_unit_tokens(policy.options)
        for tokens in sorted(set(sizes_tokens)):
            # One more than what holds them: vLLM keeps a block for itself.
            size = math.ceil(tokens / unit) + 1
            found.append(AtSize(number, policy.with_options(**{policy.size_option: size}), size, tokens))
    return found


def point(other: AtSize, tally: Tally) -> CurvePoint:
    """What it reused at that size."""
    return CurvePoint(other.size, other.size_tokens, tally.reused_tokens, tally.hit_rate_tokens())


def options_of(policy: Policy) -> tuple[dict[str, object], dict[str, object]]:
    """The options that differ from their defaults, and all of them."""
    every = asdict(policy.options)
    defaults = {each.name: each.default for each in fields(policy.options)}
    return {name: value for name, value in every.items() if value != defaults[name]}, every
