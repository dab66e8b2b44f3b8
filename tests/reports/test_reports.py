"""One comparison in every format: the same figures, and nothing from outside that takes over."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata

import hand_made
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.console import print_note, printable, render_report, shorten
from promptorder.contracts.comparison import to_json
from promptorder.model.comparison import Comparison, Estimate
from promptorder.model.report import Bar, Bars, Bullets, Column, Heading, Paragraph, Report, Table
from promptorder.model.run import Run
from promptorder.reports import REGISTRY
from promptorder.reports._words import amount, band, count, percent, ratio, seconds, times

HOSTILE = "a\x1b[31mred\x1b]0;title\x07|pipe <script>alert(1)</script>\n=cmd()\r\n\x9b2J\u202e\x00 `tick` *star* [x](y)"
FORMULA = "=cmd()|'/c calc'!A1"
FORMATS = REGISTRY.names()
FOR_PEOPLE = ["table", "markdown"]


def hostile() -> Comparison:
    return hand_made.comparison(path=f"{HOSTILE}.pdf", model=HOSTILE, answer=HOSTILE, name=f"mine{HOSTILE}")


def render(name: str, comparison: Comparison | None = None, *, width: int = 80, color: bool = False) -> str:
    comparison = comparison or hand_made.comparison()
    text: str = REGISTRY.load(name).render(Run(comparison), width=width, color=color)
    return text


def controls(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs")} - {"\n"}


def test_table() -> None:
    lines = render("table").splitlines()
    assert lines[0].startswith("report.pdf, pages 1-2, 5 with 3 questions, prompts of about 1,000 tokens, on")
    rows = [line.split() for line in lines]
    assert ["static-first", "2.00", "0.030", "0.44", "67x", "98.7", "%", "98.5-98.9", "counted"] in rows
    assert ["question-first", "2.00", "1.90", "2.31", "1.1x", "4.0", "%", "4.0", "counted"] in rows
    assert ["mine", "-", "-", "-", "-", "void", "-", "unknown"] in rows
    assert any(re.fullmatch(r"static-first +98\.7 % +#{49}\.", line) for line in lines)
    assert any(re.fullmatch(r"mine +\? +\?", line) for line in lines)
    for title in ("What it means", "What to do next", "To keep in mind"):
        assert title in lines


@pytest.mark.parametrize("name", FOR_PEOPLE)
def test_what_it_means_and_what_to_do(name: str) -> None:
    text = " ".join(render(name).replace("\\", "").split())
    assert "static-first: the document was read once" in text
    assert "question-first: the document was read again for every question" in text
    assert "mine: no follow-up was measured cleanly" in text
    assert "Build your prompts like static-first (rules, document, question)" in text
    assert "If yours looks like question-first: Put the question after the document" in text
    assert "Each layout was measured once" in text


@pytest.mark.parametrize("comparison", [hand_made.comparison(), hostile()], ids=["plain", "hostile"])
@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("color", [False, True])
def test_no_line_is_over_the_width(comparison: Comparison, width: int, color: bool) -> None:
    text = re.sub(r"\x1b\[[\d;]*m", "", render("table", comparison, width=width, color=color))
    assert max(len(line) for line in text.splitlines()) <= width


def test_long_names_are_folded_and_not_lost() -> None:
    name, path = "n" * 150, "p" * 250
    text = render("table", hand_made.comparison(name=name, path=path), width=60)
    assert max(len(line) for line in text.splitlines()) <= 60
    joined = re.sub(r"\s", "", text)
    assert path in joined
    assert name in joined


def test_color_only_where_wanted() -> None:
    assert "\x1b[" in render("table", color=True)
    for name in FORMATS:
        assert "\x1b" not in render(name, color=False)
    for name in set(FORMATS) - {"table"}:
        assert render(name, color=True) == render(name, color=False)


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_from_outside_steers_the_terminal(name: str) -> None:
    text = render(name, hostile())
    if name == "json":
        # A parser gives the answer back as it was; the text itself holds no escape code
        assert json.loads(text)["layouts"][0]["samples"][0]["answer"] == HOSTILE
    assert not controls(text)


def test_color_holds_no_codes_but_its_own() -> None:
    text = render("table", hostile(), color=True)
    assert set(re.findall(r"\x1b.[^m]*.", text)) <= set(
        re.findall(r"\x1b.[^m]*.", render("table", color=True))
    )


@given(st.text())
def test_printable_leaves_no_controls_and_takes_no_words(text: str) -> None:
    clean = printable(text)
    assert not controls(clean)
    assert len(clean) == len(text)
    assert all(was == now for was, now in zip(text, clean, strict=True) if was.isprintable() or was == "\n")


def test_printable_keeps_words_of_every_script() -> None:
    text = "Zürich 東京 🗼 naïve\n"
    assert printable(text) == text
    assert printable("1\u202f000\u00a0€\t\x1b[2J") == "1 000 € \ufffd[2J"


def test_a_note_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_note("error", f"no such file: {HOSTILE}", color="never")
    text = capsys.readouterr().err
    assert text.startswith("error: no such file: a\ufffd[31m")
    assert not controls(text)


def test_blocks_show_text_from_outside_on_their_own_lines() -> None:
    evil = "one\ntwo\x1b[0m"
    clean = "one two\ufffd[0m"
    table = Table((Column("A"),), ((evil,),))
    bars = Bars("Bars", (Bar(evil, "50 %", 0.5),))
    text = render_report(
        Report((Heading(evil), Paragraph(evil), Bullets((evil,)), table, bars)), width=60, color=False
    )
    lines = text.splitlines()
    assert lines.count(clean) == 3
    assert f"- {clean}" in lines
    assert any(line.startswith(f"{clean}  50 %") for line in lines)


def test_markdown_table() -> None:
    lines = render("markdown").splitlines()
    assert lines[0] == "## Prompt layouts compared"
    assert "| static-first | 2.00 | 0.030 | 0.44 | 67x | 98.7 % | 98.5-98.9 | counted |" in lines
    [head] = [number for number, line in enumerate(lines) if line.startswith("| Layout |")]
    rows = [line for line in lines[head:] if line.startswith("|")]
    assert len(rows) == 5
    assert rows[1] == "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"


def test_markdown_escapes_what_comes_from_outside() -> None:
    text = render("markdown", hostile())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {9}
    assert not re.search(r"(?<!\\)[<`*\[]", text)
    assert r"\<script\>" in text
    assert "&lt;" not in text


@pytest.mark.parametrize(
    "path", ["- a.pdf", "1. a.pdf", "1) a.pdf", "# a.pdf", "> a", "+ a", "== a", "&lt;b&gt;"]
)
def test_markdown_starts_no_list_or_heading_by_itself(path: str) -> None:
    paragraph = render("markdown", hand_made.comparison(path=path)).splitlines()[2]
    assert re.match(r"\d?\\", paragraph)
    assert paragraph.replace("\\", "").startswith(path)


@pytest.mark.parametrize("name", FOR_PEOPLE)
def test_standard_input_is_called_by_its_name(name: str) -> None:
    assert "standard input, pages" in render(name, hand_made.comparison(path="-"))


def frame(comparison: Comparison | None = None) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(render("csv", comparison)), keep_default_na=False)


def test_csv_has_a_row_for_each_call() -> None:
    rows = frame()
    assert len(rows) == 7
    assert {"layout", "verdict", "question", "prefill_ns", "reused_tokens", "reused_method"} <= set(
        rows.columns
    )
    first = rows.iloc[0]
    assert (first["layout"], first["question"], str(first["prefill_ns"])) == ("static-first", 1, "2000000000")
    failed = rows.iloc[-1]
    assert failed["prefill_ns"] == failed["answer"] == failed["reused_tokens"] == "", "unknown, not 0"
    assert "." not in "".join(str(each) for each in rows["prefill_ns"])


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n=", " ="])
def test_csv_runs_no_formula(start: str) -> None:
    text = render("csv", hand_made.comparison(answer=f"{start}cmd()", name=f"{start}layout"))
    for row in csv.DictReader(io.StringIO(text)):
        for cell in row.values():
            assert not cell.lstrip().startswith(("=", "+", "-", "@"))


def test_csv_leaves_other_cells_as_they_are() -> None:
    assert frame(hand_made.comparison(answer="1 + 1 = 2"))["answer"][0] == "1 + 1 = 2"
    assert frame(hand_made.comparison(answer=FORMULA))["answer"][0] == f"'{FORMULA}"


def test_csv_of_hostile_text_is_a_table() -> None:
    rows = frame(hostile())
    assert len(rows) == 7
    assert list(rows["question"]) == [1, 2, 3, 1, 2, 3, 2]
    answer = rows["answer"][0]
    assert "<script>" in answer
    assert "\n=cmd()\n" in answer


def test_json_is_the_contract() -> None:
    text = render("json")
    assert json.loads(text) == json.loads(json.dumps(to_json(hand_made.comparison())))
    assert text.endswith("}\n")


def html_rows() -> dict[str, list[str]]:
    """The first text of each cell of the page's table, by its layout."""
    text = render("html").partition("<tbody>")[2].partition("</tbody>")[0]
    rows = {}
    for row in text.split("</tr>")[:-1]:
        name = re.search(r'<th scope="row">([^<]*)', row)
        assert name is not None
        rows[name[1]] = re.findall(r"<td[^>]*>([^<]*)", row)
    return rows


