"""The rules of the slot policies, one small case each."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from slot_asking import Asking, held

from promptorder.errors import UsageError
from promptorder.model.trace import Cause, TraceRequest
from promptorder.policies import llama_server, ollama, ollama_runner
from promptorder.policies._host_cache import HostCache
from promptorder.policies._options import parse_policy

A, B, C, D = "a" * 20, "b" * 20, "c" * 20, "d" * 20


# ---------------------------------------------------------------- which slot


def test_the_first_request_takes_the_last_slot() -> None:
    server = Asking("llama-server,slots=3")
    server.ask(A)
    assert server.slots() == ["", "", A]
    server.ask(B)
    assert server.slots() == ["", B, A]


def test_without_enough_in_common_the_slot_unused_for_longest_is_taken() -> None:
    server = Asking("llama-server,slots=2,cache_ram_mib=0").holding(A, B)
    server.ask(A)
    server.ask(C)
    assert server.slots() == [A, C]


def test_of_slots_that_share_as_much_the_first_is_taken() -> None:
    server = Asking("llama-server,slots=2,cache_ram_mib=0").holding("aaaaaaaaaaX", "aaaaaaaaaaY")
    assert server.cached("aaaaaaaaaaZ") == 10
    assert server.slots() == ["aaaaaaaaaaZ", "aaaaaaaaaaY"]


def test_the_slot_that_shares_most_is_taken() -> None:
    server = Asking("llama-server,slots=2,cache_ram_mib=0").holding("aaaaX", "aaaaaaY")
    assert server.cached("aaaaaaZ") == 6


def test_a_tenth_of_the_prompt_is_not_enough() -> None:
    server = Asking("llama-server,slots=2,cache_ram_mib=0").holding("aX", "Y")
    server.ask("a" + "b" * 9)
    assert server.slots() == ["a" + "b" * 9, "Y"]  # by its age, which here is the same slot
    server = Asking("llama-server,slots=2,cache_ram_mib=0").holding("Y", "aX")
    assert server.cached("a" + "b" * 9) == 0
    server = Asking("llama-server,slots=2,cache_ram_mib=0").holding("Y", "aX")
    assert server.cached("a" + "b" * 8) == 1


def test_similarity_zero_goes_by_age_alone() -> None:
    server = Asking("llama-server,slots=2,cache_ram_mib=0,slot_prompt_similarity=0").holding(A, B)
    assert server.cached(B) == 0
    assert server.slots() == [B, B]


def test_ratios_are_single_precision() -> None:
    """7 of 23 tokens, and 7 of the slot's 14: exactly a half, but just below it as the server computes it."""
    server = Asking("llama-server,slots=1").holding("a" * 7 + "b" * 7)
    server.ask("a" * 7 + "c" * 16)
    assert server.host() == ["a" * 7 + "b" * 7]
    server = Asking("llama-server,slots=1").holding("a" * 8 + "b" * 8)
    server.ask("a" * 8 + "c" * 16)
    assert server.host() == []


# ---------------------------------------------------------------- the host's cache


def test_a_slot_that_loses_more_than_half_is_saved_first() -> None:
    server = Asking("llama-server").holding("aaaabbbbb")
    assert server.cached("aaaaccccc") == 4
    assert server.host() == ["aaaabbbbb"]
    assert server.cached("aaaabbbbb") == 8
    assert server.host() == ["aaaaccccc"]  # moved, not copied


def test_an_entry_is_not_saved_twice_nor_beside_its_own_start() -> None:
    server = Asking("llama-server,slots=1")
    server.ask("aaaa")
    server.ask(B)
    assert server.host() == ["aaaa"]
    server.ask("aaaabbbbbbbbbbbb")
    server.ask(C)
    assert server.host() == [B, "aaaabbbbbbbbbbbb"]


def test_a_quarter_must_be_kept_of_an_entry() -> None:
    for tail, cached in ((12, 4), (13, 0)):
        server = Asking("llama-server")
        server.ask("aaaa" + "b" * tail)
        server.ask(C)
        assert server.cached("aaaa" + "d" * 4) == cached


