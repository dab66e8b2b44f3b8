"""Every reader against broken, nested and very long files: a FormError or prompts, in time, with places inside the text."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from cpu_time import collector_off, cpu_s
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from robust_samples import PATHS, SAMPLES

from promptorder.forms import REGISTRY, FormError
from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Source

FORMS = sorted(REGISTRY.names())
_RULES = Rules()
_RULE = "You look after the boats. Answer in two sentences and never lend the red boat to anybody. " * 4
_SETTINGS = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
_PIECES = st.sampled_from(
    [
        "{{", "}}", "{%", "%}", "{", "}", "${", "$", "<%=", "%>", "`", "```\n", '"', "'", '"""', "'''", "\\", "\\u", "#", "---\n",
        ":", "- ", "|\n", ">-\n", "&a ", "*a ", "<<: ", "[", "]", "(", ")", ",", "\n", "\r\n", "\r", "  ", "\t", "\0", "\ud800",
        "\u2028", "\x0b", "\x85", "\ufeff", "a\u0301", "now", "10:11:12", "2031-05-06", "today", "if", "else", "end", "for", "=>",
        "raw", "SYSTEM ", "TEMPLATE ", "role", "system", "content", "messages", "1", "e9", "::\n\n  ", "user:\n", "/", "=", "!",
    ]
)  # fmt: skip


def _found(form: str, text: str) -> list[Finding]:
    """The findings, or none where the form's reader refuses the text; anything else that is raised is a fault."""
    source = Source(PATHS[form], form, text)
    try:
        prompts = list(REGISTRY.load(form).prompts(source))
    except FormError as error:
        assert error.line is None or 1 <= error.line <= text.count("\n") + text.count("\r") + 1
        return []
    for prompt in prompts:
        assert all(0 <= s.start <= s.end <= len(text) for s in prompt.segments)
    findings = list(lint(source, prompts, _RULES))
    assert all(f.line >= 1 and f.column >= 1 for f in findings)
    return findings


def test_there_are_samples_of_every_form() -> None:
    assert sorted(SAMPLES) == sorted(PATHS) == FORMS


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_is_read(form: str) -> None:
    for text in SAMPLES[form]:
        list(REGISTRY.load(form).prompts(Source(PATHS[form], form, text)))


@pytest.mark.parametrize("form", FORMS)
@_SETTINGS
@given(st.lists(_PIECES | st.text(max_size=8), max_size=60).map("".join))
def test_words_of_its_syntax_in_any_order(form: str, text: str) -> None:
    _found(form, text)


@pytest.mark.parametrize("form", FORMS)
@_SETTINGS
@given(st.data())
def test_a_file_that_was_cut_and_joined(form: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SAMPLES[form]))
    for _ in range(data.draw(st.integers(1, 4))):
        at, to = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        text = text[:at] + data.draw(_PIECES | st.just(text[at:to] * 2)) + text[to:]
    _found(form, text)


@pytest.mark.parametrize("form", FORMS)
@_SETTINGS
@given(st.binary(max_size=200))
def test_bytes_of_any_kind(form: str, data: bytes) -> None:
    _found(form, data.decode("latin-1"))
    _found(form, data.decode("utf-8", "surrogateescape"))


BOMBS: dict[str, tuple[str, Callable[[int], str]]] = {
    "JSON in JSON": ("json", lambda n: '{"a":' * n),
    "lists of lists": (
        "json",
        lambda n: '{"model": "m", "stream": true, "messages": ' + "[" * n + "]" * n + "}",
    ),
    "a line of a log": ("jsonl", lambda n: '{"a":' * n + "\n"),
    "a number without end": ("json", lambda n: '{"model": "m", "prompt": "a", "n": ' + "9" * n + "}"),
    "YAML in flow style": ("yaml", lambda n: "a: " + "{a: " * n + "}" * n),
    "YAML that goes in": ("yaml", lambda n: "".join(" " * k + "a:\n" for k in range(min(n, 2000)))),
    "aliases of aliases": (
        "yaml",
        lambda n: (
            "a0: &a0 x\n"
            + "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 60))
            + "prompt: *a59\n"
        ),
    ),
    "merges of merges": (
        "yaml",
        lambda n: (
            "a0: &a0 {k: v}\n"
            + "".join(f"a{k}: &a{k} {{<<: *a{k - 1}, b{k}: *a{k - 1}}}\n" for k in range(1, 60))
        ),
    ),
    "TOML arrays": ("toml", lambda n: "a = " + "[" * n + "]" * n),
    "TOML tables": ("toml", lambda n: "[" + "a." * n + "b]\nc = 1\n"),
    "loops in loops": ("jinja", lambda n: "{% for m in messages %}" * n + "{% endfor %}" * n),
    "parentheses of Jinja": ("jinja", lambda n: "{{ " + "(" * n + "1" + ")" * n + " }}"),
    "sections in sections": ("mustache", lambda n: "{{#a}}" * n + "{{/a}}" * n),
    "parentheses of Python": ("python", lambda n: "prompt = " + "(" * n + "1" + ")" * n + "\n"),
    "sums of Python": ("python", lambda n: "prompt = " + "'You are a clerk. ' + " * n + "''\n"),
    "calls of calls": ("python", lambda n: "prompt = " + "f(" * n + "'You are'" + ")" * n + "\n"),
    "templates in templates": (
        "javascript",
        lambda n: "const prompt = " + "`You are ${" * n + "1" + "}`" * n + ";\n",
    ),
    "sums of JavaScript": (
        "javascript",
        lambda n: "const prompt = " + "'You are a clerk. ' + " * n + "'';\n",
    ),
    "functions in functions": (
        "javascript",
        lambda n: "const prompt = " + "() => " * n + "'You are a clerk';\n",
    ),
    "ifs of a Modelfile": ("modelfile", lambda n: 'FROM m\nTEMPLATE """' + "{{ if .A }}" * n + '"""\n'),
}


