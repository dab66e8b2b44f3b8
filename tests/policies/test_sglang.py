"""SGLang's tree: equal to the real engine's answers, to its rules written plainly, and small cases of each rule."""

from __future__ import annotations

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
from plain_blocks import PlainSGLang
from slot_asking import Asking

from promptorder.errors import UsageError
from promptorder.model.trace import Cause
from promptorder.policies._options import parse_policy


@pytest.mark.parametrize("capacity", ["None", "30000", "10000", "5859", "1000"])
def test_equals_the_real_engine_in_every_request(capacity: str) -> None:
    expected = golden("sglang0523_conversation")[capacity]
    assert (
        cached(f"sglang,hash_block_tokens=1,capacity_tokens={capacity}", mooncake("conversation")) == expected
    )


@settings(max_examples=150, deadline=None)
@given(conversations, st.sampled_from([1, 2, 3, 4, 16]), st.integers(1, 400) | st.none())
def test_equals_the_rules_written_plainly(conversation: list[Asked], page: int, capacity: int | None) -> None:
    plain = PlainSGLang(capacity, page)
    requests = [asked_for(index, each) for index, each in enumerate(conversation)]
    expected = [plain.ask(each.prompt, each.answer) for each in conversation]
    assert cached(f"sglang,page_tokens={page},capacity_tokens={capacity}", requests) == expected


@settings(max_examples=100, deadline=None)
@given(conversations, st.sampled_from([(8, 1), (8, 4), (8, 8), (3, 1), (2, 4), (3, 2)]), st.integers(1, 400))
def test_hashed_blocks_are_the_tokens_they_stand_for(
    conversation: list[Asked], sizes: tuple[int, int], capacity: int
) -> None:
    unit, page = sizes
    requests = hashed(conversation, unit)
    tokens = [asked_for(index, each) for index, each in enumerate(spelled_out(requests, unit))]
    policy = f"sglang,page_tokens={page},capacity_tokens={capacity}"
    assert cached(policy, requests) == cached(policy, tokens)


@settings(max_examples=100, deadline=None)
@given(conversations)
def test_without_a_capacity_nothing_is_evicted(conversation: list[Asked]) -> None:
    requests = [asked_for(index, each) for index, each in enumerate(conversation)]
    served = replayed("sglang", requests)
    assert served == replayed("sglang,capacity_tokens=100000", requests)
    assert Cause.EVICTION not in {each.cause for each in served}


def test_one_token_at_least_is_computed() -> None:
    engine = Asking("sglang")
    assert engine.ask("abcd").cause is Cause.FIRST_REQUEST
    again = engine.ask("abcd")
    assert (again.cached_tokens, again.seen_tokens, again.cause) == (3, 4, Cause.REPEATED)


def test_whole_pages_are_reused() -> None:
    engine = Asking("sglang,page_tokens=4")
    engine.ask("aaaabbbbcc")
    served = engine.ask("aaaabbbX")
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (4, 7, Cause.FIRST_DIFFERENCE)


def test_one_token_too_few_may_cost_a_whole_leaf() -> None:
    engine = Asking("sglang,capacity_tokens=12")
    engine.ask("aaaaaaaa")
    engine.ask("bbbb")
    engine.ask("c")
    lost = engine.ask("aaaaaaaa")
    assert (lost.cached_tokens, lost.seen_tokens, lost.cause) == (0, 8, Cause.EVICTION)


def test_the_least_recently_used_leaf_goes_first() -> None:
    engine = Asking("sglang,capacity_tokens=12")
    for prompt in ("aaaa", "bbbb", "cccc", "aaaad", "e"):
        engine.ask(prompt)
    assert engine.cached("ccccx") == 4
    assert engine.cached("bbbbx") == 0


def test_a_shared_start_outlives_its_branches() -> None:
    engine = Asking("sglang,capacity_tokens=12")
    engine.ask("ssssaaaa")
    engine.ask("ssssbbbb")
    engine.ask("ssssccc")  # the branch of a goes
    assert engine.cached("ssssaaaaX") == 4


def test_a_prompt_longer_than_the_capacity_is_let_in() -> None:
    engine = Asking("sglang,capacity_tokens=4")
    assert engine.ask("abcdefgh").cause is Cause.FIRST_REQUEST
    assert engine.cached("abcdefghi") == 8


def test_the_answer_but_for_its_last_token_is_kept_in_a_leaf_of_its_own() -> None:
    engine = Asking("sglang,capacity_tokens=10")
    engine.ask("aaaa", "bbbb")
    assert engine.cached("aaaabbbbc") == 7
    engine = Asking("sglang,capacity_tokens=9")
    engine.ask("aaaa", "bbbb")
    engine.ask("xxx")  # takes the answer's leaf and leaves the prompt's
    assert engine.cached("aaaabbb") == 4


def test_namespaces_share_the_room_and_nothing_else() -> None:
    engine = Asking("sglang,capacity_tokens=4")
    engine.ask("aaaa")
    assert engine.ask("aaaa", namespace="other").cause is Cause.FIRST_REQUEST
    assert engine.ask("aaaab").cause is Cause.EVICTION


def test_pages_of_nothing_are_refused() -> None:
    with pytest.raises(UsageError):
        parse_policy("sglang,page_tokens=0")