def test_an_entry_must_beat_the_slot_in_both_ratios() -> None:
    """The slot shares 4 of its 9; the entry 5, but of 20: more of the prompt, and less of the entry."""
    server = Asking("llama-server,slots=1")
    server.ask("aaaaa" + "x" * 15)
    server.ask("aaaa" + "y" * 5)
    assert server.host() == ["aaaaa" + "x" * 15]
    assert server.cached("aaaaa" + "z" * 5) == 4
    server = Asking("llama-server,slots=1")
    server.ask("aaaaa" + "x" * 5)
    server.ask("aaa" + "y" * 7)
    assert server.cached("aaaaa" + "z" * 5) == 5


@pytest.mark.parametrize("first", ["long", "whole"])
def test_of_two_entries_the_older_one_is_the_one_to_beat(first: str) -> None:
    """One shares more with the prompt, of the other more would be kept: neither beats the other."""
    entries = {"long": "aaaaaa" + "x" * 12, "whole": "aaaay"}
    server = Asking("llama-server").holding(B)
    server.saved(entries.pop(first), *entries.values())
    assert server.cached("aaaaaa" + "z" * 10) == {"long": 6, "whole": 4}[first]


def test_the_oldest_entries_go_first() -> None:
    """A MiB holds two prompts of 40 tokens of 10,000 bytes."""
    server = Asking("llama-server,cache_ram_mib=1,kv_bytes_per_token=10000")
    for letter in "abcd":
        server.ask(letter * 40)
    assert server.host() == ["b" * 40, "c" * 40]


def test_a_prompt_too_large_for_the_host_leaves_it_as_it_was() -> None:
    server = Asking("llama-server,cache_ram_mib=1,kv_bytes_per_token=10000")
    server.ask("a" * 40)
    server.ask("b" * 110)
    server.ask("c" * 40)
    assert server.host() == ["a" * 40]


def test_a_state_is_larger_than_its_keys_and_values() -> None:
    """100 tokens: 100 times 12 bytes for their places, and 48 for the state."""
    for kv_bytes, kept in ((10473, True), (10474, False)):
        cache = HostCache(limit_bytes=1 << 20, limit_tokens=256, kv_bytes_per_token=kv_bytes, streams=1)
        assert cache.save(held("a" * 100)) is kept


def test_without_a_limit_in_bytes_the_context_limits_the_tokens() -> None:
    server = Asking("llama-server,context_tokens=512,cache_ram_mib=unlimited")
    for letter in "abcd":
        server.ask(letter * 200)
    assert server.host() == ["b" * 200, "c" * 200]


def test_idle_slots_are_saved_and_kept() -> None:
    server = Asking("llama-server,slots=2").holding(A, B)
    server.ask(B + "b")
    assert server.host() == [A]
    assert server.slots() == [A, B + "b"]


def test_idle_slots_are_emptied_where_the_buffer_is_one() -> None:
    server = Asking("llama-server,slots=2,unified=true").holding(A, B)
    server.ask(B + "b")
    assert server.host() == [A]
    assert server.slots() == ["", B + "b"]


def test_idle_slots_are_left_alone_when_told_so_or_without_a_host_cache() -> None:
    server = Asking("llama-server,slots=2,unified=true,cache_idle_slots=false").holding(A, B)
    server.ask(B + "b")
    assert (server.host(), server.slots()) == ([], [A, B + "b"])
    server = Asking("llama-server,slots=2,unified=true,cache_ram_mib=0").holding(A, B)
    server.ask(B + "b")
    assert server.slots() == [A, B + "b"]


def test_one_buffer_for_all_empties_idle_slots_until_the_prompt_fits() -> None:
    policy = "llama-server,slots=3,unified=true,context_tokens=256,cache_ram_mib=0"
    server = Asking(policy).holding("a" * 80, "b" * 80, "c" * 60)
    server.ask("c" * 60 + "d" * 36)
    assert server.slots() == ["a" * 80, "b" * 80, "c" * 60 + "d" * 36]
    server.ask("c" * 60 + "d" * 37)
    assert server.slots() == ["", "b" * 80, "c" * 60 + "d" * 37]