@pytest.mark.parametrize(("form", "bomb"), BOMBS.values(), ids=BOMBS)
def test_nesting_is_refused_or_read_in_time(form: str, bomb: Callable[[int], str]) -> None:
    started = time.process_time()
    _found(form, bomb(20_000))
    assert time.process_time() - started < 15


def test_a_grammar_that_never_ends_is_stopped() -> None:
    broken = (
        "impnrt { v4 as uuid }s\x01\0\0\0\0\0\0\0 = [`${t} ${uuid()}`, R].join('\\n');\n  return { messages: [{ \x01\0\0\0(5, 10);\n"
        "  const system = [`${t}}, ...h, { role: 'user', content: q ?? `x}{`$}t ] };\n};\n"
    )
    started = time.process_time()
    _found("javascript", broken)
    assert time.process_time() - started < 5


HOSTILE = {
    "braces": "{{", "a brace": "{", "tags": "{% if a %}", "values": "{{now}} ", "escapes": "\\{{", "backslashes": "\\", "backticks": "`",
    "quotes": '"', "dates": "2031-05-06 ", "clocks": "10:11:12 ", "cues": "now ", "hex": "0123456789abcdef", "dashes": "a-",
    "ids": "req 3b241101-e2bb-4255-8caf-4136c566a962 ", "spaces": " ", "lines": "\n", "returns": "\r", "blank lines": " \n",
    "headings": "# a\n", "keys": "a: ", "folders": "folder /home/a ", "sessions": "session aA1b", "headers": "x-a-header: ",
    "steps": "step 1 of 3 ", "questions": "Question: a\nAnswer: b\n", "sections": "{{#if a}}x{{else}}y{{/if}}",
    "loops": "{% for m in messages %}{{ m.content }}{% endfor %}", "macros": "{% macro m() %}{{ now() }}{% endmacro %}{{ m() }}",
    "fences": "```\n", "NULs": "\0", "half characters": "\ud800", "paths": "/tmp/a/", "dollars": "$a ", "colons": "::\n\n  a",
}  # fmt: skip


@pytest.mark.parametrize("form", ["text", "markdown", "jinja", "mustache", "prompty", "modelfile"])
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_size_and_not_with_its_square(form: str, unit: str) -> None:
    with collector_off():
        small, large = (_cpu_s(form, unit * size + "\n" + _RULE) for size in (1500, 6000))
    assert large < 0.4 or large < 8 * small, (small, large)


@pytest.mark.parametrize("form", FORMS)
def test_a_line_of_ten_megabytes(form: str) -> None:
    text = SAMPLES[form][0].rstrip("\n") + "lorem ipsum dolor sit amet " * 380_000
    assert _cpu_s(form, text) < 20


def _cpu_s(form: str, text: str) -> float:
    return cpu_s(lambda: _found(form, text))


SEPARATORS = ("\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\x1e", "\0")


@pytest.mark.parametrize("separator", SEPARATORS, ids=[f"U+{ord(s):04X}" for s in SEPARATORS])
@pytest.mark.parametrize("form", ["text", "markdown", "jinja", "mustache", "prompty"])
def test_what_looks_like_a_line_end_and_is_none_moves_no_line(form: str, separator: str) -> None:
    head = "---\nname: a\nmodel:\n  api: chat\n---\nsystem:\n" if form == "prompty" else ""
    text = f"{head}You sort{separator} mail.{separator}\nThe time is now {{{{ now }}}}.\n{_RULE}\n"
    assert {f.line for f in _found(form, text)} == {head.count("\n") + 2}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_each_kind_of_line_end_counts_once(end: str) -> None:
    text = end.join(["You sort mail.", "", "The time is now 10:11:12.", _RULE])
    assert [(f.line, f.column) for f in _found("text", text)] == [(3, 17)]
