"""The rules of hosted services, one by one, on small requests."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.errors import UsageError
from promptorder.model.trace import Breakpoint, Cause, Served, TraceRequest
from promptorder.policies._options import parse_policy


def request(blocks: Sequence[tuple[int, int]], at_s: float | None = 0.0, **known: Any) -> TraceRequest:
    """A prompt of blocks, each ``(which, tokens)``: the same pair is the same text."""
    ids = array("I", [which for which, tokens in blocks for _ in range(tokens)])
    ends = tuple(accumulate(tokens for _, tokens in blocks))
    return TraceRequest(0, 1, ids, at_s=at_s, block_ends=ends, **known)


def serve(policy: str, requests: Sequence[TraceRequest]) -> list[Served]:
    cache = parse_policy(policy).open()
    return [cache.serve(each) for each in requests]


SONNET, HAIKU, OPUS = "claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-5"
SYSTEM, CHAT, NEW = (1, 2000), (2, 500), (3, 300)


def test_anthropic_reads_what_stands_before_its_breakpoint() -> None:
    marks = (Breakpoint(0),)
    first, second = serve(
        "anthropic",
        [
            request([SYSTEM, CHAT], model=SONNET, breakpoints=marks),
            request([SYSTEM, NEW], 60, model=SONNET, breakpoints=marks),
        ],
    )
    assert first == Served(2500, 0, 0, Cause.FIRST_REQUEST, 2000)
    assert second == Served(2300, 2000, 2000, Cause.FIRST_DIFFERENCE, 0)


def test_anthropic_keeps_nothing_without_a_mark() -> None:
    again = [request([SYSTEM, CHAT], model=SONNET), request([SYSTEM, CHAT], 1, model=SONNET)]
    assert serve("anthropic", again)[1] == Served(2500, 0, 2500, Cause.NOT_MARKED)
    assert serve("anthropic,automatic=true", again)[1].cached_tokens == 2500


@pytest.mark.parametrize(
    ("model", "tokens"), [(SONNET, 1024), (HAIKU, 4096), (OPUS, 512), ("claude-opus-4-7", 2048)]
)
def test_anthropic_caches_nothing_below_the_models_minimum(model: str, tokens: int) -> None:
    for length, cached in ((tokens - 1, 0), (tokens, tokens)):
        twice = [request([(1, length), NEW], at, model=model, breakpoints=(Breakpoint(0),)) for at in (0, 1)]
        served = serve("anthropic", twice)
        assert [each.cached_tokens for each in served] == [0, cached]
        assert [each.written_tokens for each in served] == [cached, 0]
    assert (
        serve(
            "anthropic", [request([(1, 100)], at, model=model, breakpoints=(Breakpoint(0),)) for at in (0, 1)]
        )[1].cause
        is Cause.BELOW_MINIMUM
    )


def test_anthropic_lets_an_entry_live_from_its_last_reading() -> None:
    times = (0, 290, 580, 881)
    served = serve(
        "anthropic", [request([SYSTEM], at, model=SONNET, breakpoints=(Breakpoint(0),)) for at in times]
    )
    assert [each.cached_tokens for each in served] == [0, 2000, 2000, 0]
    assert served[-1].cause is Cause.LIFETIME


def test_anthropic_keeps_for_an_hour_where_it_is_asked_to_and_charges_for_it() -> None:
    marks = (Breakpoint(0, 3600.0), Breakpoint(1))
    served = serve(
        "anthropic", [request([SYSTEM, CHAT], at, model=SONNET, breakpoints=marks) for at in (0, 400, 4200)]
    )
    assert [each.cached_tokens for each in served] == [0, 2000, 0]
    assert [(each.written_tokens, each.written_long_tokens) for each in served] == [
        (2500, 2000),
        (500, 0),
        (2500, 2000),
    ]


@pytest.mark.parametrize(("added", "cached"), [(19, 2000), (20, 0)])
def test_anthropic_looks_twenty_blocks_back(added: int, cached: int) -> None:
    grown = [SYSTEM, *((10 + number, 20) for number in range(added))]
    served = serve(
        "anthropic",
        [
            request([SYSTEM], model=SONNET, breakpoints=(Breakpoint(0),)),
            request(grown, 1, model=SONNET, breakpoints=(Breakpoint(len(grown) - 1),)),
        ],
    )
    assert served[1].cached_tokens == cached
    assert served[1].cause is (Cause.FIRST_DIFFERENCE if cached else Cause.NOT_MARKED)


def test_anthropic_loses_the_messages_by_another_tool_choice_and_the_tools_by_another_tool() -> None:
    marks = (Breakpoint(0), Breakpoint(1))
    known: dict[str, Any] = {"model": SONNET, "breakpoints": marks, "messages_from": 1}
    served = serve(
        "anthropic",
        [
            request([SYSTEM, (2, 2000)], messages_key="auto", **known),
            request([SYSTEM, (2, 2000)], 1, messages_key="any", **known),
            request([(9, 2000), (2, 2000)], 2, messages_key="any", **known),
        ],
    )
    assert [each.cached_tokens for each in served] == [0, 2000, 0]


def test_anthropic_cannot_read_before_the_first_answer_begins() -> None:
    three = [request([SYSTEM], at, model=SONNET, breakpoints=(Breakpoint(0),)) for at in (0, 1, 3)]
    assert [each.cached_tokens for each in serve("anthropic,readable_after_s=2", three)] == [0, 0, 2000]


def test_a_workspace_or_model_of_its_own_shares_nothing() -> None:
    marks = (Breakpoint(0),)
    apart = [request([SYSTEM], at, model=SONNET, namespace=str(at), breakpoints=marks) for at in (0, 1)]
    assert serve("anthropic", apart)[1].cause is Cause.FIRST_REQUEST
    plain = [request([SYSTEM], at, model="gpt-4.1", namespace=str(at)) for at in (0, 1)]
    assert serve("openai", plain)[1].cached_tokens == 0


@pytest.mark.parametrize(
    ("shared", "cached"), [(1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (2000, 1920)]
)
def test_openai_reuses_steps_of_128_tokens_from_1024_on(shared: int, cached: int) -> None:
    served = serve("openai", [request([(1, shared), (2 + at, 600)], at, model="gpt-4o") for at in (0, 1)])
    assert served[1].cached_tokens == cached
    assert served[1].written_tokens == 0
    assert served[1].cause is (Cause.FIRST_DIFFERENCE if cached else Cause.BELOW_MINIMUM)


def test_openai_forgets_after_ten_idle_minutes_and_after_an_hour() -> None:
    def hits(*times: float) -> list[bool]:
        served = serve("openai", [request([SYSTEM], at, model="gpt-4o") for at in times])
        return [each.cached_tokens > 0 for each in served]

    assert hits(0, 590, 1180, 1790) == [False, True, True, False]
    assert hits(*range(0, 3601, 400), 3650, 3700) == [False, *[True] * 9, False, True]
    day = serve(
        "openai", [request([SYSTEM], at, model="gpt-5.1", retention_s=86400.0) for at in (0, 80_000, 87_000)]
    )
    assert [each.cached_tokens > 0 for each in day] == [False, True, False]
    assert day[2].cause is Cause.LIFETIME


def test_openai_leads_other_keys_and_more_requests_than_one_machine_takes_elsewhere() -> None:
    keys = serve("openai", [request([SYSTEM], 0, model="gpt-4o", cache_key=key) for key in ("a", "b", "a")])
    assert [each.cause for each in keys] == [Cause.FIRST_REQUEST, Cause.OTHER_SLOT, Cause.REPEATED]
    burst = [request([SYSTEM], second, model="gpt-4o") for second in range(17)]
    assert [n for n, each in enumerate(serve("openai", burst)) if not each.cached_tokens] == [0, 15]
    assert sum(not each.cached_tokens for each in serve("openai,requests_per_minute=unlimited", burst)) == 1


def test_openais_newer_models_reuse_up_to_breakpoints_exactly() -> None:
    served = serve(
        "openai",
        [
            request([SYSTEM, CHAT], 0, model="gpt-5.6"),
            request([SYSTEM, CHAT, NEW], 10, model="gpt-5.6"),
            # shares the system text, at whose end nobody had set a mark
            request([SYSTEM, NEW], 20, model="gpt-5.6"),
        ],
    )
    assert served[0] == Served(2500, 0, 0, Cause.FIRST_REQUEST, 2500)
    assert served[1] == Served(2800, 2500, 2500, Cause.FIRST_DIFFERENCE, 300)
    assert served[2] == Served(2300, 0, 2000, Cause.NOT_MARKED, 2300)
    marked: dict[str, Any] = {"model": "gpt-5.6", "breakpoints": (Breakpoint(0),)}
    assert (
        serve("openai", [request([SYSTEM, CHAT], **marked), request([SYSTEM, NEW], 9, **marked)])[
            1
        ].cached_tokens
        == 2000
    )


def test_openais_explicit_mode_writes_only_at_the_callers_marks() -> None:
    known: dict[str, Any] = {"model": "gpt-5.7", "implicit_breakpoint": False}
    bare, marked = [request([SYSTEM, CHAT], at, **known) for at in (0, 1)], (Breakpoint(0),)
    assert [each.written_tokens for each in serve("openai", bare)] == [0, 0]
    served = serve(
        "openai", [request([SYSTEM, CHAT], at, breakpoints=marked, **known) for at in (0, 1700, 3400, 5300)]
    )
    assert [each.cached_tokens for each in served] == [0, 2000, 2000, 0]


def test_openais_rules_can_be_named() -> None:
    twice = [request([SYSTEM], at, model="somebody-elses") for at in (0, 1)]
    assert serve("openai,rules=breakpoints", twice)[0].written_tokens == 2000
    assert serve("openai,rules=automatic", twice)[1].cached_tokens == 1920
    with pytest.raises(UsageError, match="rules"):
        parse_policy("openai,rules=both")


def test_hashed_traces_can_be_replayed() -> None:
    def hashed(*ids: int, at: float = 0.0) -> TraceRequest:
        return TraceRequest(
            0, 1, list(ids), prompt_tokens=512 * len(ids) - 100, hash_block_tokens=512, at_s=at
        )

    # 1,024 tokens are shared, and 1,536 of the 2,460: whole steps of 128 within whole ids
    served = serve("openai", [hashed(1, 2, 3, 4, 5), hashed(1, 2, 3, 6, 7, at=1)])
    assert served[1].cached_tokens == 1536
    served = serve("anthropic,automatic=true", [hashed(1, 2, 3), hashed(1, 2, 3, at=1)])
    assert served[1].cached_tokens == 1436


@pytest.mark.parametrize("policy", ["anthropic,automatic=true", "openai,rules=breakpoints"])
def test_where_content_blocks_are_not_told_no_look_back_ends_early(policy: str) -> None:
    long, grown = list(range(200)), list(range(300))
    hashed = [TraceRequest(0, 1, ids, hash_block_tokens=64, at_s=0.0, model=SONNET) for ids in (long, grown)]
    assert serve(policy, hashed)[1].cached_tokens == 200 * 64


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(1, 4), st.sampled_from([100, 700, 1500])), min_size=1, max_size=6),
            st.integers(0, 5000),
            st.sets(st.integers(0, 5), max_size=4),
        ),
        max_size=12,
    ),
    st.sampled_from(
        ["anthropic", "anthropic,automatic=true", "openai,rules=automatic", "openai,rules=breakpoints"]
    ),
)
def test_no_service_reuses_more_than_was_read_before(
    log: list[tuple[list[tuple[int, int]], int, set[int]]], policy: str
) -> None:
    requests = [
        request(blocks, at, model=SONNET, breakpoints=tuple(Breakpoint(mark) for mark in sorted(marks)))
        for blocks, at, marks in sorted(log, key=lambda each: each[1])
    ]
    bound = 0
    for number, (each, served) in enumerate(zip(requests, serve(policy, requests), strict=True)):
        bound = max((shared(each.ids, other.ids) for other in requests[:number]), default=0)
        assert 0 <= served.cached_tokens <= bound
        assert served.cached_tokens <= served.seen_tokens <= served.prompt_tokens == len(each.ids)
        assert (
            0
            <= served.written_long_tokens
            <= served.written_tokens
            <= served.prompt_tokens - served.cached_tokens
        )


def shared(a: Sequence[int], b: Sequence[int]) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


# ---------------------------------------------------------------- what if


@pytest.mark.parametrize(
    ("asked", "policy", "gap_s", "cached"),
    [
        (None, "anthropic", 299, 2000),
        (None, "anthropic", 301, 0),
        (300.0, "anthropic,lifetime_s=3600", 3599, 2000),
        (None, "anthropic,lifetime_s=3600", 3601, 0),
        (3600.0, "anthropic,lifetime_s=60", 3599, 2000),
        (None, "anthropic,lifetime_s=60", 61, 0),
    ],
)
def test_anthropic_lifetime_is_of_marks_that_do_not_say_an_hour(
    asked: float | None, policy: str, gap_s: float, cached: int
) -> None:
    marks = (Breakpoint(0, asked),)
    twice = [request([SYSTEM, NEW], at, model=SONNET, breakpoints=marks) for at in (0, gap_s)]
    assert serve(policy, twice)[1].cached_tokens == cached


def test_a_mark_behind_the_system_text_of_requests_without_marks() -> None:
    plain = [
        request([SYSTEM, each], at, model=SONNET, opening_blocks=1) for at, each in enumerate((CHAT, NEW))
    ]
    first, second = serve("anthropic,mark_system=true", plain)
    assert (first.written_tokens, second.cached_tokens, second.written_tokens) == (2000, 2000, 0)
    both = serve("anthropic,mark_system=true,automatic=true", plain)
    assert [each.written_tokens for each in both] == [2500, 300]
    own = [
        request([SYSTEM, CHAT], at, model=SONNET, opening_blocks=1, breakpoints=(Breakpoint(1),))
        for at in (0, 1)
    ]
    assert serve("anthropic,mark_system=true", own)[0].written_tokens == 2500  # marks of its own stay alone
    all_opening = [request([SYSTEM], 0, model=SONNET, opening_blocks=1)]
    assert serve("anthropic,mark_system=true", all_opening)[0].written_tokens == 0


def test_openai_marked_behind_the_system_text() -> None:
    plain = [
        request([SYSTEM, each], at, model="gpt-5.6", opening_blocks=1) for at, each in enumerate((CHAT, NEW))
    ]
    assert serve("openai", plain)[1].cached_tokens == 0
    assert serve("openai,mark_system=true", plain)[1].cached_tokens == 2000


def test_openai_lifetime_may_be_a_day() -> None:
    twice = [request([SYSTEM, NEW], at, model="gpt-4.1") for at in (0, 80_000)]
    assert serve("openai", twice)[1].cause is Cause.LIFETIME
    assert serve("openai,lifetime_s=86400", twice)[1].cached_tokens == 2176