def test_an_entry_that_does_not_fit_the_buffer_stays_and_the_slot_is_emptied() -> None:
    policy = "llama-server,slots=2,unified=true,context_tokens=256,cache_idle_slots=false"
    server = Asking(policy).holding("c" * 150, "x" * 20)
    server.saved("y" * 120)
    server.ask("c" * 150)
    assert server.cached("y" * 120) == 0
    assert server.host() == ["y" * 120, "x" * 20]


# ---------------------------------------------------------------- what is read


def test_one_token_is_always_read() -> None:
    server = Asking("llama-server")
    server.ask(A)
    assert server.cached(A) == 19
    assert server.cached(A[:12]) == 11


def test_a_slot_holds_the_answer_but_for_its_last_token() -> None:
    server = Asking("llama-server")
    server.ask("aaa", "xyz")
    assert server.slots() == ["aaaxy"]
    assert server.cached("aaaxyzb") == 5


def test_an_answer_ends_where_the_context_is_full() -> None:
    server = Asking("llama-server,context_tokens=256")
    server.ask("a" * 250, "b" * 50)
    assert server.slots() == ["a" * 250 + "b" * 5]
    server.ask("a" * 255, "b" * 50)
    assert server.slots() == ["a" * 255]


def test_an_answer_of_which_only_the_length_is_known_fills_the_slot() -> None:
    """3 of the slot's 10 tokens are kept, not 3 of 4: it is saved."""
    server = Asking("llama-server")
    server.ask("aaax", output_tokens=7)
    assert server.cached("aaay") == 3
    assert server.host() == ["aaax?"]
    server.ask(B)
    assert server.cached("aaaxz") == 4


@pytest.mark.parametrize(("least", "cached"), [(0, 6), (5, 11), (6, 6)])
def test_chunks_behind_the_first_difference_are_shifted(least: int, cached: int) -> None:
    server = Asking(f"llama-server,cache_reuse={least}")
    server.ask("abcdefXYhijkl")
    assert server.cached("abcdefhijkl" + "mn") == cached


def test_a_chunk_is_looked_for_in_the_slot_only() -> None:
    """What is new in the prompt is never stepped over."""
    server = Asking("llama-server,cache_reuse=2")
    server.ask("abcdefghijkl")
    assert server.cached("abcdefXghijkl") == 6


def test_too_long_a_prompt_is_refused_after_the_slots_were_exchanged() -> None:
    server = Asking("llama-server,context_tokens=200,slots=2").holding(A, B)
    served = server.ask("c" * 256)
    assert (served.prompt_tokens, served.cached_tokens, served.cause) == (256, 0, Cause.TOO_LONG)
    assert server.host() == [A, B]
    assert server.slots() == [A, B]
    server.ask("d" * 255)  # the refused one has used the first slot
    assert server.slots() == [A, "d" * 255]


def test_an_empty_prompt_changes_nothing() -> None:
    server = Asking("llama-server").holding(A)
    assert server.ask("")[:3] == (0, 0, 0)
    assert server.slots() == [A]


def test_namespaces_share_nothing() -> None:
    server = Asking("llama-server")
    server.ask(A, namespace="one")
    assert server.cached(A, namespace="two") == 0
    assert server.cached(A, namespace="one") == 19


# ---------------------------------------------------------------- traces of hash ids


def hashed(ids: list[int], tokens: int | None = None, answer: int | None = None) -> TraceRequest:
    return TraceRequest(0, 0, ids, prompt_tokens=tokens, output_tokens=answer, hash_block_tokens=512)


