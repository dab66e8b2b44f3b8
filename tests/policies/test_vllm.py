"""vLLM's blocks: equal to the real engine's answers, to its rules written plainly, and small cases of each rule."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_traces import (
    Asked,
    asked_for,
    cached,
    conversations,
    golden,
    hashed,
    mooncake,
    replayed,
    spelled_out,
)
from plain_blocks import PlainVllm
from slot_asking import Asking

from promptorder.errors import UsageError
from promptorder.model.trace import Cause, TraceRequest
from promptorder.policies import vllm
from promptorder.policies._options import parse_policy

PLENTY = 10_000


@pytest.mark.parametrize("num_blocks", ["300000", "30001", "10001", "5860", "1001"])
def test_equals_the_real_engine_in_every_request(num_blocks: str) -> None:
    expected = golden("vllm0330_conversation")[num_blocks]
    assert cached(f"vllm,hash_block_tokens=16,num_blocks={num_blocks}", mooncake("conversation")) == expected


@settings(max_examples=150, deadline=None)
@given(conversations, st.sampled_from([1, 2, 3, 4, 16]), st.integers(2, 60))
def test_equals_the_rules_written_plainly(conversation: list[Asked], size: int, num_blocks: int) -> None:
    plain = PlainVllm(num_blocks, size)
    requests = [asked_for(index, each) for index, each in enumerate(conversation)]
    expected = [plain.ask(each.prompt, each.answer) for each in conversation]
    assert cached(f"vllm,num_blocks={num_blocks},block_tokens={size}", requests) == expected


@settings(max_examples=100, deadline=None)
@given(conversations, st.sampled_from([1, 2, 4, 8]))
def test_unlimited_is_as_many_blocks_as_are_wanted(conversation: list[Asked], size: int) -> None:
    requests = [asked_for(index, each) for index, each in enumerate(conversation)]
    unlimited = replayed(f"vllm,block_tokens={size}", requests)
    assert unlimited == replayed(f"vllm,block_tokens={size},num_blocks={PLENTY}", requests)
    assert Cause.EVICTION not in {each.cause for each in unlimited}


@settings(max_examples=100, deadline=None)
@given(conversations, st.sampled_from([(8, 4), (8, 8), (16, 2), (4, 8), (2, 4)]), st.integers(2, 60))
def test_hashed_blocks_are_the_tokens_they_stand_for(
    conversation: list[Asked], sizes: tuple[int, int], num_blocks: int
) -> None:
    unit, size = sizes
    requests = hashed(conversation, unit)
    tokens = [asked_for(index, each) for index, each in enumerate(spelled_out(requests, unit))]
    policy = f"vllm,num_blocks={num_blocks},block_tokens={size}"
    assert cached(policy, requests) == cached(policy, tokens)


def test_one_token_at_least_is_computed() -> None:
    engine = Asking("vllm,block_tokens=4")
    assert engine.ask("aaaabbbb").cause is Cause.FIRST_REQUEST
    again = engine.ask("aaaabbbb")
    assert (again.cached_tokens, again.seen_tokens, again.cause) == (4, 8, Cause.REPEATED)
    assert engine.cached("aaaabbbbc") == 8


def test_below_one_block_nothing_is_reused() -> None:
    engine = Asking("vllm,block_tokens=16")
    engine.ask("a" * 15 + "b" * 20)
    served = engine.ask("a" * 15 + "c" * 20)
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (0, 15, Cause.FIRST_DIFFERENCE)


def test_the_null_block_holds_nothing() -> None:
    assert Asking("vllm,block_tokens=4,num_blocks=3").ask("a" * 8).cause is Cause.FIRST_REQUEST
    refused = Asking("vllm,block_tokens=4,num_blocks=3").ask("a" * 9)
    assert (refused.cached_tokens, refused.cause) == (0, Cause.TOO_LONG)


def test_what_is_refused_leaves_the_pool_as_it_was() -> None:
    engine = Asking("vllm,block_tokens=4,num_blocks=4")
    engine.ask("aaaabbbbc")
    refused = engine.ask("aaaabbbbccccdddd")
    assert (refused.cached_tokens, refused.seen_tokens) == (0, 9)
    assert engine.ask("aaaabbbbccccd"[:12]).cached_tokens == 8
    assert engine.ask("aaaabbbbccccdddd").seen_tokens == 12


def test_the_tail_of_the_oldest_prompt_goes_first() -> None:
    engine = Asking("vllm,block_tokens=2,num_blocks=9")
    engine.ask("aabbccdd")
    engine.ask("xxyyzz")
    engine.ask("wwv")  # two blocks: the last free one and dd
    lost = engine.ask("aabbccdde")
    assert (lost.cached_tokens, lost.seen_tokens, lost.cause) == (6, 8, Cause.EVICTION)


def test_the_overwritten_end_of_a_prompt_has_no_place_until_it_is_read_again() -> None:
    engine = Asking("vllm,block_tokens=2,num_blocks=5")
    engine.ask("aabbcc")
    engine.ask("xxy")  # overwrites cc
    engine.ask("aabbw")  # parts before it
    assert engine.cached("aabbcc") == 4
    engine.ask("z")  # overwrites xx, the oldest
    assert engine.cached("aabbccd") == 6


def test_a_block_computed_again_becomes_a_copy_that_takes_room() -> None:
    engine = Asking("vllm,block_tokens=2,num_blocks=5")
    engine.ask("aabb")
    engine.ask("aabb")  # bb is computed again: aa, bb and bb are held
    engine.ask("xx")
    engine.ask("y")  # overwrites the older copy of bb
    assert engine.cached("aabbc") == 4


def test_the_answer_but_for_its_last_token_is_kept() -> None:
    engine = Asking("vllm,block_tokens=4")
    engine.ask("aaaa", "bbbbc")
    assert engine.cached("aaaabbbbcd") == 8
    engine.ask("xxxx", "yyyy")
    assert engine.cached("xxxxyyyyz") == 4


def test_copies_of_an_answer_go_last_one_first() -> None:
    engine = Asking("vllm,block_tokens=1,num_blocks=12")
    engine.ask("b", "ababbaaa")
    engine.ask("bb")
    engine.ask("b", "aa")
    engine.ask("bba", "abbababa")
    assert engine.cached("bababbaaa") == 1


def test_namespaces_share_the_pool_and_nothing_else() -> None:
    engine = Asking("vllm,block_tokens=2,num_blocks=4")
    engine.ask("aabb")
    served = engine.ask("aabb", namespace="other")
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (0, 0, Cause.FIRST_REQUEST)
    assert engine.ask("aabbc").cause is Cause.EVICTION


def test_blocks_that_hashed_ones_cannot_tell_are_refused() -> None:
    with pytest.raises(UsageError, match="one must divide the other"):
        parse_policy("vllm,hash_block_tokens=512,block_tokens=48")
    cache = parse_policy("vllm,block_tokens=48").open()
    with pytest.raises(UsageError, match="one must divide the other") as refused:
        cache.serve(TraceRequest(0, 1, array("I", [1, 2]), hash_block_tokens=512))
    assert "block_tokens" in refused.value.hint


@pytest.mark.parametrize("options", ["block_tokens=0", "num_blocks=0"])
def test_sizes_of_nothing_are_refused(options: str) -> None:
    with pytest.raises(UsageError):
        parse_policy(f"vllm,{options}")


def test_plain_lists_serve_as_well_as_arrays() -> None:
    engine = parse_policy("vllm,block_tokens=2").open()
    engine.serve(TraceRequest(0, 1, [1, 2, 3, 4], [5, 6]))
    assert engine.serve(TraceRequest(1, 2, (1, 2, 3, 4, 5))).cached_tokens == 4


def test_its_size_is_told_in_blocks() -> None:
    options = parse_policy("vllm,block_tokens=32,num_blocks=100")
    assert options.size_option == "num_blocks"
    assert vllm.size_unit_tokens(options.options) == 32
