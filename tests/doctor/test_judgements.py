"""What the checks make of facts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from promptorder.doctor import REGISTRY, judge
from promptorder.doctor._report import report
from promptorder.doctor._variables import lasts_s
from promptorder.measure.control_texts import fitting, tail_words, texts
from promptorder.measure.controls import counts_of, shown
from promptorder.model.doctor import (
    Call,
    CallKind,
    Checked,
    EngineChoice,
    Environment,
    Examination,
    Extra,
    Facts,
    LoadedModel,
    ModelFacts,
    Refusal,
    Runner,
    ServerFacts,
    Status,
)
from promptorder.model.ollama_versions import FACTS, warnings
from promptorder.model.report import Table

KINDS: tuple[CallKind, ...] = ("long", "short", "other-tail", "repeat", "between", "back")
LENGTHS = dict(zip(KINDS, (1300, 812, 812, 812, 300, 812), strict=True))
SHARED = dict(zip(KINDS, (0, 800, 800, 812, 0, 800), strict=True))


def call(kind: CallKind, reused: int, **more: Any) -> Call:
    """One call of a server that counts: a token a character, a millisecond a token."""
    length = LENGTHS[kind]
    figures: dict[str, Any] = {
        "prompt_tokens": length,
        "cached_tokens": reused,
        "prefill_ns": (length - reused) * 1_000_000,
        "load_ns": 50_000_000,
        "waited_ns": 10_000_000,
    }
    return Call(kind, length, SHARED[kind], **{**figures, **more})


def calls(*reused: int) -> tuple[Call, ...]:
    return tuple(call(kind, number) for kind, number in zip(KINDS, reused, strict=False))


WORKING = calls(0, 800, 800, 811, 0, 800)
MODEL = ModelFacts("small:latest", "ab" * 32, "llama", "Q4_K_M", "8B", 5_000_000_000, 32768)
SERVER = ServerFacts(
    address="http://127.0.0.1:11434",
    version="0.33.3",
    version_numbers=(0, 33, 3),
    models=("small:latest",),
    loaded=(LoadedModel("small:latest", True, 6_000_000_000, 6_000_000_000, 8192, 200.0),),
    runner=Runner(slots=1, cache_type="f16", flash_attention="auto"),
    environment=Environment(server={}),
)
HEALTHY = Facts(
    engines=(EngineChoice("ollama", "a server", None, "ollama serve"),),
    engine="ollama",
    before=SERVER,
    during=SERVER,
    model=MODEL,
    calls=WORKING,
    load_average=0.1,
    processors=8,
)


def lines(facts: Facts, code: str) -> list[tuple[str, str]]:
    """(status, message and remedy) of one check."""
    return [
        (each.line.status.value, f"{each.line.message} -> {each.line.remedy}")
        for each in judge(facts)
        if each.code == code
    ]


def statuses(facts: Facts, code: str) -> list[str]:
    return [status for status, _ in lines(facts, code)]


def with_server(**changes: Any) -> Facts:
    server = replace(SERVER, **changes)
    return replace(HEALTHY, before=server, during=server)


def with_variables(**variables: str) -> Facts:
    return with_server(environment=Environment(server=variables))


def uncounted(*milliseconds: float) -> tuple[Call, ...]:
    return tuple(
        Call(kind, LENGTHS[kind], SHARED[kind], LENGTHS[kind], prefill_ns=round(each * 1e6))
        for kind, each in zip(KINDS, milliseconds, strict=False)
    )


def only_read(*tokens: int) -> tuple[Call, ...]:
    return tuple(
        Call(kind, LENGTHS[kind], SHARED[kind], read_tokens=each)
        for kind, each in zip(KINDS, tokens, strict=False)
    )


# ---------------------------------------------------------------- the checks as plug-ins


@pytest.mark.parametrize("name", REGISTRY.names())
def test_what_a_check_defines(name: str) -> None:
    module = REGISTRY.load(name)
    assert module.__doc__
    assert isinstance(module.TITLE, str)
    assert 0 < len(module.TITLE) <= 12, "it stands in a narrow column"
    assert isinstance(module.ORDER, int)
    assert list(inspect.signature(module.judge).parameters) == ["facts"]


def test_checks_stand_in_one_order() -> None:
    modules = REGISTRY.load_all().values()
    assert (
        len({module.ORDER for module in modules}) == len({module.TITLE for module in modules}) == len(modules)
    )


def test_healthy_is_all_well() -> None:
    assert {each.line.status for each in judge(HEALTHY)} == {Status.OK}


def every_facts() -> Sequence[Facts]:
    bare = Facts()
    refused = Refusal("unreachable", "no server answers", "start it")
    unseen = with_server(runner=None, environment=Environment(server=None, unseen="it is far away"))
    return (
        bare,
        HEALTHY,
        replace(bare, refusal=refused, engines=(EngineChoice("ollama", "x", "no server", "ollama serve"),)),
        replace(HEALTHY, refusal=refused, model=None, calls=None),
        replace(HEALTHY, calls=None, why_no_calls="--no-calls", during=None),
        replace(HEALTHY, calls=calls(0, 1, 1, 1)),
        replace(HEALTHY, calls=(Call("long", 0, 0, failure="it broke off"),)),
        replace(HEALTHY, model=ModelFacts("x"), before=ServerFacts(), during=None, calls=None),
        unseen,
        with_variables(OLLAMA_KEEP_ALIVE="0", LLAMA_ARG_CACHE_RAM="0", OLLAMA_NUM_PARALLEL="4"),
    )


@pytest.mark.parametrize("facts", every_facts())
def test_a_line_that_is_not_well_has_a_remedy(facts: Facts) -> None:
    for each in judge(facts):
        assert each.line.message
        assert "\n" not in each.line.message + each.line.remedy
        assert not each.line.message.endswith(".")
        if each.line.status is Status.PROBLEM:
            assert each.line.remedy, each


# ---------------------------------------------------------------- reuse


def test_reuse_that_works() -> None:
    assert lines(HEALTHY, "reuse")[0][0] == "ok"
    assert statuses(HEALTHY, "tail") == statuses(HEALTHY, "earlier") == ["ok"]


def test_nothing_is_reused() -> None:
    facts = replace(HEALTHY, calls=calls(0, 3, 3, 3))
    [(status, text)] = lines(facts, "reuse")
    assert status == "problem"
    assert "nothing is reused" in text
    assert statuses(facts, "tail") == statuses(facts, "earlier") == []


def test_only_an_identical_prompt_is_reused() -> None:
    [(status, text)] = lines(replace(HEALTHY, calls=calls(0, 3, 3, 811)), "reuse")
    assert status == "problem"
    assert "identical" in text


def test_reuse_that_hangs_on_the_tail() -> None:
    model = replace(MODEL, sliding_window_tokens=512)
    facts = replace(HEALTHY, model=model, calls=calls(0, 1, 800, 811, 0, 1))
    assert statuses(facts, "reuse") == ["ok"]
    [(status, text)] = lines(facts, "tail")
    assert status == "problem"
    assert "512" in text
    assert "LLAMA_ARG_SWA_FULL=1" in text
    # That the start is gone after another text is the same thing, not a store that is switched off.
    assert statuses(facts, "earlier") == ["note"]


def test_a_sliding_window_that_does_no_harm_or_was_not_tried() -> None:
    model = replace(MODEL, sliding_window_tokens=512)
    assert statuses(replace(HEALTHY, model=model), "tail") == ["ok"]
    assert statuses(replace(HEALTHY, model=model, calls=None), "tail") == ["note"]
    assert statuses(replace(HEALTHY, calls=None), "tail") == []


@pytest.mark.parametrize(
    ("version", "status"), [((0, 33, 3), "problem"), ((0, 6, 5), "note"), (None, "note")]
)
def test_only_the_last_prompt_is_kept(version: tuple[int, int, int] | None, status: str) -> None:
    facts = replace(with_server(version_numbers=version), calls=calls(0, 800, 800, 811, 0, 2))
    assert statuses(facts, "earlier") == [status]


def test_a_part_is_reused() -> None:
    assert statuses(replace(HEALTHY, calls=calls(0, 300, 300, 300)), "reuse") == ["note"]


def test_what_was_only_read_tells_the_rest() -> None:
    told = only_read(1320, 14, 14, 1, 310, 14)
    assert counts_of(told) == "read"
    assert [shown(told, kind) for kind in ("short", "other-tail", "back")] == ["reused"] * 3
    assert shown(only_read(1320, 824, 14, 1), "short") == "not-reused"


def test_times_tell_where_nothing_is_counted() -> None:
    quick = uncounted(1300, 30, 31, 12, 300, 29)
    assert counts_of(quick) == "nothing"
    assert shown(quick, "short") == shown(quick, "back") == "reused"
    assert shown(uncounted(1300, 780, 31, 12), "short") == "not-reused"
    # Attention alone: a call costs the square of its length.
    assert shown(uncounted(1300, 1300 * (812 / 1300) ** 2, 31, 12), "short") == "not-reused"


def test_times_that_do_not_tell() -> None:
    drowned = uncounted(40, 22, 22, 21)
    assert shown(drowned, "short") == "cannot-tell"
    assert statuses(replace(HEALTHY, calls=drowned), "reuse") == ["unknown"]


def test_a_call_that_failed() -> None:
    [(status, text)] = lines(replace(HEALTHY, calls=(Call("long", 9, 0, failure="it broke off"),)), "reuse")
    assert status == "problem"
    assert "it broke off" in text
    later = (*calls(0, 800, 800, 811), Call("between", 9, 0, failure="it broke off"))
    assert statuses(replace(HEALTHY, calls=later), "reuse") == ["ok"]


def test_calls_that_were_not_made() -> None:
    [(status, text)] = lines(replace(HEALTHY, calls=None, why_no_calls="--no-calls"), "reuse")
    assert status == "unknown"
    assert "without --no-calls" in text


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("300", 300),
        ("5m", 300),
        ("1h30m", 5400),
        ("500ms", 0.5),
        ("-1", math.inf),
        ("-1m", math.inf),
        ('"24h"', 86400),
        ("soon", None),
        ("", None),
    ],
)
def test_keep_alive_is_read_as_ollama_reads_it(value: str, seconds: float | None) -> None:
    assert lasts_s(value) == seconds


@pytest.mark.parametrize(
    ("value", "status"), [("0", "problem"), ("20s", "note"), ("24h", "ok"), ("-1", "ok")]
)
def test_keep_alive(value: str, status: str) -> None:
    assert statuses(with_variables(OLLAMA_KEEP_ALIVE=value), "keep-alive") == [status]


def test_keep_alive_that_cannot_be_read_was_tried() -> None:
    unseen = with_server(environment=Environment(server=None, unseen="it is far away"))
    [(status, text)] = lines(unseen, "keep-alive")
    assert status == "unknown"
    assert "far away" in text
    assert "3 min" in text
    assert statuses(replace(unseen, default_keep_alive_s=0.0), "keep-alive") == ["problem"]
    assert statuses(replace(unseen, default_keep_alive_s=300.0), "keep-alive") == ["ok"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("LLAMA_ARG_CACHE_RAM", "0"), ("LLAMA_ARG_CACHE_PROMPT", "off"), ("LLAMA_ARG_CTX_CHECKPOINTS", "0")],
)
def test_a_cache_that_is_switched_off(key: str, value: str) -> None:
    [(status, text)] = lines(with_variables(**{key: value}), "environment")
    assert status == "problem"
    assert f"{key}={value}" in text


def test_variables_that_change_something_else() -> None:
    facts = with_variables(OLLAMA_KV_CACHE_TYPE="q8_0", LLAMA_ARG_CACHE_RAM="512", OLLAMA_DEBUG="1")
    assert statuses(facts, "environment") == ["note", "note"]
    assert statuses(with_variables(OLLAMA_DEBUG="1"), "environment") == ["ok"]


def test_variables_that_are_set_here_and_not_there() -> None:
    own = {"OLLAMA_KEEP_ALIVE": "1h", "OLLAMA_DEBUG": "1"}
    facts = with_server(environment=Environment(own=own, server={}))
    assert statuses(facts, "environment") == ["ok", "note"]
    same = with_server(environment=Environment(own=own, server=own))
    assert statuses(same, "environment") == ["ok"]


def test_variables_that_cannot_be_seen() -> None:
    facts = with_server(environment=Environment(server=None, unseen="it is far away"))
    [(status, text)] = lines(facts, "environment")
    assert status == "unknown"
    assert "far away" in text


@pytest.mark.parametrize(
    ("loaded", "asked", "variable", "status"),
    [
        (512, None, "", "problem"),
        (8192, 512, "", "ok"),
        (None, 512, "", "problem"),
        (None, None, "1024", "problem"),
        (None, None, "", "ok"),
        (None, 16384, "512", "ok"),
    ],
)
def test_context(loaded: int | None, asked: int | None, variable: str, status: str) -> None:
    entries = (LoadedModel("small:latest", True, context_tokens=loaded),) if loaded else ()
    environment = Environment(server={"OLLAMA_CONTEXT_LENGTH": variable} if variable else {})
    facts = with_server(loaded=entries, environment=environment)
    facts = replace(facts, model=replace(MODEL, default_context_tokens=asked))
    assert statuses(facts, "context") == [status]


def test_a_model_that_is_made_for_so_little() -> None:
    facts = with_server(loaded=(LoadedModel("small:latest", True, context_tokens=512),))
    assert statuses(replace(facts, model=replace(MODEL, max_context_tokens=512)), "context") == ["ok"]


@pytest.mark.parametrize(
    ("whole", "on_gpu", "status"),
    [(100, 100, "ok"), (100, 60, "note"), (100, 0, "ok"), (None, None, "unknown")],
)
def test_memory(whole: int | None, on_gpu: int | None, status: str) -> None:
    facts = with_server(loaded=(LoadedModel("small:latest", True, whole, on_gpu),))
    assert statuses(facts, "memory") == [status]


def test_slots_and_cache_type() -> None:
    runner = Runner(slots=4, cache_type="q8_0", flash_attention="on")
    assert statuses(with_server(runner=runner), "slots") == ["note"]
    assert statuses(with_server(runner=runner), "kv-cache") == ["note"]
    nothing = with_server(runner=None, environment=Environment(server=None, unseen="it is far away"))
    assert statuses(nothing, "slots") == statuses(nothing, "kv-cache") == ["unknown"]
    assert statuses(with_variables(OLLAMA_NUM_PARALLEL="4"), "slots") == ["ok"], "the runner knows better"


def test_other_models() -> None:
    two = (*SERVER.loaded, LoadedModel("large:latest", False))
    [(status, text)] = lines(with_server(loaded=two), "other-models")
    assert (status, "ollama stop large:latest" in text) == ("note", True)
    pushed = replace(HEALTHY, before=replace(SERVER, loaded=two), during=SERVER)
    assert statuses(pushed, "other-models") == ["problem"]


# ---------------------------------------------------------------- versions


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ((0, 33, 3), ["ok"]),
        ((0, 33, 0), ["ok"]),
        ((0, 30, 0), ["note", "note"]),
        ((0, 6, 5), ["note"]),
        ((0, 30, 5), ["note"]),
        ((0, 1, 30), ["note", "note", "note"]),
        ((0, 12, 5), ["problem"]),
        (None, ["note"]),
    ],
)
def test_versions(version: tuple[int, int, int] | None, found: list[str]) -> None:
    assert statuses(with_server(version_numbers=version), "version") == found


def test_each_warning_of_the_table_of_versions_has_its_line() -> None:
    for version in {fact.since for fact in FACTS} - {(0, 0, 0)}:
        told = [
            text for status, text in lines(with_server(version_numbers=version), "version") if status != "ok"
        ]
        assert [text.split(" -> ")[0] for text in told] == [fact.warning for fact in warnings(version)]


@pytest.mark.parametrize(
    ("version", "found"),
    [((0, 33, 3), "ok"), ((0, 33, 2), "note"), ((0, 30, 0), "ok"), (None, "unknown")],
)
def test_counting_by_the_version(version: tuple[int, int, int] | None, found: str) -> None:
    assert statuses(replace(with_server(version_numbers=version), calls=None), "counting") == [found]


# ---------------------------------------------------------------- quiet


def test_busy() -> None:
    assert statuses(HEALTHY, "busy") == ["ok"]
    assert statuses(replace(HEALTHY, load_average=8.0), "busy") == ["note"]
    waited = (*WORKING[:5], call("back", 800, waited_ns=2_000_000_000))
    assert statuses(replace(HEALTHY, calls=waited), "busy") == ["note"]
    slow = (*WORKING[:5], call("back", 800, prefill_ns=900_000_000))
    assert statuses(replace(HEALTHY, calls=slow), "busy") == ["note"]
    again = (*WORKING[:5], call("back", 800, load_ns=3_000_000_000))
    assert statuses(replace(HEALTHY, calls=again), "busy") == ["problem"]


def test_the_load_of_this_machine_is_not_that_of_another() -> None:
    far = replace(with_server(elsewhere="gpu.example"), load_average=8.0)
    assert statuses(far, "busy") == ["ok"]
    assert statuses(far, "server") == ["note"]


# ---------------------------------------------------------------- no engine, no model


@pytest.mark.parametrize(
    ("kind", "status"), [("no-model", "problem"), ("choose", "unknown"), ("unsuitable", "problem")]
)
def test_no_model(kind: Any, status: str) -> None:
    facts = replace(HEALTHY, model=None, calls=None, refusal=Refusal(kind, "so it is", "do this"))
    assert statuses(facts, "model") == [status]
    assert statuses(facts, "reuse") == statuses(facts, "counting") == []


def test_no_engine() -> None:
    choice = EngineChoice("embedded", "a process", "the package is not installed", "pip install it")
    facts = Facts(engines=(choice,), refusal=Refusal("unreachable", "no server answers", "start it"))
    assert statuses(facts, "server") == ["problem"]
    assert lines(facts, "engines") == [
        ("note", "embedded cannot be used: the package is not installed -> pip install it")
    ]


def test_extras() -> None:
    facts = replace(HEALTHY, extras=(Extra("embedded", ()), Extra("more", ("a", "b"))))
    assert lines(facts, "extras")[1] == (
        "note",
        "more is not installed (a, b missing) -> pip install 'promptorder[more]'",
    )
    assert statuses(facts, "extras") == ["ok", "note"]


# ---------------------------------------------------------------- the texts, and the report


def test_texts_share_what_they_should() -> None:
    made = {each.kind: each for each in texts(1.0, tail_words(None), seed=7)}
    assert tuple(made) == KINDS
    assert 1300 <= len(made["long"].text.split()) <= 1330
    for kind in ("short", "other-tail", "back"):
        each = made[kind]
        assert each.shared_characters > 0.95 * len(each.text)
        assert each.shared_characters < len(each.text)
    assert made["repeat"].text == made["other-tail"].text
    assert made["between"].shared_characters < 20
    assert made["long"].text != next(texts(1.0, 500)).text, "no server has read it before"


def test_texts_fit_a_small_context() -> None:
    assert fitting(None, 500) == fitting(8192, 500) == 1.0
    scale = fitting(1024, 500)
    longest = next(texts(scale, 500, seed=7)).text
    assert len(longest.split()) * 1.3 < 1024
    assert tail_words(1024) == 1224
    assert tail_words(10**6) == 2500


def test_the_report_has_a_row_for_each_line_and_remedy() -> None:
    facts = replace(HEALTHY, calls=calls(0, 3, 3, 3))
    table = report(Examination("2026-01-01T00:00:00Z", facts, judge(facts))).blocks[0]
    assert isinstance(table, Table)
    remedies = sum(bool(each.line.remedy) for each in judge(facts))
    assert len(table.rows) == len(judge(facts)) + remedies
    assert all(isinstance(each, Checked) for each in judge(facts))