def test_a_hash_id_is_a_block_of_tokens() -> None:
    cache = parse_policy("llama-server,context_tokens=100000").open()
    cache.serve(hashed([1, 2, 3], 1400))
    assert cache.serve(hashed([1, 2, 4], 1500)).cached_tokens == 1024
    assert cache.serve(hashed([1, 2, 4], 1500)).cached_tokens == 1499
    assert cache.serve(hashed([1, 2, 4], 1500)).prompt_tokens == 1500
    assert cache.serve(hashed([1, 2])).cached_tokens == 1023


def test_an_unknown_answer_follows_a_partly_filled_block() -> None:
    cache = parse_policy("llama-server,context_tokens=100000,cache_ram_mib=0").open()
    cache.serve(hashed([1, 2], 600, answer=5))
    assert cache.serve(hashed([1, 2], 600)).cached_tokens == 599
    assert cache.serve(hashed([1, 3, 4])).cached_tokens == 512


def test_the_size_of_a_block_can_be_told() -> None:
    cache = parse_policy("llama-server,hash_block_tokens=10").open()
    cache.serve(hashed([1, 2, 3]))
    assert cache.serve(hashed([1, 2, 4])).cached_tokens == 20


# ---------------------------------------------------------------- Ollama


def test_an_unused_model_is_unloaded() -> None:
    server = Asking("ollama")
    server.ask(A, at_s=0.0)
    assert server.cached(A, at_s=299.0) == 19
    assert server.cached(A, at_s=599.0) == 19  # each request begins the time anew
    served = server.ask(A * 3, at_s=900.0)
    assert (served.cached_tokens, served.cause) == (0, Cause.FIRST_REQUEST)  # too short to be remembered
    served = server.ask(A * 3, at_s=1300.0)
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (0, 32, Cause.LIFETIME)


def test_unloading_ends_the_host_cache_too() -> None:
    server = Asking("ollama")
    server.ask(A, at_s=0.0)
    server.ask(B, at_s=1.0)
    assert server.cached(A, at_s=302.0) == 0


@pytest.mark.parametrize(
    ("keep", "at_s", "cached"), [("0", None, 0), ("0", 1.0, 0), ("unlimited", 1e9, 19), ("300", None, 19)]
)
def test_keep_alive(keep: str, at_s: float | None, cached: int) -> None:
    for policy in ("ollama", "ollama-runner"):
        server = Asking(f"{policy},keep_alive_s={keep}")
        server.ask(A, at_s=0.0)
        assert server.cached(A, at_s=at_s) == cached


@pytest.mark.parametrize(
    ("asked_s", "at_s", "cached"),
    [(600.0, 599.0, 19), (10.0, 11.0, 0), (0.0, 0.1, 0), (float("inf"), 1e9, 19)],
)
def test_a_request_says_how_long_its_model_is_kept(asked_s: float, at_s: float, cached: int) -> None:
    for policy in ("ollama", "ollama-runner"):
        server = Asking(policy)
        server.ask(A, at_s=0.0, api="ollama", retention_s=asked_s)
        assert server.cached(A, at_s=at_s, api="ollama") == cached
        # It is the last request that counts, and a lifetime that is meant for another service is not a keep-alive.
        server = Asking(policy)
        server.ask(A, at_s=0.0, api="ollama", retention_s=asked_s)
        server.ask(A, at_s=0.05, api="openai", retention_s=86400)
        assert server.cached(A, at_s=300.0) == 19
        assert server.cached(A, at_s=601.0) == 0


def test_the_time_of_one_model_is_not_that_of_another() -> None:
    server = Asking("ollama,keep_alive_s=10")
    server.ask(A, at_s=0.0, namespace="one")
    server.ask(B, at_s=8.0, namespace="two")
    assert server.cached(A, at_s=12.0, namespace="one") == 0
    assert server.cached(B, at_s=12.0, namespace="two") == 19