def test_all_formats_show_the_same_figures() -> None:
    value = json.loads(render("json"))
    table, markdown, rows, page = render("table"), render("markdown"), frame(), html_rows()
    for layout in value["layouts"]:
        shown = [
            layout["name"],
            seconds(layout["first_prefill_ns"]),
            seconds(layout["follow_up_prefill_ns"]),
            seconds(layout["follow_up_total_ns"]),
            times(layout["first_prefill_ns"], layout["follow_up_prefill_ns"]),
        ]
        assert re.search("^" + r" +".join(re.escape(each) for each in shown) + " ", table, re.MULTILINE)
        assert f"| {' | '.join(shown)} |" in markdown
        assert page[layout["name"]][:4] == shown[1:]
        mine = rows[rows["layout"] == layout["name"]]
        assert [str(each) for each in mine["prefill_ns"]] == [
            "" if each["prefill_ns"] is None else str(each["prefill_ns"]) for each in layout["samples"]
        ]


@pytest.mark.parametrize(
    ("ns", "shown"),
    [
        (None, "-"),
        (0, "0.0000"),
        (4_000_000, "0.0040"),
        (17_000_000, "0.017"),
        (99_970_000, "0.10"),
        (170_000_000, "0.17"),
        (9_999_000_000, "10.0"),
        (6_300_000_000, "6.30"),
        (42_100_000_000, "42.1"),
        (185_000_000_000, "185"),
    ],
)
def test_seconds(ns: int | None, shown: str) -> None:
    assert seconds(ns) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (None, "?"),
        (0, "0 %"),
        (0.0001, "0.1 %"),
        (0.04, "4.0 %"),
        (0.5, "50 %"),
        (0.9, "90 %"),
        (0.987, "98.7 %"),
        (0.9996, "99.9 %"),
        (1, "100 %"),
    ],
)
def test_percent(share: float | None, shown: str) -> None:
    assert percent(share) == shown


def test_other_words() -> None:
    assert [ratio(value) for value in (None, 1.04, 9.94, 9.96, 1234.0)] == [
        "-",
        "1.0x",
        "9.9x",
        "10x",
        "1,234x",
    ]
    assert [amount(value) for value in (0.004, 1.519, 16.62, 1240.4)] == ["0.004", "1.52", "16.6", "1,240"]
    assert band(Estimate(None, None, None, "unknown")) == "-"
    assert band(Estimate(0.5, 0.5, 0.5, "counted")) == "50"
    assert band(Estimate(0.987, 0.986, 0.992, "inferred")) == "98.6-99.2"
    assert [times(a, b) for a, b in ((None, 1), (1, None), (1, 0), (3, 2), (99, 1))] == [
        "-",
        "-",
        "-",
        "1.5x",
        "99x",
    ]
    assert [count(1, "layout"), count(3, "layout"), count(2861, "reply", "replies")] == [
        "1 layout",
        "3 layouts",
        "2,861 replies",
    ]


@given(st.text(alphabet="abc", max_size=40), st.integers(1, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    short = shorten(text, width)
    assert len(short) <= width
    assert short == text if len(text) <= width else "…" in short
