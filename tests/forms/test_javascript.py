"""JavaScript and TypeScript: what changes, where it goes into a prompt, and what is no prompt.

In the cases beside this file ``RULES`` is a constant of seven lines; ``@rule@`` marks a line on which that rule reports.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linted import RULES, found, prompts

from promptorder.forms import FormError

HEAD = f"const RULES = `{RULES}`;\n"
MARK = re.compile(r"@([a-z-]+)@")


def expected(code: str) -> tuple[str, list[tuple[int, str]]]:
    """The code without its marks, and what they say."""
    lines = [(number, name) for number, line in enumerate(code.split("\n"), 1) for name in MARK.findall(line)]
    return MARK.sub("", code), lines


def cases(name: str) -> dict[str, str]:
    """The programs of a file, by name."""
    text = Path(__file__).with_name(f"javascript_{name}.txt").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("=== ")[1:])
    return {title: code.rstrip("\n") for title, _, code in parts}


CHANGING, CLEAN = cases("changing"), cases("clean")


@pytest.mark.parametrize("code", CHANGING.values(), ids=CHANGING)
@pytest.mark.parametrize("suffix", ["ts", "tsx"])
def test_what_changes_is_found(code: str, suffix: str) -> None:
    text, marks = expected(HEAD + code)
    assert found(text, "javascript", f"src/desk.{suffix}") == marks


@pytest.mark.parametrize("code", CLEAN.values(), ids=CLEAN)
def test_what_stays_is_left_alone(code: str) -> None:
    assert found(HEAD + code, "javascript", "src/desk.ts") == []


def test_an_attribute_of_an_element() -> None:
    code = HEAD + "export const Chat = () => <Desk instructions={`Now ${new Date()}. ${RULES}`} />;"
    assert found(code, "javascript", "src/desk.tsx") == [(9, "clock-call")]


def test_how_often_it_changes() -> None:
    code = HEAD + (
        "const made = new Date();\nexport const SYSTEM_PROMPT = `At ${made}. ${RULES}`;\n"
        "export const systemPrompt = () => `On ${new Date().toDateString()}. ${RULES}`;\n"
    )
    changing = [
        s.changes for p in prompts(code, "javascript", "a.ts") for s in p.segments if s.kind == "clock-call"
    ]
    assert changing == ["process", "day"]


def test_places_behind_characters_of_several_bytes() -> None:
    code = "// čaj 茶 🍵\n" + HEAD + "export const prompt = () => `茶 \\u8336 \\n${new Date()} ${RULES}`;\n"
    prompt = prompts(code, "javascript", "a.js")[-1]
    clock = next(s for s in prompt.segments if s.kind == "clock-call")
    assert code[clock.start : clock.end] == "new Date()"
    head = prompt.segments[0]
    assert head.text == "茶 茶 \n"
    assert code[head.place(2) :].startswith("\\u8336")
    assert code[head.place(4) :].startswith("\\n$")


@pytest.mark.parametrize("path", ["a.test.ts", "src/a.spec.js", "src/__tests__/a.ts", "a.d.ts", "a.min.js"])
def test_tests_and_bundles_are_no_prompts(path: str) -> None:
    assert prompts(HEAD + "export const prompt = () => `${new Date()} ${RULES}`;", "javascript", path) == []


def test_a_program_that_breaks_off_names_its_line() -> None:
    with pytest.raises(FormError) as caught:
        prompts("const a = 1;\n" * 20 + "const role: = {{{ prompt ( `${\n", "javascript", "a.js")
    assert caught.value.line == 21


def test_constants_that_double_end() -> None:
    lines = ["const a0 = `You are kind. ${new Date()}`;"]
    lines += [f"const a{n} = a{n - 1} + a{n - 1};" for n in range(1, 60)]
    prompts("\n".join([*lines, "export const systemPrompt = a59;"]), "javascript", "a.js")


@pytest.mark.parametrize(
    ("opening", "closing"), [("(", ")"), ("[", "]"), ("`${", "}`"), ("f(", ")"), ("{a: ", "}")]
)
def test_deep_nesting_is_bounded(opening: str, closing: str) -> None:
    text = HEAD + "const systemPrompt = " + opening * 5000 + "1" + closing * 5000 + ";\n"
    with contextlib.suppress(FormError):
        prompts(text, "javascript", "a.ts")


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            (
                "const |prompt| = |`|${|}|{|(|)|=>|role:|'system'|[|]|...|new Date()|.push(|\n|content:|"
                "messages|,|+|return |function |\\u{110000}|茶|\ud800|class |this.|.join(|/x/g"
            ).split("|")
        ),
        max_size=40,
    )
)  # fmt: skip
def test_no_text_breaks_the_reader(words: list[str]) -> None:
    with contextlib.suppress(FormError):
        prompts("const systemPrompt = `You are kind.`;\n" * 6 + "".join(words), "javascript", "a.ts")