def test_ollama_cuts_the_middle_of_a_prompt_that_does_not_fit() -> None:
    """Of 256 tokens the first 4 stay, and half of the other 252 is left free."""
    server = Asking("ollama,context_tokens=256")
    served = server.ask("abcd" + "e" * 200 + "f" * 52)
    assert (served.prompt_tokens, served.cause) == (130, Cause.CUT)
    assert server.slots() == ["abcd" + "e" * 74 + "f" * 52]
    assert server.ask("abcd" + "e" * 251).prompt_tokens == 255


def test_ollama_shifts_a_context_that_an_answer_fills() -> None:
    """At 255 tokens 4 stay and 125 of the other 251 go."""
    server = Asking("ollama,context_tokens=256")
    server.ask("abcd" + "e" * 246, "f" * 10)
    assert server.slots() == ["abcd" + "e" * 121 + "f" * 9]


def test_a_cut_trace_of_blocks_keeps_no_more_than_whole_blocks() -> None:
    cache = parse_policy("ollama,context_tokens=1024,keep_tokens=600").open()
    assert cache.serve(hashed([1, 2, 3])).prompt_tokens == 812
    assert cache.serve(hashed([1, 2, 3])).cached_tokens == 512


# ---------------------------------------------------------------- Ollama's own runners


def runner_slots(runner: Asking) -> list[str]:
    (model,) = runner.cache._models.values()
    return [bytes(each.data[::4]).decode() for each in model.runner._held]


def test_the_runner_takes_the_longest_match_and_the_first_of_equals() -> None:
    runner = Asking("ollama-runner,parallel=2")
    runner.ask("aaaa")
    assert runner_slots(runner) == ["aaaa", ""]
    assert runner.cached("aabb") == 2  # the only one that shares anything, so it is overwritten
    assert runner_slots(runner) == ["aabb", ""]
    assert runner.cached("cccc") == 0
    assert runner_slots(runner) == ["cccc", ""]


def test_the_multiuser_cache_copies_a_shared_start_into_the_slot_unused_for_longest() -> None:
    runner = Asking("ollama-runner,parallel=3,multiuser_cache=true")
    runner.ask("aaaa")
    assert runner.cached("aabb") == 2
    assert runner_slots(runner) == ["aaaa", "aabb", ""]
    assert runner.cached("aabbcc") == 4  # all that the slot holds: no copy
    assert runner_slots(runner) == ["aaaa", "aabbcc", ""]
    assert runner.cached("aad") == 2
    assert runner.cached("aabbx") == 4
    assert runner_slots(runner) == ["aabbx", "aabbcc", "aad"]


def test_the_runner_reads_one_token_of_a_full_match() -> None:
    for options in ("", ",multiuser_cache=true"):
        runner = Asking(f"ollama-runner{options}")
        runner.ask(A, "xy")
        assert runner.cached(A) == 19
        assert runner.cached(A) == 19


def test_the_runner_cuts_and_shifts() -> None:
    runner = Asking("ollama-runner,context_tokens=20")
    served = runner.ask("abcd" + "e" * 10 + "f" * 10)
    assert (served.prompt_tokens, served.cause) == (20, Cause.CUT)
    assert runner_slots(runner) == ["abcd" + "e" * 6 + "f" * 10]
    runner.ask("abcd" + "g" * 16, "hij")
    assert runner_slots(runner) == ["abcd" + "g" * 8 + "hi"]


# ---------------------------------------------------------------- causes


def test_the_cause_of_what_was_not_reused() -> None:
    long = "".join(chr(0x100 + number) for number in range(100))
    server = Asking("llama-server,cache_ram_mib=0")
    assert server.ask(long).cause is Cause.FIRST_REQUEST
    assert server.ask(long).cause is Cause.REPEATED
    assert server.ask(long[:50] + A).cause is Cause.FIRST_DIFFERENCE
    served = server.ask(long)
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (50, 96, Cause.EVICTION)


def test_another_slot_held_more() -> None:
    server = Asking("llama-server,slots=2,cache_ram_mib=0,slot_prompt_similarity=0").holding(A, B)
    served = server.ask(B + "c")
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (0, 20, Cause.OTHER_SLOT)


