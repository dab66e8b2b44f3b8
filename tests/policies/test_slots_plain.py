"""The policy against the same rules written plainly, on random requests and options."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_server import PlainServer
from slot_traffic import Traffic

from promptorder.model.trace import Cause, TraceRequest
from promptorder.policies import llama_server
from promptorder.policies._runners import Runners


@given(
    seed=st.integers(0, 2**32),
    slots=st.integers(1, 4),
    similarity=st.sampled_from([0.0, 0.1, 0.25, 0.5]),
    reuse=st.sampled_from([0, 0, 1, 2, 5]),
    idle=st.booleans(),
    unified=st.booleans(),
    ram=st.sampled_from([0, 8192, None, "small"]),
    scale=st.sampled_from([0.1, 1.0]),
)
@settings(max_examples=150, deadline=None)
def test_random_requests(
    seed: int,
    slots: int,
    similarity: float,
    reuse: int,
    idle: bool,
    unified: bool,
    ram: int | str | None,
    scale: float,
) -> None:
    # A small cache, in MiB, holds some 300 tokens of 3,400 bytes each
    kv_bytes = 3388 if ram == "small" else None
    mib = 1 if ram == "small" else ram
    assert not isinstance(mib, str)
    options = llama_server.Options(
        slots=slots,
        context_tokens=512,
        cache_ram_mib=mib,
        slot_prompt_similarity=similarity,
        cache_reuse=reuse,
        cache_idle_slots=idle,
        unified=unified,
        kv_bytes_per_token=kv_bytes,
    )
    plain = PlainServer(
        slots=slots,
        context=512,
        limit_bytes=None if mib is None else mib << 20,
        similarity=similarity,
        reuse=reuse,
        idle=idle,
        unified=unified,
        host_on=mib != 0,
        token_bytes=(kv_bytes or 256) + 12,
    )
    cache = llama_server.open_cache(options)
    traffic = Traffic(seed, scale, longest=530)
    draw = random.Random(seed)
    for index in range(60):
        prompt = traffic.next()
        generated = [draw.randrange(9) for _ in range(draw.randrange(4))]
        traffic.answered(prompt, generated)
        served = cache.serve(TraceRequest(index, index, prompt, generated))
        expected = plain.ask(prompt, generated)
        assert served.cached_tokens == (expected or 0)
        assert (served.cause is Cause.TOO_LONG) == (expected is None)
        assert served.cached_tokens <= served.seen_tokens <= served.prompt_tokens


@pytest.mark.parametrize("field", [each.name for each in dataclasses.fields(llama_server.Options)])
def test_each_option_matters(field: str) -> None:
    """A changed option changes what is reused of some requests."""
    changed: dict[str, Any] = {
        "hash_block_tokens": 3,
        "slots": 3,
        "context_tokens": 300,
        "cache_ram_mib": 0,
        "slot_prompt_similarity": 0.6,
        "cache_reuse": 2,
        "cache_idle_slots": False,
        "unified": True,
        "kv_bytes_per_token": 8000,
    }
    base = llama_server.Options(slots=2, cache_ram_mib=1, context_tokens=1024, kv_bytes_per_token=1000)
    traffic = Traffic(1)
    prompts = []
    for _ in range(300):
        prompts.append(traffic.next())
        traffic.answered(prompts[-1], [])
    block = 2 if field == "hash_block_tokens" else None
    requests = [
        TraceRequest(index, index, each, hash_block_tokens=block) for index, each in enumerate(prompts)
    ]
    figures = []
    for options in (base, dataclasses.replace(base, **{field: changed[field]})):
        cache = llama_server.open_cache(options)
        assert isinstance(cache, Runners)
        figures.append([cache.serve(request).cached_tokens for request in requests])
    assert figures[0] != figures[1]
