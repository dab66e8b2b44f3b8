"""Figures that follow from a run, and several runs side by side."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hand_made
import jsonschema
import pytest

from promptorder.contracts import schema
from promptorder.errors import UsageError
from promptorder.model.comparison import Comparison, LayoutResult, Verdict
from promptorder.model.run import Run, Runs, SentPrompt
from promptorder.model.sample import Phase
from promptorder.reports import REGISTRY
from promptorder.reports._figures import Position, change, figures, hours_per_day, overlap
from promptorder.reports._meanings import parting
from promptorder.reports._prices import Price, money_per_day, parse_price, price_of
from promptorder.reports._runs import check_comparable, differences, labels

BASE = Run(hand_made.comparison(), path="runs/before.json")


def changed(run: Run = BASE, /, **changes: Any) -> Run:
    return replace(run, comparison=replace(run.comparison, **changes), path="runs/after.json")


def timed(run: Run, *prefills_ns: int) -> Run:
    """The same run with other prefill times of the follow-ups, in each layout."""
    layouts = tuple(
        replace(
            layout,
            follow_up_prefill_ns=sorted(prefills_ns)[len(prefills_ns) // 2],
            follow_up_prefill_spread_ns=(min(prefills_ns), max(prefills_ns)),
        )
        for layout in run.comparison.layouts
    )
    return changed(run, layouts=layouts)


def render(name: str, *runs: Run, per_day: int | None = None, prices: dict[str, str] | None = None) -> str:
    text: str = REGISTRY.load(name).render_runs(Runs(runs, per_day, prices or {}), width=80, color=False)
    return text


def test_what_follows_from_a_comparison() -> None:
    static, question, void = figures(hand_made.comparison())
    assert (static.prompt_tokens, static.new_tokens) == (1000, 13)
    assert static.possible == pytest.approx(1000 / 13)
    assert static.speed_up == pytest.approx(2000 / 30)
    assert (static.floor_ns, static.floor_method) == (4_000_000, "estimated"), "30 ms less 13 tokens of 2 ms"
    assert (static.reference, static.saved_ns) == ("question-first", 1_870_000_000)
    assert static.pays_after == 2
    assert (question.saved_ns, question.floor_ns) == (None, None)
    assert (void.new_tokens, void.saved_ns, void.position) == (None, None, None)


def test_a_measured_floor_is_that_of_the_warm_repeat() -> None:
    warm = hand_made.sample(Phase.WARM_REPEAT, 3, prefill_ns=7_000_000)
    static, question, _ = figures(replace(hand_made.comparison(), control_samples=(warm,)))
    assert (static.floor_ns, static.floor_method) == (7_000_000, "measured")
    assert question.floor_method is None


def test_a_layout_alone_is_measured_against_its_own_first_question() -> None:
    comparison = hand_made.comparison()
    [static] = figures(replace(comparison, layouts=comparison.layouts[:1]))
    assert (static.reference, static.saved_ns) == (None, 1_970_000_000)


def test_samples_that_do_not_count_are_left_out() -> None:
    comparison = hand_made.comparison()
    caveat = replace(comparison.caveats[0], code="model-reloaded", layout="static-first", samples=((1, 2),))
    static = figures(replace(comparison, caveats=(caveat,)))[0]
    assert static.new_tokens == 11, "the third question's alone"


@pytest.mark.parametrize(
    ("position", "words"),
    [
        (Position(20, 50, 900, 50, 1000, True), "before the document begins"),
        (Position(50, 50, 900, 50, 1000, True), "where the document begins"),
        (Position(51, 50, 900, 50, 1000, True), "where the document begins"),
        (Position(500, 50, 900, 50, 1000, True), "50 % into the document"),
        (Position(950, 50, 900, 50, 1000, True), "behind the document: all of it"),
        (Position(987, 50, 900, 50, 1000, False), "after about 987 of 1,000 tokens, behind the document"),
        (Position(987, None, None, None, 1000, True), "The prompts part after 987 of 1,000 tokens."),
    ],
)
def test_where_prompts_part(position: Position, words: str) -> None:
    assert words in parting(position)


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        ((1, 3), (3, 5), True),
        ((1, 3), (4, 5), False),
        ((4, 5), (1, 3), False),
        ((1, 9), (2, 3), True),
        (None, (1, 2), True),
    ],
)
def test_ranges(a: tuple[int, int] | None, b: tuple[int, int] | None, shared: bool) -> None:
    assert overlap(a, b) is shared


def layout(low: int | None, high: int | None, samples: int = 2) -> LayoutResult:
    first = hand_made.comparison().layouts[0]
    spread = None if low is None or high is None else (low, high)
    return replace(first, follow_up_prefill_spread_ns=spread, samples=first.samples[: samples + 1])


def test_a_change_is_told_by_the_ranges() -> None:
    assert change(layout(10, 20), layout(5, 9)) == "faster"
    assert change(layout(10, 20), layout(21, 30)) == "slower"
    assert change(layout(10, 20), layout(20, 30)) == "not significant"
    assert change(layout(10, 20), layout(None, None)) == "cannot tell"
    assert change(layout(10, 10, 1), layout(5, 9)) == "cannot tell", "one value has no range"
    assert change(layout(10, 20), replace(layout(5, 9), verdict=Verdict.VOID)) == "cannot tell"


def test_hours_and_money() -> None:
    static, question, _ = figures(hand_made.comparison())
    assert hours_per_day(static.saved_ns, 10_000) == pytest.approx(5.194, abs=0.001)
    assert hours_per_day(None, 10) is hours_per_day(5, None) is None
    assert money_per_day(static, question, 10_000, Price("EUR", hour=0.5)) == pytest.approx(2.597, abs=0.001)
    price = parse_price("2.50 EUR per million tokens, 0.25 cached")
    # 960 new tokens against 13, at 2.25 a million less
    assert money_per_day(static, question, 10_000, price) == pytest.approx(10_000 * 947 * 2.25e-6)
    assert money_per_day(static, None, 10_000, price) == pytest.approx(10_000 * 987 * 2.25e-6)
    assert money_per_day(question, static, 10_000, price) is None


def test_prices_as_people_write_them() -> None:
    prices = {
        "*": "0.60 EUR per hour",
        "qwen3": "1 $ per hour",
        "qwen3:8b": "3 USD per million tokens, 0.3 cached",
    }
    assert price_of("smollm2:latest", prices) == Price("EUR", hour=0.6)
    assert price_of("qwen3:1b", prices) == Price("$", hour=1)
    assert price_of("qwen3:8b", prices) == Price("USD", million_new=3, million_cached=0.3)
    assert price_of("x", {}) is None
    for wrong in ("", "1", "EUR per hour", "1 EUR per day", "-1 EUR per hour"):
        with pytest.raises(UsageError, match="cannot read the price") as caught:
            parse_price(wrong)
        assert "0.60 EUR per hour" in caught.value.hint


@pytest.mark.parametrize("name", ["table", "markdown", "html"])
def test_savings_are_said(name: str) -> None:
    text = " ".join(
        render(name, BASE, per_day=10_000, prices={"*": "0.50 EUR per hour"}).replace("\\", "").split()
    )
    assert "1.87 s less waiting for each follow-up than question-first" in text
    assert "5.19 hours a day at 10,000 follow-ups" in text
    assert "2.60 EUR a day" in text
    assert "has paid after 2 follow-ups" in text
    assert "It read 13 new tokens of 1,000: by tokens alone it could be 77x as fast, and was 67x." in text
    assert "about 0.0040 s is the floor of a call" in text


OTHER: dict[str, Callable[[Comparison], dict[str, Any]]] = {
    "documents differ": lambda c: {"document": replace(c.document, sha256="b" * 64)},
    "different pages": lambda c: {"document": replace(c.document, pages=None)},
    "questions differ": lambda c: {"questions": c.questions[:2]},
}


@pytest.mark.parametrize("reason", OTHER)
def test_runs_of_other_things_are_refused(reason: str) -> None:
    with pytest.raises(UsageError, match=f"before and after must not be compared: .*{reason}") as caught:
        check_comparable([BASE, changed(**OTHER[reason](BASE.comparison))])
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_other_prompts_are_refused() -> None:
    a, b = (replace(BASE, templates={"static-first": each * 64, "mine": each * 64}) for each in "ab")
    check_comparable([a, a])
    with pytest.raises(UsageError, match="static-first has another template or other rules"):
        check_comparable([a, b])
    check_comparable([a, replace(b, templates={"other": "c" * 64})])


def test_without_templates_the_prompts_themselves_tell() -> None:
    def sent(sha256: str, layout: str = "static-first") -> tuple[SentPrompt, ...]:
        return (SentPrompt(layout, 1, sha256 * 64),)

    with pytest.raises(UsageError, match="their prompts differ"):
        check_comparable([replace(BASE, prompts=sent("a")), replace(BASE, prompts=sent("b"))])
    # A clock, or a random line, makes every prompt another one
    clock = [replace(each, name="clock-first") for each in BASE.comparison.layouts[:1]]
    ticking = replace(BASE, comparison=replace(BASE.comparison, layouts=tuple(clock)))
    check_comparable([replace(ticking, prompts=sent(s, "clock-first")) for s in "ab"])
    nonce = changed(options={**BASE.comparison.options, "cold": "nonce"})
    check_comparable([replace(nonce, prompts=sent(s)) for s in "ab"])


def test_what_is_not_the_same_is_said() -> None:
    other = changed(engine=replace(BASE.comparison.engine, model="qwen3:8b"))
    other = replace(other, machine={"system": "Linux", "processors": 64})
    assert list(differences([BASE, other])) == [
        "model: before smollm2:latest; after qwen3:8b",
        "machine: before unknown; after Linux 64 processors",
    ]
    assert list(differences([BASE, BASE])) == []


def test_names_of_runs() -> None:
    paths = ["a/run.json", "b/run.json"]
    assert labels([replace(BASE, path=path) for path in paths]) == paths
    assert labels([BASE, BASE]) == ["1: runs/before.json", "2: runs/before.json"]
    assert labels([Run(BASE.comparison)]) == ["this run"]


def test_runs_side_by_side() -> None:
    faster = timed(BASE, 10_000_000, 12_000_000)
    table = render("table", BASE, faster)
    rows = [line.split() for line in table.splitlines()]
    assert ["after", "static-first", "2.00", "0.012", "167x", "98.7", "%", "2.5x", "as", "fast"] in rows
    assert max(len(line) for line in table.splitlines()) <= 80
    assert "static-first is 2.5x as fast in after" in " ".join(table.split())
    same = timed(BASE, 30_000_000, 31_000_000)
    assert re.search(r"after +static-first .* not significant", " ".join(render("table", BASE, same).split()))
    assert "no layout's follow-ups" in render("table", BASE, timed(BASE, 20_000_000, 2_000_000_000))


def test_several_runs_in_every_format_show_the_same() -> None:
    other = timed(BASE, 10_000_000, 12_000_000)
    value = json.loads(render("json", BASE, other, per_day=100))
    jsonschema.Draft202012Validator(schema("report-1")).validate(value)
    for run in value["runs"]:
        jsonschema.Draft202012Validator(schema("comparison-1")).validate(run["comparison"])
    assert [run["name"] for run in value["runs"]] == ["before", "after"]
    assert [each["change"] for each in value["runs"][0]["layouts"]] == [None, None, None]
    assert [each["change"] for each in value["runs"][1]["layouts"]] == ["faster", "faster", "cannot tell"]
    markdown, page = render("markdown", BASE, other), render("html", BASE, other)
    assert "| after | static-first | 2.00 | 0.012 | 167x | 98.7 % | 2.5x as fast |" in markdown
    assert '<td class="change">2.5x as fast</td>' in page
    assert page.count("<tr>\n<td>before</td>") == page.count("<tr>\n<td>after</td>") == 3
    assert render("csv", BASE, other).count("runs/after.json") == 7


def test_money_is_in_the_json() -> None:
    value = json.loads(render("json", BASE, per_day=10_000, prices={"*": "0.50 EUR per hour"}))
    first = value["runs"][0]["layouts"][0]
    assert (first["currency"], round(first["saved_money_a_day"], 2)) == ("EUR", 2.6)
    assert first["floor_ns"] == 4_000_000
