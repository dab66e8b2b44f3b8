"""Python: whatever stands in the file, the reader says what it is or that it cannot read it, and soon."""

from __future__ import annotations

import time
from textwrap import dedent

import pytest
from cpu_time import collector_off, cpu_s
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_python import BAD, FINE, HEAD, RULES

from promptorder.forms import FormError, python
from promptorder.forms._python_strings import Field, parts
from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Prompt, Segment, Source

PROGRAMS = [HEAD + RULES + dedent(p) for p in [case[0] for case in BAD.values()] + list(FINE.values())]


def read(text: str) -> list[Prompt]:
    return list(python.prompts(Source("program.py", "python", text)))


def quietly(text: str) -> None:
    try:
        prompts = read(text)
    except FormError as error:
        assert error.line is None or error.line >= 1
        return
    for prompt in prompts:
        for segment in prompt.segments:
            assert 0 <= segment.start <= segment.end <= len(text)
            assert 0 <= segment.place(max(0, len(segment.text) - 1)) <= len(text)


@pytest.mark.parametrize("text", PROGRAMS)
def test_line_ends_move_nothing(text: str) -> None:
    rules = Rules()
    lines = []
    for end in ("\n", "\r\n", "\r"):
        source = Source("p.py", "python", text.replace("\n", end))
        lines.append([(f.line, f.column, f.name) for f in lint(source, read(source.text), rules)])
    assert lines[0] == lines[1] == lines[2]


def test_a_line_that_is_no_python_is_named() -> None:
    with pytest.raises(FormError) as caught:
        read('prompt = "You are a warden {x}."\n' * 20 + "def prompt(:\n")
    assert caught.value.line == 21


