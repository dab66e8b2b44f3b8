"""The shapes that other programs read, held against their schemas and the contract's own example."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import hand_made
import jsonschema
import pytest

import promptorder
from promptorder.contracts import comparison as comparison_contract
from promptorder.contracts import run as run_contract
from promptorder.contracts import schema
from promptorder.model.comparison import AnswerCheck, Estimate
from promptorder.model.engine import EngineInfo
from promptorder.model.run import Run
from promptorder.model.sample import Check, Control, Difference, Phase
from promptorder.model.source import DocumentInfo, SourceText

ESTIMATE = {"value", "low", "high", "method"}
# The keys of the contract's example; more are welcome, none of these may go.
REQUIRED: dict[str, set[str]] = {
    "": {
        "schema",
        "tool_version",
        "started_at",
        "engine",
        "options",
        "document",
        "layouts",
        "fastest",
        "caveats",
    },
    "engine": {"name", "version", "model", "model_digest", "context_tokens", "counts_cached_tokens"},
    "options": {"seed", "num_predict", "cold", "clock_gap_s", "repeats"},
    "document": {"path", "sha256", "characters", "pages"},
    "layouts": {
        "name",
        "verdict",
        "reused_fraction",
        "expected_reused_tokens",
        "first_prefill_ns",
        "follow_up_prefill_ns",
        "follow_up_total_ns",
        "samples",
    },
    "layouts.reused_fraction": ESTIMATE,
    "layouts.samples": {
        "question",
        "repeat",
        "prompt_tokens",
        "cached_tokens",
        "reused_tokens",
        "load_ns",
        "prefill_ns",
        "decode_ns",
        "other_ns",
        "total_ns",
        "output_tokens",
        "thinking",
        "answer",
    },
    "layouts.samples.reused_tokens": ESTIMATE,
    "caveats": {"code", "message", "layout", "samples"},
}


def shaped() -> dict[str, Any]:
    """A comparison as other programs get it."""
    value: dict[str, Any] = json.loads(json.dumps(comparison_contract.to_json(hand_made.comparison())))
    return value


def found(value: Any, path: str) -> Iterator[dict[str, Any]]:
    """The objects at ``path``, through lists."""
    if isinstance(value, list):
        for each in value:
            yield from found(each, path)
    elif path:
        head, _, tail = path.partition(".")
        yield from found(value[head], tail)
    else:
        yield value


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, name)
    else:
        yield name, value


def validate(value: object, name: str) -> None:
    jsonschema.Draft202012Validator(schema(name)).validate(value)


@pytest.mark.parametrize("name", ["comparison-1", "run-1", "report-1"])
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"promptorder.{name.replace('-', '/')}"


def test_a_comparison_is_of_its_schema() -> None:
    validate(shaped(), "comparison-1")
    assert shaped()["schema"] == comparison_contract.SCHEMA == "promptorder.comparison/1"
    assert shaped()["tool_version"] == promptorder.__version__


@pytest.mark.parametrize("path", REQUIRED)
def test_keys_of_the_contract_are_there(path: str) -> None:
    objects = list(found(shaped(), path))
    assert objects
    assert all(REQUIRED[path] <= set(each) for each in objects)


@pytest.mark.parametrize("path", REQUIRED)
def test_the_schema_demands_the_keys_of_the_contract(path: str) -> None:
    for key in REQUIRED[path]:
        value = shaped()
        del next(found(value, path))[key]
        with pytest.raises(jsonschema.ValidationError):
            validate(value, "comparison-1")


def test_durations_and_counts_are_whole_or_null() -> None:
    value = shaped()
    measured = [
        (name, leaf) for name, leaf in leaves({**value, "options": {}}) if name.endswith(("_ns", "_tokens"))
    ]
    names = {name for name, _ in measured}
    assert {
        "prefill_ns",
        "other_ns",
        "total_ns",
        "follow_up_total_ns",
        "prompt_tokens",
        "cached_tokens",
    } <= names
    truths = {"counts_cached_tokens"}
    assert all(leaf is None or isinstance(leaf, bool if name in truths else int) for name, leaf in measured)
    whole = [each for sample in found(value, "layouts.samples.reused_tokens") for each in sample.values()]
    assert not any(isinstance(each, float) for each in whole)


def test_durations_add_up() -> None:
    for each in found(shaped(), "layouts.samples"):
        if each["total_ns"] is not None:
            assert each["prefill_ns"] + each["decode_ns"] + each["other_ns"] == each["total_ns"]


def test_what_is_unknown_is_null_and_never_0() -> None:
    layout = shaped()["layouts"][2]
    nothing = {"value": None, "low": None, "high": None, "method": "unknown"}
    assert layout["verdict"] == "void"
    assert layout["reused_fraction"] == nothing
    for key in ("expected_reused_tokens", "first_prefill_ns", "follow_up_prefill_ns", "follow_up_total_ns"):
        assert layout[key] is None
    [sample] = layout["samples"]
    assert sample["reused_tokens"] == nothing
    for key in REQUIRED["layouts.samples"] - {"question", "repeat", "reused_tokens"}:
        assert sample[key] is None, key
    assert sample["failure"] == "the reply broke off"


def test_an_engine_that_tells_next_to_nothing() -> None:
    bare = replace(hand_made.comparison(), engine=EngineInfo("x", None, "y"), fastest=None)
    value = comparison_contract.to_json(bare)
    validate(value, "comparison-1")
    assert value["engine"]["version"] is value["engine"]["counts_cached_tokens"] is value["fastest"] is None


def test_pages_are_pairs_or_null() -> None:
    assert shaped()["document"]["pages"] == [[1, 2], [5, 5]]
    whole = hand_made.comparison()
    value = comparison_contract.to_json(replace(whole, document=replace(whole.document, pages=None)))
    assert value["document"]["pages"] is None
    validate(value, "comparison-1")


def test_the_document_itself_is_not_told() -> None:
    source = SourceText("report.pdf", "pdf", "a" * 64, "The text of the document.")
    comparison = replace(hand_made.comparison(), document=DocumentInfo.of(source))
    told = json.dumps(comparison_contract.to_json(comparison))
    assert source.text not in told
    assert json.loads(told)["document"]["characters"] == len(source.text)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("layouts.verdict", "perhaps"),
        ("layouts.first_prefill_ns", 1.5),
        ("layouts.first_prefill_ns", -1),
        ("layouts.reused_fraction.value", 1.01),
        ("layouts.reused_fraction.method", "guessed"),
        ("engine.context_tokens", "8192"),
        ("document.sha256", "A" * 64),
        ("options.cold", "warm"),
        ("schema", "promptorder.comparison/2"),
        ("started_at", "yesterday"),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: str, wrong: object) -> None:
    value = shaped()
    place, _, key = path.rpartition(".")
    next(found(value, place))[key] = wrong
    with pytest.raises(jsonschema.ValidationError):
        validate(value, "comparison-1")


def test_a_run_is_of_its_schema_and_holds_the_comparison() -> None:
    calls = [
        hand_made.sample(Phase.LOAD, 0, load_ns=5),
        hand_made.sample(Phase.FIRST, 1, cached_tokens=0),
        hand_made.sample(Phase.WARM_REPEAT, 1, failure="x"),
    ]
    comparison = hand_made.comparison()
    run = Run(comparison, tuple(calls), tuple(calls[:1]), machine={"processors": 2}, command=("promptorder",))
    value = json.loads(json.dumps(run_contract.to_json(run)))
    validate(value, "run-1")
    assert value["comparison"] == shaped()
    assert [run_contract.sample_from_json(each) for each in value["samples"]] == calls
    assert len(value["abandoned_samples"]) == 1


def test_shares_may_be_fractions_and_tokens_are_rounded() -> None:
    comparison = hand_made.comparison()
    layout = comparison.layouts[0]
    call = replace(layout.samples[1], reused_tokens=Estimate(3.6, 1.2, 8.5, "inferred"))
    value = comparison_contract.to_json(replace(comparison, layouts=(replace(layout, samples=(call,)),)))
    [sample] = value["layouts"][0]["samples"]
    assert sample["reused_tokens"] == {"value": 4, "low": 1, "high": 8, "method": "inferred"}
    assert value["layouts"][0]["reused_fraction"]["value"] == 0.987


CONTROL = Control("short", 3000, 2900)


@pytest.mark.parametrize(
    ("phase", "more"),
    [
        (Phase.CONTROL, {"control": CONTROL}),
        (Phase.CHECK, {"check": Check(None)}),
        (Phase.CHECK, {"check": Check(Difference(12, 3))}),
        (Phase.CHECK, {"check": Check(Difference(0, None))}),
    ],
)
def test_control_calls_and_checks_are_read_as_they_were(phase: Phase, more: dict[str, Any]) -> None:
    call = replace(hand_made.sample(phase, 2, cached_tokens=9, pieces=("4", "2.")), **more)
    told = run_contract.sample_to_json(call)
    assert set(more) < set(told)
    assert "pieces" not in told["reply"]
    value = json.loads(json.dumps(run_contract.to_json(Run(hand_made.comparison(), (call,)))))
    validate(value, "run-1")
    assert call.reply is not None
    [read] = run_contract.from_json(value).samples
    assert read == replace(call, reply=replace(call.reply, pieces=None))


def test_other_samples_have_no_such_key() -> None:
    """So the files of earlier versions have the same shape."""
    told = run_contract.sample_to_json(hand_made.sample(Phase.FOLLOW_UP, 2))
    assert not {"control", "check"} & set(told)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [("control.kind", "sideways"), ("control.characters", -1), ("check.difference", 3), ("check", {})],
)
def test_a_run_refuses_what_is_no_control_and_no_check(path: str, wrong: object) -> None:
    call = replace(hand_made.sample(Phase.CONTROL, 1), control=CONTROL, check=Check(Difference(1, 1)))
    value = json.loads(json.dumps(run_contract.to_json(Run(hand_made.comparison(), (call,)))))
    place, _, key = path.rpartition(".")
    next(found(value["samples"], place))[key] = wrong
    with pytest.raises(jsonschema.ValidationError):
        validate(value, "run-1")


def test_what_a_comparison_gained_is_read_and_may_be_missing() -> None:
    whole = hand_made.comparison()
    layout = replace(whole.layouts[0], first_prefill_spread_ns=(1, 9), follow_up_total_spread_ns=(2, 8))
    checks = (
        AnswerCheck("static-first", 1, 3, 950, Difference(4, None), "It is 42.", "It is 43."),
        AnswerCheck("mine", 1, 2, None, None, "42.", "", failure="it broke off"),
    )
    engine = replace(whole.engine, sliding_window_tokens=512)
    comparison = replace(whole, engine=engine, layouts=(layout,), answers_checked=checks)
    value = json.loads(json.dumps(comparison_contract.to_json(comparison)))
    validate(value, "comparison-1")
    read = comparison_contract.from_json(value)
    assert read.answers_checked == checks
    assert read.engine.sliding_window_tokens == 512
    assert read.layouts[0].first_prefill_spread_ns == (1, 9)
    assert read.layouts[0].follow_up_total_spread_ns == (2, 8)
    for key in (
        "answers_checked",
        "sliding_window_tokens",
        "first_prefill_spread_ns",
        "follow_up_total_spread_ns",
    ):
        for place in (value, value["engine"], value["layouts"][0]):
            place.pop(key, None)
    validate(value, "comparison-1")
    older = comparison_contract.from_json(value)
    assert older.answers_checked == ()
    assert older.layouts[0].first_prefill_spread_ns is None
