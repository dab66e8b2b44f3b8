"""Table, JSON and page tell the same figures; the page loads and runs nothing, whatever stands in a log."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import small_traces as small
from browser import CHROMIUM, WIDTHS, browse, first_pixel, widths
from pages import Page

import promptorder
from promptorder.contracts import schema
from promptorder.contracts.trace import SCHEMA, to_json
from promptorder.model.serverlog import CacheChange, SlotChoice
from promptorder.model.trace import Cause
from promptorder.model.trace_result import (
    Observed,
    ObservedRequest,
    Place,
    PolicyResult,
    Rates,
    TraceResult,
    Worst,
)
from promptorder.reports._trace import REGISTRY, format_of
from promptorder.reports._trace._advice import advice
from promptorder.reports._trace._words import CAUSES, about, money, share
from promptorder.trace_api import Tracing
from promptorder.trace_settings import TraceSettings

HOSTILE = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x' {{ 7*7 }} \u202e\x1b[31m\x00"
# The keys of the contract's example; more are welcome, none of these may go.
REQUIRED = {"schema", "tool_version", "requests", "skipped_lines", "policies"}
OF_POLICY = {
    "name",
    "options",
    "input_tokens",
    "cached_tokens",
    "hit_rate_tokens",
    "hit_rate_requests_mean",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> TraceResult:
    """A result in which every part is filled."""
    folder = tmp_path_factory.mktemp("trace")
    small.two_topics(folder / "t.jsonl")
    lines = (folder / "t.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) | {"cached_tokens": 100} for line in lines] * 8
    small.put(folder / "t.jsonl", *rows, "{broken")
    settings = TraceSettings(
        policies=("unlimited", "vllm,num_blocks=40", "vllm", "sglang,capacity_tokens=600"),
        curve=True,
        prefill_tokens_per_s=100,
        prices={"*": "3.00 USD per million tokens, 0.30 cached"},
    )
    return Tracing(settings).run([str(folder / "t.jsonl")])


def rendered(result: TraceResult, name: str) -> str:
    text: str = REGISTRY.load(name).render(result, width=80, color=False)
    return text


def as_json(result: TraceResult) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(rendered(result, "json"))
    return told


@pytest.mark.parametrize("name", REGISTRY.names())
def test_what_a_format_defines(name: str, whole: TraceResult) -> None:
    module = REGISTRY.load(name)
    assert module.SUMMARY
    assert all(suffix.startswith(".") for suffix in module.SUFFIXES)
    assert list(inspect.signature(module.render).parameters) == ["result", "width", "color"]
    assert rendered(whole, name).endswith("\n")
    assert format_of(f"X{module.SUFFIXES[0].upper()}") == name


def test_a_name_may_ask_for_no_format() -> None:
    assert format_of("out.pdf") is None


def test_the_schema_holds_and_demands_the_keys_of_the_contract(whole: TraceResult) -> None:
    validator = jsonschema.Draft202012Validator(schema("trace-1"))
    validator.check_schema(schema("trace-1"))
    assert SCHEMA == schema("trace-1")["$id"] == schema("trace-1")["properties"]["schema"]["const"]
    told = as_json(whole)
    validator.validate(told)
    assert {cause.value for cause in Cause} == set(
        schema("trace-1")["$defs"]["worst"]["properties"]["cause"]["enum"]
    )
    for key in REQUIRED:
        assert not validator.is_valid({name: value for name, value in told.items() if name != key})
    for key in OF_POLICY:
        lacking = as_json(whole)
        del lacking["policies"][0][key]
        assert not validator.is_valid(lacking)
    for key, wrong in (("hit_rate_tokens", 1.01), ("cached_tokens", -1), ("saved_ns", 0.5), ("options", [])):
        spoilt = as_json(whole)
        spoilt["policies"][0][key] = wrong
        assert not validator.is_valid(spoilt)


def test_all_formats_tell_the_same_figures(whole: TraceResult) -> None:
    told = as_json(whole)
    table = " ".join(rendered(whole, "table").split())
    page = Page(rendered(whole, "html")).text
    assert len(told["policies"]) == 4
    for row in (told["observed"], *told["policies"]):
        for rate in (
            row["hit_rate_tokens"],
            row["hit_rate_requests_mean"],
            row["last_half"]["hit_rate_tokens"],
            row["requests_with_hit"] / row.get("requests", told["requests"]),
        ):
            assert share(rate) in table
            assert share(rate) in page
    for policy in told["policies"]:
        for cause, loss in policy["causes"].items():
            if loss["lost_tokens"]:
                line = f"{CAUSES[Cause(cause)]} {loss['lost_tokens']:,}"
                assert line in table
                assert line in page
        for point in policy["curve"]:
            assert (
                f"{point['size']:,} ({about(point['size_tokens'])} tokens) {share(point['hit_rate_tokens'])}"
                in table
            )
            assert f"{point['size']:,} {point['size_tokens']:,} {share(point['hit_rate_tokens'])}" in page
        for text in (money(policy["cost"], "USD"), f"{policy['new_tokens']:,}"):
            assert text in table
            assert text in page
        for worst in policy["worst"][:3]:
            line = f"line {worst['line']} {worst['prompt_tokens']:,} {worst['cached_tokens']:,} {worst['lost_tokens']:,}"
            assert line in table
            assert line in page
    for text in (*told["advice"], *told["notes"]):
        assert " ".join(text.split()) in table
        assert " ".join(text.split()) in page.replace("( -", "(-")  # an option is a tag of its own
    assert told["advice"] == advice(whole)


def test_what_is_unknown_is_null_and_a_question_mark() -> None:
    nothing = Rates(0, 0, 0, None, None, None, 0)
    result = TraceResult(("t",), "form", 0, 0, (PolicyResult("vllm", {}, {}, nothing, 0, 0, ()),))
    told = as_json(result)
    jsonschema.Draft202012Validator(schema("trace-1")).validate(told)
    for key in ("hit_rate_tokens", "hit_rate_requests_mean", "saved_ns", "cost", "currency", "size_option"):
        assert told["policies"][0][key] is None
    assert told["observed"] is None
    assert "? ?" in " ".join(rendered(result, "table").split())
    assert "?" in Page(rendered(result, "html")).text


def hostile() -> TraceResult:
    rates = Rates(9, 900, 90, 0.1, 0.1, 0.1, 3)
    place = Place(HOSTILE, 3)
    worst = Worst(2, place, 100, 10, 80, 10, Cause.EVICTION, place)
    policy = PolicyResult(HOSTILE, {HOSTILE: HOSTILE}, {HOSTILE: HOSTILE}, rates, 10, 0, (), (worst,))
    observed = Observed(
        rates,
        (ObservedRequest(place, 100, 10, SlotChoice.LRU),),
        why={SlotChoice.LRU: 9},
        events={CacheChange.LOADED: 9},
    )
    return TraceResult(
        (HOSTILE, HOSTILE),
        HOSTILE,
        9,
        1,
        (policy, replace(policy, name="vllm", options={})),
        observed,
        early=(worst._replace(cause=Cause.FIRST_DIFFERENCE),),
        has_text=True,
        tokenizer=HOSTILE,
        notes=(HOSTILE,),
    )


def test_a_page_shows_what_stands_in_a_log_as_text() -> None:
    text = rendered(hostile(), "html")
    page = Page(text)
    ours = Page(rendered(replace(hostile(), notes=("x",)), "html"))
    assert {name for name, _ in page.elements} == {name for name, _ in ours.elements}
    assert not {"script", "img", "iframe", "object", "link", "form"} & {name for name, _ in page.elements}
    assert not any(key.startswith("on") for _, attributes in page.elements for key in attributes)
    assert "alert(1)" in page.text, "it is shown"
    assert "49" not in page.text.replace("{{ 7*7 }}", "")
    assert not {"\u202e", "\x1b", "\x00"} & set(text)


def test_a_terminal_is_not_steered() -> None:
    text = rendered(hostile(), "table")
    assert not {"\u202e", "\x1b", "\x00"} & set(text)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_page_lets_nothing_in_but_its_style(whole: TraceResult) -> None:
    text = rendered(whole, "html")
    page = Page(text)
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    [policy] = [
        each["content"] for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert not re.search(r"https?:|url\((?!#)|@import|style=", text)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {str(each["href"]).removeprefix("#") for each in page.all("a")}
    assert targets <= set(ids)
    assert all(
        each.get("aria-hidden") == "true"
        for each in page.all("svg")
        if "viewBox" not in each and "x" not in each
    )
    assert len(page.all("h1")) == 1


def test_charts_are_drawn_where_there_is_something_to_draw(whole: TraceResult) -> None:
    drawn = [each["points"] for each in Page(rendered(whole, "html")).all("polyline")]
    assert len(drawn) == 5 + 3, "four policies and the server over time, three sizes"
    bare = replace(whole, policies=(replace(whole.policies[0], windows=(), curve=()),), observed=None)
    page = Page(rendered(bare, "html"))
    assert page.all("polyline") == []
    assert "Over time" not in page.text


def test_the_library_is_what_the_formats_take(tmp_path: Path) -> None:
    result = promptorder.trace(small.token_log(tmp_path / "t.jsonl"), policies=["vllm"])
    assert to_json(result)["policies"][0]["name"] == "vllm"


@pytest.fixture(scope="module")
def page(whole: TraceResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "trace.html"
    path.write_text(rendered(whole, "html"), encoding="utf-8")
    return path


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize(("scheme", "ground"), [("light", "#ffffff"), ("dark", "#15181c")])
def test_it_is_drawn(page: Path, scheme: str, ground: str, tmp_path: Path) -> None:
    shot = tmp_path / "shot.png"
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    browse(tmp_path, f"--screenshot={shot}", "--window-size=800,2400", *dark, page.as_uri())
    assert first_pixel(shot.read_bytes()) == tuple(bytes.fromhex(ground[1:]))
    assert len(shot.read_bytes()) > 20_000, "an empty page is smaller"


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_nothing_is_wider_than_the_window(page: Path, tmp_path: Path) -> None:
    told = widths(page, tmp_path)
    for width in WIDTHS:
        assert f"{width}:{width}:1" in told
