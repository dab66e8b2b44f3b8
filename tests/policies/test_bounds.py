"""The two bounds: an unlimited prefix cache and the reuse of equal blocks anywhere, against definitions in a few lines."""

from __future__ import annotations

from array import array
from random import Random

import pytest
from cpu_time import collector_off, cpu_s
from hypothesis import given, settings
from hypothesis import strategies as st
from made_traces import Asked, asked_for, cached, conversations, hashed, replayed, spelled_out
from slot_asking import Asking

from promptorder.errors import UsageError
from promptorder.model.trace import Cause, TraceRequest
from promptorder.policies._options import parse_policy


def shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def requests_of(conversation: list[Asked]) -> list[TraceRequest]:
    return [asked_for(index, each) for index, each in enumerate(conversation)]


# ------------------------------------------------------------------ unlimited


@settings(max_examples=150, deadline=None)
@given(conversations)
def test_unlimited_is_the_longest_start_that_any_earlier_request_had(conversation: list[Asked]) -> None:
    expected = [
        max((shared(each.prompt, e.prompt + e.answer[:-1]) for e in conversation[:index]), default=0)
        for index, each in enumerate(conversation)
    ]
    assert cached("unlimited", requests_of(conversation)) == expected


@settings(max_examples=100, deadline=None)
@given(conversations, st.sampled_from([1, 3, 8]))
def test_hashed_blocks_are_the_tokens_they_stand_for(conversation: list[Asked], unit: int) -> None:
    requests = hashed(conversation, unit)
    assert cached("unlimited", requests) == cached("unlimited", requests_of(spelled_out(requests, unit)))


def test_a_partly_filled_last_block_counts_with_its_tokens() -> None:
    requests = [
        TraceRequest(index, index, array("I", [7, 8]), prompt_tokens=tokens, hash_block_tokens=512)
        for index, tokens in enumerate((600, 700, 700))
    ]
    assert cached("unlimited", requests) == [0, 600, 700]


@settings(max_examples=150, deadline=None)
@given(conversations, st.integers(0, 2**32), st.sampled_from([0, 1, 4, 100]))
def test_a_lifetime_counts_from_the_last_read(conversation: list[Asked], seed: int, lifetime: int) -> None:
    random, now = Random(seed), 0
    requests, expected = requests_of(conversation), []
    read: dict[tuple[int, ...], int] = {}
    for request, each in zip(requests, conversation, strict=True):
        now += random.choice((0, 1, 3, 5))
        request.at_s = float(now)
        alive = 0
        while alive < len(each.prompt) and now - read.get(each.prompt[: alive + 1], -1000) <= lifetime:
            alive += 1
        expected.append(alive)
        whole = each.prompt + each.answer[:-1]
        read.update((whole[:end], now) for end in range(1, len(whole) + 1))
    assert cached(f"unlimited,lifetime_s={lifetime}", requests) == expected


def test_what_was_forgotten_is_told_from_what_is_new() -> None:
    cache = Asking("unlimited,lifetime_s=60")
    cache.ask("aaaa", at_s=0.0)
    assert cache.ask("aaaab", at_s=60.0).cause is Cause.FIRST_DIFFERENCE
    lost = cache.ask("aaaab", at_s=121.0)
    assert (lost.cached_tokens, lost.seen_tokens, lost.cause) == (0, 5, Cause.LIFETIME)
    without_time = cache.ask("aaaab")
    assert (without_time.cached_tokens, without_time.cause) == (5, Cause.REPEATED)


def test_whole_blocks_where_they_are_asked_for() -> None:
    cache = Asking("unlimited,block_tokens=4")
    assert cache.ask("aaaabb").cause is Cause.FIRST_REQUEST
    served = cache.ask("aaaabbc")
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (4, 6, Cause.FIRST_DIFFERENCE)


