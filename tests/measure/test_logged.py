"""Which entry of a server's log belongs to which call: never another client's, and none where it is not sure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.measure.logged import log_caveats, match, with_counts
from promptorder.model.sample import Phase, Reply, Sample
from promptorder.model.serverlog import CacheChange, LogEntry, LoggedChange, LoggedRequest

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def call(
    number: int,
    prompt: int | None,
    prefill_ms: float | None = None,
    *,
    cached: int | None = None,
    read: int | None = None,
    phase: Phase = Phase.FOLLOW_UP,
) -> Sample:
    started = (START + timedelta(seconds=10 * number)).isoformat().replace("+00:00", "Z")
    prefill = None if prefill_ms is None else round(prefill_ms * 1e6)
    reply = Reply(
        "x",
        prompt_tokens=prompt,
        cached_tokens=cached,
        read_tokens=read,
        prefill_ns=prefill,
        elapsed_ns=5 * 10**9,
    )
    return Sample("static-first", 1, number, phase, f"{number:064x}", started, reply)


def failed(number: int) -> Sample:
    return Sample(
        "static-first", 1, number, Phase.FOLLOW_UP, "0" * 64, "2026-01-02T03:04:05Z", failure="broke off"
    )


def entry(
    line: int,
    prompt: int | None,
    cached: int | None,
    prefill_ms: float | None = None,
    at: datetime | None = None,
) -> LoggedRequest:
    prefill = None if prefill_ms is None else round(prefill_ms * 1e6)
    return LoggedRequest(line, "x", at, prompt_tokens=prompt, cached_tokens=cached, prefill_ns=prefill)


def reused(samples: Sequence[Sample], entries: Sequence[LogEntry]) -> list[int | None]:
    found = match(samples, entries).logged
    return [found[s].cached_tokens if s in found else None for s in samples]


def test_in_order_and_by_length() -> None:
    samples = [call(1, 100), call(2, 103), call(3, 101)]
    assert reused(samples, [entry(1, 100, 0), entry(2, 103, 97), entry(3, 101, 96)]) == [0, 97, 96]


def test_another_client_in_between_is_left_out_and_told() -> None:
    samples = [call(1, 100), call(2, 103), call(3, 101)]
    entries = [entry(1, 100, 0), entry(2, 900, 0), entry(3, 103, 5), entry(4, 50, 0), entry(5, 101, 96)]
    assert reused(samples, entries) == [0, 5, 96]
    found = match(samples, entries)
    assert found.strangers == 2
    assert [c.code for c in log_caveats(found)] == ["second-client"]


def test_what_stands_before_and_behind_the_run_is_not_its_concern() -> None:
    samples = [call(1, 100), call(2, 103)]
    entries = [entry(1, 900, 0), entry(2, 100, 0), entry(3, 103, 97), entry(4, 50, 0)]
    assert reused(samples, entries) == [0, 97]
    assert match(samples, entries).strangers == 0


def test_samples_as_if_they_had_been_counted() -> None:
    samples = [call(1, None, read=100), call(2, 103), call(3, 104, cached=1)]
    logged = match(samples, [entry(1, 100, 0), entry(2, 103, 97), entry(3, 104, 5)]).logged
    counted = [s.reply for s in with_counts([*samples, failed(4)], logged)]
    assert [(r.prompt_tokens, r.cached_tokens) for r in counted if r] == [(100, 0), (103, 97), (104, 1)]


def test_a_strangers_prompt_of_the_same_length_is_told_apart_by_its_time() -> None:
    samples = [call(1, 100, 50.004), call(2, 100, 2.0)]
    entries = [entry(1, 100, 0, 50.0), entry(2, 100, 0, 47.5), entry(3, 100, 97, 2.0)]
    assert reused(samples, entries) == [0, 97]


def test_without_times_it_is_not_sure_and_not_taken() -> None:
    samples = [call(1, 100), call(2, 100)]
    entries = [entry(1, 100, 0), entry(2, 100, 40), entry(3, 100, 97)]
    assert reused(samples, entries) == [None, None]
    found = match(samples, entries)
    assert found.strangers == 1
    assert len(found.unmatched) == 2


def test_the_moment_of_an_entry_decides_where_nothing_else_does() -> None:
    samples = [call(1, 100), call(2, 100)]
    at = [START + timedelta(seconds=s) for s in (10.01, 17, 20.01)]
    entries = [entry(n, 100, cached, at=at[n - 1]) for n, cached in ((1, 0), (2, 40), (3, 97))]
    assert reused(samples, entries) == [0, 97]


def test_it_does_not_matter_which_where_all_say_the_same() -> None:
    assert reused([call(1, 100)], [entry(1, 100, 97), entry(2, 100, 97)]) == [97]


def test_one_entry_for_two_calls_is_nobodys() -> None:
    found = match([call(1, 100), call(2, 100)], [entry(1, 100, 97)])
    assert not found.logged
    assert found.strangers == 0


def test_a_gap_in_the_log_leaves_the_others() -> None:
    samples = [call(1, 100), call(2, 103), call(3, 101)]
    entries = [entry(1, 100, 0), entry(3, 101, 96)]
    assert reused(samples, entries) == [0, None, 96]
    (caveat,) = log_caveats(match(samples, entries, complete=False))
    assert caveat.code == "log-incomplete"
    assert caveat.samples == ((1, 2),)
    assert "1 of 3" in caveat.message
    assert "replaced" in caveat.message


def test_an_engine_that_tells_only_what_it_read() -> None:
    samples = [call(1, None, 20.0, read=100), call(2, None, 1.0, read=3)]
    assert reused(samples, [entry(1, 100, 0, 20.0), entry(2, 101, 98, 1.0)]) == [0, 98]


def test_durations_of_another_meaning_do_not_hide_all() -> None:
    samples = [call(1, 100, 900.0), call(2, 103, 800.0)]
    assert reused(samples, [entry(1, 100, 0, 20.0), entry(2, 103, 98, 1.0)]) == [0, 98]


def test_loading_is_no_prompt_and_a_failed_call_may_have_been_read() -> None:
    load = call(0, None, phase=Phase.LOAD)
    found = match([load, call(1, 100), failed(2), call(3, 100)], [entry(1, 100, 0), entry(2, 777, 9)])
    assert found.strangers == 0
    assert load not in found.unmatched


def test_refused_requests_are_nobodys() -> None:
    found = match(
        [call(1, 100)], [entry(1, 100, None), entry(2, 100, 3), LoggedChange(3, "x", CacheChange.LOADED)]
    )
    assert found.requests == 1
    assert found.strangers == 0
    assert found.changes == (CacheChange.LOADED,)


def test_the_servers_count_and_its_log_may_differ() -> None:
    samples = [call(1, 100, cached=0), call(2, 100, cached=90)]
    (caveat,) = log_caveats(match(samples, [entry(1, 100, 0), entry(2, 100, 97)]))
    assert caveat.code == "log-disagrees"
    assert caveat.samples == ((1, 2),)
    assert "90" in caveat.message
    assert "97" in caveat.message


@pytest.mark.parametrize(
    ("entries", "complete", "words"),
    [
        ([], True, "OLLAMA_DEBUG=1"),
        ([entry(1, 7, 3)], True, "none of the 1 request"),
        ([], False, "cut or replaced"),
    ],
)
def test_nothing_fits(entries: list[LogEntry], complete: bool, words: str) -> None:
    (caveat,) = log_caveats(match([call(1, 100)], entries, complete=complete))
    assert caveat.code == "log-not-matched"
    assert words in caveat.message


def test_the_log_says_why_a_prompt_was_read_anew() -> None:
    lost = LoggedChange(2, "x", CacheChange.NO_CACHE_DATA, slot=0, task=1)
    (caveat,) = log_caveats(match([call(1, 100, cached=0)], [entry(1, 100, 0), lost, lost]))
    assert caveat.code == "no-cache-data"
    assert "2 times" in caveat.message


def test_a_log_that_agrees_needs_no_word() -> None:
    assert not log_caveats(match([call(1, 100, cached=4)], [entry(1, 100, 4)]))


LENGTHS = st.lists(st.integers(1, 4), max_size=12)


@given(LENGTHS, st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), max_size=6))
def test_whatever_strangers_do_no_call_gets_their_reuse(
    lengths: list[int], strangers: list[tuple[int, int]]
) -> None:
    """Own entries reuse their call's number, strangers' a thousand and more: no call may get anything but its own."""
    samples = [call(number, 100 + length) for number, length in enumerate(lengths)]
    entries = [entry(0, 100 + length, number) for number, length in enumerate(lengths)]
    for number, (place, length) in enumerate(strangers):
        entries.insert(min(place, len(entries)), entry(0, 100 + length, 1000 + number))
    found = match(samples, entries)
    for number, sample in enumerate(samples):
        if sample in found.logged:
            assert found.logged[sample].cached_tokens == number
    assert found.strangers <= len(strangers)
    assert len(found.logged) + len(found.unmatched) == len(samples)
    if not strangers:
        assert len(found.logged) == len(samples)


@given(LENGTHS, st.sets(st.integers(0, 11)))
def test_what_the_log_lost_takes_nobody_elses(lengths: list[int], lost: set[int]) -> None:
    samples = [call(number, 100 + length) for number, length in enumerate(lengths)]
    entries = [entry(0, 100 + length, number) for number, length in enumerate(lengths) if number not in lost]
    found = match(samples, entries)
    assert all(found.logged[s].cached_tokens == n for n, s in enumerate(samples) if s in found.logged)
    assert found.strangers == 0
