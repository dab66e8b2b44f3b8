"""Traces for the policies of blocks and trees: made ones that share, part, repeat and go on, and the published ones where they are there."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st
from shared_cases import SHARED

from promptorder.model.trace import Served, TraceRequest
from promptorder.policies._options import parse_policy

TRACES = SHARED / "traces"


@dataclass(frozen=True)
class Asked:
    """One request: a prompt and its answer."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...] = ()


def conversation_of(seed: int) -> list[Asked]:
    """Requests of few different tokens: new ones, and ones that go on from a part or all of an earlier prompt or answer."""
    random = Random(seed)
    tokens = range(random.choice((2, 3, 50)))
    answered = random.random() < 0.5
    longest = random.choice((6, 20, 50))
    made: list[Asked] = []
    for _ in range(random.randint(1, 50)):
        start: tuple[int, ...] = ()
        if made and random.random() < 0.7:
            before = random.choice(made[-12:])
            start = before.prompt + before.answer if random.random() < 0.5 else before.prompt
            if random.random() < 0.5:
                start = start[: random.randint(0, len(start))]
        more = random.choices(tokens, k=random.choice((0, 0, 1, 3, random.randint(0, longest))))
        answer = random.choices(tokens, k=random.choice((0, 1, 2, 8))) if answered else []
        made.append(Asked((start + tuple(more))[: 2 * longest] or (0,), tuple(answer)))
    return made


conversations = st.integers(0, 2**32).map(conversation_of)
"""Made from one number, which is far quicker than to draw each token."""


def asked_for(index: int, asked: Asked) -> TraceRequest:
    """As a trace of token ids has it."""
    return TraceRequest(index, index, array("I", asked.prompt), array("I", asked.answer))


def hashed(conversation: Sequence[Asked], unit: int) -> list[TraceRequest]:
    """The same prompts as ids of hashed blocks of ``unit`` tokens, the last partly filled; answers are left out.

    Some are shorter than their last id, so that one id is met with more and with fewer tokens.
    """
    names: dict[tuple[int, ...], int] = {}
    made = []
    for index, asked in enumerate(conversation):
        ends = range(unit, len(asked.prompt) + unit, unit)
        ids = [names.setdefault(asked.prompt[:end], len(names)) for end in ends]
        tokens = len(asked.prompt) - (index * 7 % ((len(asked.prompt) - 1) % unit + 1) if index % 3 else 0)
        made.append(TraceRequest(index, index, array("I", ids), prompt_tokens=tokens, hash_block_tokens=unit))
    return made


def spelled_out(requests: Sequence[TraceRequest], unit: int) -> list[Asked]:
    """What such ids mean: each is so many tokens that no other id has."""
    return [
        Asked(tuple(id_ * unit + at for id_ in each.ids for at in range(unit))[: each.prompt_tokens])
        for each in requests
    ]


def replayed(policy: str, requests: Sequence[TraceRequest]) -> list[Served]:
    """What a new cache did with each; of the counts it must always hold that cached <= seen <= prompt."""
    cache = parse_policy(policy).open()
    served = [cache.serve(request) for request in requests]
    assert all(0 <= each.cached_tokens <= each.seen_tokens <= each.prompt_tokens for each in served)
    return served


def cached(policy: str, requests: Sequence[TraceRequest]) -> list[int]:
    return [each.cached_tokens for each in replayed(policy, requests)]


@cache
def mooncake(name: str) -> tuple[TraceRequest, ...]:
    """A published trace; without it the test is skipped."""
    path = TRACES / "mooncake-fast25" / f"{name}_trace.jsonl"
    if not path.exists():
        pytest.skip("the published traces are not there")
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    return tuple(
        TraceRequest(
            index,
            index + 1,
            array("I", row["hash_ids"]),
            prompt_tokens=row["input_length"],
            hash_block_tokens=512,
            at_s=row["timestamp"] / 1000,
        )
        for index, row in enumerate(rows)
    )


def golden(name: str) -> dict[str, list[int]]:
    """What the real engine answered, by its capacity; without it the test is skipped."""
    path = TRACES / "goldens" / f"{name}.json"
    if not path.exists():
        pytest.skip("the engines' answers are not there")
    answers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return answers
