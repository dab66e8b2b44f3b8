"""The page: it loads and runs nothing, whatever stands in document, question or answer, and everybody can read it."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import time
import unicodedata
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import hand_made
import pytest
from hypothesis import given
from hypothesis import strategies as st
from many import run_of
from pages import Page

from promptorder.errors import UsageError
from promptorder.model.comparison import LayoutResult, Verdict
from promptorder.model.run import Run, Runs
from promptorder.reports import _run_section, html
from promptorder.store.finished import load_run

OLD = Path(__file__).with_name("run-1.json")
HOSTILE = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title></head><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>' onmouseover='alert(1)",
    "]]><!--<!-- --> <![CDATA[ <?xml ?> {{ 7 * 7 }} {% raw %} ${7*7}",
    "javascript:alert(1) data:text/html,x &lt;b&gt; &#x3c;b&#x3e; &amp;",
    "\u202egnp.exe\u2066\u2067 \u200f\u061c \ufeff\u00ad\u2028\u2029 \x00\x1b[31m\x7f\x9b \ud83d \U000e0041",
    "\u0301" * 500 + "\ufffe\uffff",
    "a" * 1_000_000,
]
PLAIN = "👨‍👩‍👧 naïve 東京 می‌خواهم العربية"


def page(run: Run | None = None, *more: Run, per_day: int | None = None) -> str:
    runs = Runs((run or Run(hand_made.comparison()), *more), per_day)
    return html.render_runs(runs, width=80, color=False)


def hostile(text: str) -> Run:
    comparison = hand_made.comparison(path=text, model=text, answer=text, name=f"mine{text}")
    return Run(
        replace(
            comparison, questions=(text, text, text), engine=replace(comparison.engine, facts={text: text})
        ),
        machine={"system": text, "processors": text},
        command=("promptorder", "compare", text),
        path=text,
        tool_version=text,
    )


def skeleton(text: str) -> list[tuple[str, tuple[str, ...]]]:
    # An option is kept on one line, wherever its text comes from
    elements = [(tag, a) for tag, a in Page(text).elements if a.get("class") != "option"]
    return [(tag, tuple(sorted(attributes))) for tag, attributes in elements]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_only_text(text: str) -> None:
    made = page(hostile(text))
    assert skeleton(made) == skeleton(page(hostile("plain"))), (
        "no element and no attribute comes from outside"
    )
    assert len(made) < 120_000
    shown = "".join(Page(made).texts)
    bad = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}
    assert not bad
    made.encode("utf-8")


@given(st.text())
def test_any_text_is_only_text(text: str) -> None:
    run = Run(hand_made.comparison(answer=text, path=text or "x"))
    assert skeleton(page(run)) == skeleton(page(Run(hand_made.comparison(answer="a", path="x"))))


def test_words_and_emoji_stay_as_they_are() -> None:
    assert PLAIN in page(hostile(PLAIN))


def test_no_other_command_is_offered_for_copying() -> None:
    run = replace(load_run(OLD), command=("rm", "-rf", "folder"))
    assert "rm -rf" not in page(run)
    assert "promptorder compare fixtures/report.pdf" in page(run)
    told = replace(run, command=("promptorder", "compare", "a b; rm x", "--questions", "q.txt"))
    assert "promptorder compare &#39;a b; rm x&#39; --questions q.txt" in page(told)


def test_a_long_answer_says_how_long_it_is() -> None:
    assert "aaa… (1,000,000 characters in all)" in page(hostile("a" * 1_000_000))


def test_the_page_stands_alone() -> None:
    made = Page(page(per_day=500))
    assert not {tag for tag, _ in made.elements} & {
        *(
            "script",
            "link",
            "img",
            "iframe",
            "object",
            "embed",
            "form",
            "base",
            "image",
            "use",
            "foreignobject",
        ),
        *("audio", "video", "source", "animate", "set", "input", "button"),
    }
    for _, attributes in made.elements:
        assert not any(name.startswith("on") or name in ("style", "src", "srcdoc") for name in attributes)
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert "url(" not in page().replace("url(#", "")
    assert "@import" not in page()


def test_the_policy_lets_in_one_style_and_nothing_else() -> None:
    text = page()
    made = Page(text)
    [policy] = [a["content"] for a in made.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_what_a_screen_reader_needs() -> None:
    for runs in ((Run(hand_made.comparison()),), (load_run(OLD), load_run(OLD))):
        made = Page(page(*runs))
        assert made.all("html") == [{"lang": "en"}]
        for landmark in ("header", "main", "nav", "footer", "h1", "title"):
            assert len(made.all(landmark)) == 1
        levels = [int(tag[1]) for tag, _ in made.elements if re.fullmatch(r"h[1-6]", tag)]
        assert all(b - a <= 1 for a, b in pairwise(levels)), "no level is left out"
        assert len(made.all("table")) == len(made.all("caption"))
        assert len(made.all("figure")) == len(made.all("figcaption"))
        assert all(cell.get("scope") in ("row", "col") for cell in made.all("th"))
        ids = [attributes["id"] for _, attributes in made.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        targets = {str(a["href"])[1:] for a in made.all("a")}
        labelled = {str(a["aria-labelledby"]) for _, a in made.elements if "aria-labelledby" in a}
        assert targets | labelled <= set(ids)
        assert all(each.get("aria-hidden") == "true" for each in made.all("svg")), (
            "the text beside it says it"
        )
        for region in (a for a in made.all("div") if a.get("class") == "scroll"):
            assert region["tabindex"] == "0"
            assert region["aria-label"]


def test_it_says_what_was_found_in_this_order() -> None:
    text = Page(page(load_run(OLD), per_day=500)).text.partition("How to repeat it Machine ")[2]
    parts = [
        "With static-first the document was read once, and a follow-up was ready to answer after 0.30 s; with "
        "question-first it was read again every time, up to 20.8 s.",
        "Key figures faster follow-ups with static-first 63x",
        "The layouts side by side",
        "Prefill of each question, in seconds",
        "Share of a follow-up's prompt that was reused",
        "Where the time goes",
        "Where the prompts part",
        "What it means",
        "What it saves",
        "hours a day at 500 follow-ups",
        "What to do next",
        "To keep in mind",
        "All samples, with their answers",
        "The order book was 2,140.",
        "Method, and how reuse is known",
        "Counted:",
        "How to repeat it",
        "promptorder compare fixtures/report.pdf",
        "Machine and versions",
        "ollama 0.33.3",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places, [part for part, place in zip(parts, places, strict=True) if place < 0]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ([Verdict.REUSED], "With static-first the document was read once"),
        ([Verdict.NOT_REUSED], "With static-first the document was read again for every question"),
        ([Verdict.CANNOT_TELL, Verdict.VOID], "It cannot be told from this run"),
        ([Verdict.VOID], "No follow-up was measured cleanly"),
    ],
)
def test_every_end_of_a_run_has_its_headline(verdicts: list[Verdict], words: str) -> None:
    comparison = hand_made.comparison()
    layouts: list[LayoutResult] = []
    for layout, verdict in zip(comparison.layouts, verdicts, strict=False):
        layouts.append(replace(layout, verdict=verdict))
    text = page(Run(replace(comparison, layouts=tuple(layouts))))
    assert f"<h1>{words}" in text


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
def test_colours_have_contrast_in_every_scheme(scheme: int) -> None:
    style = re.findall(r"<style>(.*?)</style>", page(), re.DOTALL)[0]
    blocks = [
        dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    colours = blocks[scheme]
    assert set(colours) == set(blocks[0])
    for text in ("text", "muted", "link"):
        for ground in ("page", "panel"):
            assert contrast(colours[text], colours[ground]) >= 4.5, f"{text} on {ground}"
    for graphic in ("reused", "read", "decode", "load", "other"):
        assert contrast(colours[graphic], colours["page"]) >= 3, graphic
    assert contrast(colours["read"], colours["read-light"]) >= 3, "the hatch on its ground"


def test_many_samples_make_no_slow_page() -> None:
    small, large = run_of(200), run_of(10_000)
    page(small)
    started = time.perf_counter()
    few = page(small)
    between = time.perf_counter()
    many = page(large)
    ended = time.perf_counter()
    assert len(many) < 1.3 * len(few) + 20_000
    assert many.count('<td class="answer">') == _run_section.MOST_ROWS
    # Fifty times the samples; a square would be 2,500 times as long.
    assert ended - between < 200 * (between - started)
    assert ended - between < 30
    text = Page(many).text
    assert "10,000 samples of 2 layouts" in text
    assert "promptorder report many.json --format csv --out samples.csv" in text


def test_each_layout_has_its_rows() -> None:
    shown = Page(page(run_of(10_000))).text.partition("All samples")[2]
    assert shown.count("static-first") >= 100
    assert shown.count("question-first") >= 100


def test_many_questions_are_cut_and_said() -> None:
    comparison = replace(hand_made.comparison(), questions=tuple(f"Q{n}?" for n in range(1000)))
    text = page(Run(comparison))
    assert "The first 12 of 1,000 questions" in text
    assert "Q12?" not in text


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(UsageError, match="jinja2") as caught:
        html.check()
    assert "promptorder[report]" in caught.value.hint