@settings(max_examples=100, deadline=None)
@given(conversations, st.sampled_from(["vllm,block_tokens=4", "sglang", "sglang,page_tokens=4", "modular"]))
def test_no_engine_reuses_more_than_the_bound_and_reuse_anywhere_no_less(
    conversation: list[Asked], policy: str
) -> None:
    requests = requests_of(conversation)
    bound, other = replayed("unlimited", requests), replayed(policy, requests)
    for most, each in zip(bound, other, strict=True):
        if policy == "modular":
            assert each.cached_tokens >= most.cached_tokens
        else:
            assert each.cached_tokens <= most.cached_tokens
            assert each.seen_tokens == most.seen_tokens


# -------------------------------------------------------------------- modular


@settings(max_examples=150, deadline=None)
@given(conversations, st.integers(0, 2**32), st.sampled_from([1, 2, 4]))
def test_modular_counts_what_lies_in_chunks_read_before_or_in_the_shared_start(
    conversation: list[Asked], seed: int, size: int
) -> None:
    random = Random(seed)
    known: set[tuple[int, ...]] = set()
    requests, expected = requests_of(conversation), []
    for index, (request, each) in enumerate(zip(requests, conversation, strict=True)):
        prompt = each.prompt
        ends = sorted(random.choices(range(len(prompt) + 1), k=random.choice((0, 1, 3))))
        request.block_ends = tuple(ends)
        chunks = {}
        for start, end in zip([0, *ends], [*ends, len(prompt)], strict=True):
            for at in range(start, end, size):
                chunks[at] = prompt[at : min(at + size, end)]
        earlier = (e.prompt + e.answer[:-1] for e in conversation[:index])
        reused = set(range(max((shared(prompt, e) for e in earlier), default=0)))
        for at, chunk in chunks.items():
            if chunk in known:
                reused |= set(range(at, at + len(chunk)))
        expected.append(len(reused))
        known |= set(chunks.values())
    assert cached(f"modular,block_tokens={size}", requests) == expected


def test_a_document_behind_another_question_is_reused() -> None:
    cache = Asking("modular,block_tokens=4")
    cache.ask("why?the long document", block_ends=(4,))
    assert cache.cached("did it stop?the long document", block_ends=(12,)) == len("the long document")
    assert cache.cached("why?the long document", block_ends=(4,), namespace="other") == 0
    assert cache.cached("how?" + "the long document", block_ends=(3,)) == 0  # its chunks begin elsewhere


@settings(max_examples=50, deadline=None)
@given(conversations, st.sampled_from([1, 8]))
def test_of_hashed_blocks_reuse_anywhere_is_reuse_of_starts(conversation: list[Asked], unit: int) -> None:
    requests = hashed(conversation, unit)
    assert cached("modular", requests) == cached("unlimited", requests)


@pytest.mark.parametrize("policy", ["unlimited,block_tokens=0", "modular,block_tokens=0"])
def test_blocks_of_nothing_are_refused(policy: str) -> None:
    with pytest.raises(UsageError):
        parse_policy(policy)


# ----------------------------------------------------------------------- cost


def sessions(requests: int) -> list[TraceRequest]:
    """Prompts of 400 tokens of as many sessions as are needed for four turns each, the turns of different sessions mixed."""
    random = Random(requests)
    made: list[TraceRequest] = []
    texts: list[array[int]] = [array("I", range(100)) for _ in range(max(1, requests // 4))]
    for index in range(requests):
        session = random.randrange(len(texts))
        texts[session] = texts[session][:300] + array("I", (random.randrange(50_000) for _ in range(100)))
        made.append(TraceRequest(index, index, texts[session]))
    return made


@pytest.mark.parametrize(
    "policy",
    [
        "vllm,num_blocks=2000",
        "sglang,capacity_tokens=32000",
        "unlimited",
        "unlimited,lifetime_s=5",
        "modular",
    ],
)
def test_twice_the_trace_takes_twice_the_time(policy: str) -> None:
    traces = [sessions(number) for number in (400, 1600)]

    def took(requests: list[TraceRequest]) -> float:
        cache = parse_policy(policy).open()
        return cpu_s(lambda: [cache.serve(request) for request in requests])

    with collector_off():
        once, four_times = (min(took(requests) for _ in range(3)) for requests in traces)
    assert four_times < once * 8 + 0.05
