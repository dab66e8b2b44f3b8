"""Modelfiles: what the template reads anew, and what was written into the model once."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linted import RULES, found, prompts

from promptorder.forms import FormError

CLOCK = "template-clock"
SYSTEM = f'SYSTEM """{RULES}"""\n'
TURNS = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}"

CHANGING = {
    "date before the system text": (
        'FROM m\nTEMPLATE """Today {{ currentDate }}\n{{ .System }}\n{{ .Prompt }}"""\n' + SYSTEM,
        [(2, CLOCK)],
    ),
    "date before the template's own text": (
        f'FROM m\nTEMPLATE """{{{{ currentDate }}}}\n{RULES}{{{{ .Prompt }}}}"""\n',
        [(2, CLOCK)],
    ),
    "date before the history": (
        'FROM m\nTEMPLATE """{{- if .System }}Date: {{ currentDate }}\n{{ .System }}{{ end }}'
        + TURNS
        + '"""\n',
        [(2, CLOCK)],
    ),
    "small letters": (
        'from m\nsystem """' + RULES + '"""\ntemplate "{{ currentDate }} {{ .System }} {{ .Prompt }}"\n',
        [(10, CLOCK)],
    ),
}

CLEAN = {
    "a date in the system text": f'FROM m\nSYSTEM """Today is Saturday 14 March 2026, 09:26:53.\n{RULES}"""\n',
    "a clock in an example": "FROM m\n" + SYSTEM
    + 'MESSAGE user At 2026-03-14T09:26:53Z, which tea?\nMESSAGE assistant Sencha.\n',
    "a placeholder that nobody fills in": f'FROM m\nSYSTEM """Now {{{{ now }}}}\n{RULES}"""\n',
    "no date": 'FROM m\nTEMPLATE """{{ .System }}\n{{ .Prompt }}"""\n' + SYSTEM,
    "date last": 'FROM m\nTEMPLATE """{{ .System }}\n{{ .Prompt }} ({{ currentDate }})"""\n' + SYSTEM,
    "one line": "FROM m\nPARAMETER temperature 0.2\nSYSTEM You are kind at 09:26:53.\n",
    "a comment": "# SYSTEM {{ currentDate }}\nFROM m\n" + SYSTEM,
    "nothing": "FROM m\nPARAMETER stop \"<|end|>\"\n",
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CHANGING.values(), ids=CHANGING)
def test_what_changes_is_found(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text, "modelfile", "Modelfile") == expected


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_what_stays_is_left_alone(text: str) -> None:
    assert found(text, "modelfile", "Modelfile") == []


def test_the_order_of_the_model() -> None:
    text = (
        'FROM m\nMESSAGE user Which tea?\nMESSAGE assistant """Sencha.\nOr mint."""\n'
        'TEMPLATE """<s>{{ .System }}' + TURNS + '"""\n'
        'SYSTEM "You are kind."\n'
    )  # fmt: skip
    (prompt,) = prompts(text, "modelfile", "Modelfile")
    shown = [s.text for s in prompt.segments if s.origin == "static" and s.text.strip("<|>")]
    assert shown == ["s>".join(["<", ""]), "You are kind.", "Which tea?", "Sencha.\nOr mint."]
    assert all(text[s.start : s.end] == s.text for s in prompt.segments)


def test_the_last_system_text_counts() -> None:
    (prompt,) = prompts("FROM m\nSYSTEM one\nSYSTEM two\n", "modelfile", "Modelfile")
    assert [s.text for s in prompt.segments] == ["two"]


def test_a_text_that_does_not_end_names_its_line() -> None:
    with pytest.raises(FormError) as caught:
        prompts('FROM m\n\nSYSTEM """You are\n', "modelfile", "Modelfile")
    assert caught.value.line == 3


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["FROM m", "SYSTEM ", "TEMPLATE ", "MESSAGE ", "user ", '"""', '"', "\n", "{{", "}}", "{{ .System }}",
             "{{ currentDate }}",
             "range .Messages", "#", "茶", "\r", "\ud800"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_no_text_breaks_the_reader(words: list[str]) -> None:
    with contextlib.suppress(FormError):
        prompts("".join(words), "modelfile", "Modelfile")
