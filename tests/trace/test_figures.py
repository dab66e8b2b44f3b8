"""Rates by each definition, where tokens went, windows, sizes, and the requests that stand out."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.model.serverlog import CacheChange, LogEntry, LoggedChange, LoggedRequest, SlotChoice
from promptorder.model.trace import Cause, Served, TraceRequest
from promptorder.model.trace_result import Place, Rates
from promptorder.replay import Tally, replay
from promptorder.tracing.figures import MOST_WINDOWS, curve_sizes_tokens, losses, rates, windows
from promptorder.tracing.observed import ObservedTally
from promptorder.tracing.watch import MOST_WORST, Watch


def request(number: int, *, session: str | None = None, observed: int | None = None) -> TraceRequest:
    return TraceRequest(
        number,
        number + 1,
        array("I", range(100)),
        session=session,
        path="log",
        observed_cached_tokens=observed,
    )


class Scripted:
    """A cache that answers as it was told."""

    def __init__(self, *answers: Served) -> None:
        self._answers = iter(answers)

    def serve(self, request: TraceRequest) -> Served:
        return next(self._answers)


def test_the_four_definitions_differ() -> None:
    found = rates([100, 300, 100, 100], [0, 150, 100, 0])
    assert found == Rates(
        requests=4,
        input_tokens=600,
        cached_tokens=250,
        hit_rate_tokens=250 / 600,
        hit_rate_requests_mean=(0 + 0.5 + 1 + 0) / 4,
        last_half_hit_rate_tokens=100 / 200,
        requests_with_hit=2,
    )


def test_nothing_to_divide_by_is_none_and_not_0() -> None:
    for prompts in ([], [0, 0]):
        found = rates(prompts, prompts)
        assert (
            found.hit_rate_tokens is found.hit_rate_requests_mean is found.last_half_hit_rate_tokens is None
        )


ANSWERS = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.sampled_from(Cause)).map(
        lambda each: Served(each[0] + each[1] + each[2], each[0], each[0] + each[1], each[3])
    ),
    max_size=30,
)


@given(ANSWERS)
def test_every_token_went_somewhere(answers: list[Served]) -> None:
    tally = Tally()
    for answer in answers:
        tally.add(answer)
    found = rates(tally.prompt_tokens, tally.cached_tokens)
    lost = losses(tally)
    assert found.input_tokens == found.cached_tokens + tally.new_tokens + sum(
        each.lost_tokens for each in lost
    )
    assert sum(each.requests for each in lost) == len(answers)
    assert [each.lost_tokens for each in lost] == sorted((each.lost_tokens for each in lost), reverse=True)


@given(st.lists(st.tuples(st.integers(1, 99), st.floats(0, 1)), max_size=200))
def test_windows_cover_every_request_once(pairs: list[tuple[int, float]]) -> None:
    prompts = [prompt for prompt, _ in pairs]
    cached = [int(prompt * share) for prompt, share in pairs]
    found = windows(prompts, cached)
    assert len(found) <= MOST_WINDOWS
    assert sum(each.requests for each in found) == len(pairs)
    at = 0
    for each in found:
        assert each.first_index == at
        part = slice(at, at + each.requests)
        assert each.hit_rate_tokens == pytest.approx(sum(cached[part]) / sum(prompts[part]))
        at += each.requests


def test_sizes_of_a_curve_reach_from_a_64th_to_all() -> None:
    assert curve_sizes_tokens(6400) == [100, 200, 400, 800, 1600, 3200, 6400]
    assert curve_sizes_tokens(3) == [1, 3]
    assert curve_sizes_tokens(0) == [1]


def test_the_worst_are_those_that_lost_most_and_not_what_every_request_loses() -> None:
    answers = [Served(1000, 0, lost, Cause.EVICTION) for lost in (50, 900, 300, 700, 100, 800, 600)]
    answers += [Served(1000, 0, 999, Cause.REPEATED), Served(1000, 985, 1000, Cause.FIRST_DIFFERENCE)]
    answers += [Served(100_000, 0, 999, Cause.EVICTION)]  # less than a hundredth of its prompt
    watch = Watch(1, 0)
    requests = [request(number) for number in range(len(answers))]
    replay(watch.passing(requests), [Scripted(*answers)], each=watch.each)
    worst = watch.worst(0)
    assert [each.lost_tokens for each in worst] == [900, 800, 700, 600, 300]
    assert len(worst) == MOST_WORST
    assert worst[0].place == Place("log", 2)
    assert worst[0].new_tokens == 100


def test_a_request_that_parts_early_is_told_with_the_one_before_in_its_session() -> None:
    answers = [Served(100, 0, 0, Cause.FIRST_REQUEST)] * 3 + [
        Served(100, 3, 3, Cause.FIRST_DIFFERENCE),
        Served(100, 60, 60, Cause.FIRST_DIFFERENCE),
    ]
    sessions = ["a", "b", "a", "b", "a"]
    watch = Watch(1, 0)
    requests = [request(number, session=session) for number, session in enumerate(sessions)]
    replay(watch.passing(requests), [Scripted(*answers)], each=watch.each)
    [early] = watch.early
    assert (early.place.line, early.earlier) == (4, Place("log", 2))


def test_caches_beyond_the_policies_are_not_watched() -> None:
    written: list[tuple[int, int]] = []
    watch = Watch(1, 0, write=lambda number, index, served: written.append((number, index)))
    lost = Served(100, 0, 90, Cause.EVICTION)
    replay(watch.passing([request(0)]), [Scripted(lost), Scripted(lost)], each=watch.each)
    assert written == [(0, 0)]


def test_what_a_trace_says_was_reused_is_counted_where_it_says_so() -> None:
    tally = ObservedTally()
    for cached in (None, 0, 80, 101):  # more than the prompt has is no count
        if cached is not None:
            tally.add_request(request(0, observed=cached))
    found = tally.result(10.0)
    assert found is not None
    assert (found.rates.requests, found.rates.cached_tokens, found.rates.hit_rate_tokens) == (2, 80, 0.4)
    assert found.saved_s == 8.0
    assert found.why is None
    assert found.events is None
    assert ObservedTally().result(None) is None


def test_a_log_tells_why_and_what_happened() -> None:
    tally = ObservedTally()
    entries: list[LogEntry] = [
        LoggedChange(1, "d", CacheChange.LOADED),
        LoggedRequest(2, "d", prompt_tokens=100, cached_tokens=0, why=SlotChoice.LRU),
        LoggedRequest(3, "d", prompt_tokens=200, cached_tokens=150, why=SlotChoice.LCP_SIMILARITY),
        LoggedRequest(4, "d", prompt_tokens=200),
        LoggedRequest(5, "d", prompt_tokens=300, cached_tokens=10, why=SlotChoice.LRU),
    ]
    for entry in entries:
        tally.add_entry("server.log", entry)
    found = tally.result(None, is_log=True)
    assert found is not None
    assert found.rates.requests == 3
    assert tally.untold == 1
    assert [(each.place.line, each.why) for each in found.worst] == [
        (5, SlotChoice.LRU),
        (2, CacheChange.LOADED),
        (3, SlotChoice.LCP_SIMILARITY),
    ]
    assert found.why == {SlotChoice.LRU: 2, SlotChoice.LCP_SIMILARITY: 1}
    assert found.events == {CacheChange.LOADED: 1}
    assert found.saved_s is None


def test_requests_of_which_a_log_says_too_little_are_counted_apart() -> None:
    tally = ObservedTally()
    tally.add_entry("server.log", logged(4, 100, 60))
    tally.add_entry("server.log", logged(9, None, None))
    result = tally.result(None, is_log=True)
    assert result is not None
    assert (len(tally), tally.untold, result.rates.requests) == (1, 1, 1)
    assert result.why == {SlotChoice.LRU: 1}


def logged(line: int, prompt_tokens: int | None, cached_tokens: int | None) -> LoggedRequest:
    return LoggedRequest(
        line=line,
        dialect="llama-server",
        prompt_tokens=prompt_tokens,
        cached_tokens=cached_tokens,
        why=SlotChoice.LRU,
    )