def test_a_program_in_a_newer_syntax_is_still_searched() -> None:
    text = (
        HEAD
        + 'SYSTEM_PROMPT = f"""It is {datetime.now()}.\n'
        + "Be brief and kind to all. " * 20
        + '"""\nlazy import os\n'
    )
    found: list[Finding] = []
    with pytest.raises(FormError) as caught:
        for prompt in python.prompts(Source("p.py", "python", text)):
            found.extend(lint(Source("p.py", "python", text), [prompt], Rules()))
    assert caught.value.line == 5
    assert [(f.name, f.line) for f in found] == [("clock-call", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "prompt = '" + "\0" * 300 + "'",
        "prompt = '\ud800" + "You are " * 40 + "{x}'",
        "prompt = " + "(" * 5000 + ")" * 5000,
        "prompt = " + "[" * 150 + "]" * 150 + "\n#" + "{x} " * 99,
        "prompt = " + " + ".join(["'You are a warden {x}'"] * 20_000),
        "prompt = " + "f(" * 90 + "'You are {x}'" + ")" * 90 + "#" * 200,
        "prompt = " + "-" * 20_000 + "1",
        "prompt = " + "x." * 3000 + "y",
        "prompt = 'You are a {x}'\n" + "prompt = prompt + prompt\n" * 200,
        "prompt = ['You are a {x}']\n" + "prompt = [prompt, prompt]\n" * 200,
        "prompt = {'role': 'You are a {x}'}\n" + "prompt = {'a': prompt, 'b': prompt}\n" * 200,
        "prompt = 'You are {x}'\n" + "prompt = f'{prompt}{prompt}'\n" * 200,
        "def prompt(x):\n    return prompt(x) + 'You are {x}' + other(x)\ndef other(x): return prompt(x)\n"
        * 40,
        "\n".join(
            f"def p{i}(x): return p{i + 1}(x) + p{i + 1}(x) + 'You are a prompt {{x}}'" for i in range(60)
        ),
        "prompt = ''\nif a: prompt = 'You are {x}'\n" + "elif b: prompt = f'You are {y}'\n" * 4000,
        "prompt = [[[[(a, b, c, 'You are {x}') for a in L] for b in L] for c in L] for d in L]\n".replace(
            "L", str(list(range(60)))
        ),
        "class prompt(prompt):\n    system = 'You are {x}' * 40\nclass A(B): pass\nclass B(A): pass\n" * 20,
        "prompt = f'" + "{f'" * 1 + "{x}" + "'}" * 1 + " You are a warden'" + "#" * 200,
        "prompt = f'{x!r:>{width}} {y=} {{z}} You are a warden'" + "#" * 200,
        "prompt = '\\N{DASH} \\x41 \\u0041 \\q \\\n You are {x}' f'{a}' \"b\"" + "#" * 200,
        "prompt = 'You are %s %(x)s %' % a % (b, c) % {'x': d}" + "#" * 200,
        "prompt = 'You are {} {1} {x.y[0]} {'.format(*a, **b)" + "#" * 200,
    ],
    ids=range(22),
)
def test_what_is_odd_or_deep_is_read_or_refused(text: str) -> None:
    begun = time.process_time()
    quietly(text)
    assert time.process_time() - begun < 5


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_broken_programs(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(PROGRAMS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        upto = data.draw(st.integers(at, min(len(text), at + 12)))
        new = data.draw(st.text("{}()[]\"'\\\n\r\t f%$:!=+.,*#abé😀\x00\ud800", max_size=4))
        text = text[:at] + new + text[upto:]
    quietly(text)


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("'a\\n' 'b'", ["a\n", "b"]),
        ("'''a\r\nb'''", ["a\nb"]),
        ("r'a\\n'", ["a\\n"]),
        ("f'a{{b}}{c}d'", ["a{b}", "<c>", "d"]),
        ("f'{x!r:>10}{y:%H:%M}'", ["<x>", "<y>"]),
        ("f'{d[\"k\"]}{a if b else c}'", ['<d["k"]>', "<a if b else c>"]),
        ("rf'\\d{x}'", ["\\d", "<x>"]),
        ("f'{x=}'", ["<x>"]),
        ("f'{a != b}{(lambda: 1)()}'", ["<a != b>", "<(lambda: 1)()>"]),
        ("f'\\N{DASH}{x}'", ["\\N{DASH}", "<x>"]),
        ("f'''{\nx\n}'''", ["<\nx\n>"]),
        ("('a'  # first\n 'b')", ["a", "b"]),
        ("f'{a in\"bc\"}d'", ['<a in"bc">', "d"]),
        ("b'a'", []),
    ],
)
def test_literals(literal: str, expected: list[str]) -> None:
    found = [
        part.text if isinstance(part, Segment) else f"<{literal[part.start : part.end]}>"
        for part in parts(literal, 0, len(literal))
    ]
    assert found == expected
    assert all(isinstance(part, Segment | Field) for part in parts(literal, 0, len(literal)))


def test_escapes_keep_their_place() -> None:
    literal = r"'a\tb\x41c\u0042d'"
    (part,) = parts(literal, 0, len(literal))
    assert isinstance(part, Segment)
    assert part.text == "a\tbAcBd"
    assert [literal[part.place(i)] for i in range(7)] == ["a", "\\", "b", "\\", "c", "\\", "d"]


def test_a_program_without_prompts_is_not_even_parsed() -> None:
    assert not python.could_hold_a_prompt("import os\n\n\ndef main():\n    print(os.getcwd())\n" * 50)
    assert read("def broken(:\n" * 100) == []


def test_twice_the_size_takes_twice_the_time() -> None:
    program = "".join(
        f'def prompt_{i}(question):\n    now = datetime.now()\n    return f"{{now}} {{RULES}}" + helper_{i}(question)\n'
        f"def helper_{i}(x):\n    return x.strip() + RULES\n"
        for i in range(300)
    )

    def took(times: int) -> float:
        return cpu_s(lambda: read(HEAD + RULES + program * times))

    with collector_off():
        once, four_times = (min(took(times) for _ in range(3)) for times in (1, 4))
    assert four_times < once * 8 + 0.2