def test_the_host_cache_held_more() -> None:
    """The slot is like enough to be taken as it is, so that nobody looks into the host's cache."""
    server = Asking("llama-server").holding(A[:8]).saved(A)
    served = server.ask(A + "c")
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (8, 20, Cause.HOST_CACHE)


def test_a_request_may_switch_reuse_off() -> None:
    server = Asking("llama-server,cache_reuse=2")
    server.ask(A + B)
    served = server.ask(A + "c", may_reuse=False)
    assert (served.cached_tokens, served.seen_tokens, served.cause) == (0, 20, Cause.SWITCHED_OFF)
    assert server.ask("xyz", may_reuse=False).cause is Cause.FIRST_REQUEST
    server.ask(A + "c", may_reuse=False)
    assert server.cached(A + "cd") == 21  # it is kept, as any other
    assert server.ask(A * 20, may_reuse=False).cause is Cause.SWITCHED_OFF
    assert server.ask("e" * 9000, may_reuse=False).cause is Cause.TOO_LONG


# ---------------------------------------------------------------- options


def test_the_defaults_are_the_servers_own() -> None:
    assert llama_server.Options() == llama_server.Options(
        hash_block_tokens=None,
        context_tokens=8192,
        cache_ram_mib=8192,
        slot_prompt_similarity=0.1,
        cache_reuse=0,
        cache_idle_slots=True,
        unified=False,
        kv_bytes_per_token=None,
        slots=1,
    )
    assert (ollama.Options().parallel, ollama.Options().keep_alive_s) == (1, 300)
    runner = ollama_runner.Options()
    assert (runner.parallel, runner.multiuser_cache) == (1, False)
    assert (runner.context_tokens, runner.keep_alive_s) == (4096, 300)


@pytest.mark.parametrize(
    "policy", ["llama-server,slots=0", "ollama,parallel=0", "ollama-runner,context_tokens=0"]
)
def test_nothing_can_be_served_by_no_slots(policy: str) -> None:
    with pytest.raises(UsageError, match="1 or more"):
        parse_policy(policy)


# ---------------------------------------------------------------- what real servers counted

GOLDENS = Path(__file__).resolve().parents[3] / "shared/traces/goldens"
RECORDED = {
    "llamaserver_np1_default": "llama-server",
    "llamaserver_np1_noram": "llama-server,cache_ram_mib=0",
    "llamaserver_np2_npred5": "llama-server,slots=2",
    "llamaserver_np2_reuse16": "llama-server,slots=2,cache_reuse=16,cache_ram_mib=0",
    "llamaserver_np2_sps0": "llama-server,slots=2,slot_prompt_similarity=0,cache_ram_mib=0",
    "llamaserver_np4_auto_unified": "llama-server,slots=4,unified=true",
    "llamaserver_np4_default": "llama-server,slots=4",
    "llamaserver_np4_noram": "llama-server,slots=4,cache_ram_mib=0",
    "llamaserver_np8_default": "llama-server,slots=8",
    "ollama0333_par1_101": "ollama,context_tokens=4096",
    "ollama0333_par2_102": "ollama,context_tokens=4096,parallel=2",
    "ollama065_par1_201": "ollama-runner",
    "ollama065_par3_multiuser_204": "ollama-runner,parallel=3,multiuser_cache=true",
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_servers_are_equalled_in_every_request(name: str) -> None:
    path = GOLDENS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip("the recordings are not here")
    cache = parse_policy(RECORDED[name]).open()
    counted, replayed = [], []
    with gzip.open(path, "rt") as lines:
        for index, line in enumerate(lines):
            said = json.loads(line)
            served = cache.serve(TraceRequest(index, index + 1, said["prompt"], said["generated"]))
            count = said["cache_n"] if "cache_n" in said else said["cached_tokens"]
            if count is not None:  # a reply without metrics has changed the slots all the same
                counted.append(count)
                replayed.append(served.cached_tokens)
    assert len(counted) >= 190
    assert replayed == counted
