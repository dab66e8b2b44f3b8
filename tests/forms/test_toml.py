"""TOML: prompts under keys, and where their text stands."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linted import RULES, found, prompts

from promptorder.forms import FormError

NAMED, CLOCK = "clock-variable", "template-clock"
ONE_LINE = " ".join(RULES.split())

CHANGING = {
    "several lines": (f'[desk]\nprompt = """\nAt {{clock}}\n{RULES}"""\n', [(3, NAMED)]),
    "several lines as they are": (f"system_prompt = '''At {{{{ now }}}}\n{RULES}'''\n", [(1, CLOCK)]),
    "one line": (f'prompt = "At {{clock}}. \\"{ONE_LINE}\\""\n', [(1, NAMED)]),
    "as it is": (f"prompt = 'At {{clock}}. {ONE_LINE}'\n", [(1, NAMED)]),
    "system after user": (
        f'[p]\nuser = "{{question}}"\nsystem = """At {{clock}}\n{RULES}"""\n',
        [(3, NAMED)],
    ),
    "messages": (
        f'[[messages]]\nrole = "system"\ncontent = """\nAt {{clock}}\n{RULES}"""\n'
        f'\n[[messages]]\nrole = "user"\ncontent = "{{q}}"\n',
        [(4, NAMED)],
    ),
    "inline": (
        f'messages = [\n  {{ role = "system", content = "At {{clock}}. {ONE_LINE}" }},\n]\n',
        [(2, NAMED)],
    ),
    "dotted": (f'desk.system = """\nAt {{clock}}\n{RULES}"""\n', [(2, NAMED)]),
    "lists in lists": (f'a = [[1, 2], ["x"]]\nprompt = """At {{clock}}\n{RULES}"""\n', [(2, NAMED)]),
    "other line ends": (f'prompt = """\nAt {{clock}}\n{RULES}"""\n'.replace("\n", "\r\n"), [(2, NAMED)]),
    "a literal clock": (
        f'prompt = """\nCurrent time: 2026-03-14T09:26:53Z\n{RULES}"""\n',
        [(2, "timestamp")],
    ),
}

CLEAN = {
    "clock last": f'prompt = """\n{RULES}At {{clock}}\n"""\n',
    "metadata": f'created = 2026-03-14T09:26:53Z\nversion = "2026-03-14 09:26:53"\nprompt = """\n{RULES}"""\n',
    "a project": '[project]\nname = "tea"\ndescription = "You are here. Always answer."\n'
    '[tool.x]\nmessage_template = "{clock} bump"\n',
    "a comment": f'# prompt = "At {{clock}} {ONE_LINE}"\nprompt = """\n{RULES}"""\n',
}


@pytest.mark.parametrize(("text", "expected"), CHANGING.values(), ids=CHANGING)
def test_what_changes_is_found(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text, "toml", "desk.toml") == expected


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_what_stays_is_left_alone(text: str) -> None:
    assert found(text, "toml", "desk.toml") == []


def test_places_of_escapes() -> None:
    text = 'prompt = "\\u8336 a\\t{clock}\\n b \\U0001F375"\n'
    (prompt,) = prompts(text, "toml", "a.toml")
    assert "".join(s.text for s in prompt.segments) == "茶 a\t{clock}\n b 🍵"
    head, now, tail = prompt.segments
    assert text[now.start : now.end] == "{clock}"
    assert text[head.place(2)] == "a"
    assert text[tail.place(2)] == "b"


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nprompt = \n", 2), ('prompt = "a\n', 1), ("prompt = 1\nprompt = 2\n", 2),
     ("prompt = " + "[" * 4000, None)]
)  # fmt: skip
def test_what_breaks_the_form_is_refused(text: str, line: int | None) -> None:
    with pytest.raises(FormError) as caught:
        prompts(text, "toml", "a.toml")
    assert caught.value.line == line or line is None


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["prompt", " = ", '"', '"""', "'''", "'", "[", "]", "[[", "]]", "{", "}", ",", "\n", "a",
             ".", "#", "\\", "\\u8336", "1", "茶"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_no_text_breaks_the_reader(words: list[str]) -> None:
    with contextlib.suppress(FormError):
        prompts("".join(words), "toml", "prompts.toml")
