"""Layouts: where each part stands, and layout files of the user's own."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.errors import UsageError
from promptorder.inputs._layouts import find_layout
from promptorder.layouts import PLACEHOLDERS, REGISTRY, Layout, built_in_layout, parse_layout
from promptorder.model.prompt import Prompt

NOW = datetime(2026, 11, 30, 14, 3, 27)
BRACES = st.sampled_from(["{document}", "{question}", "{clock}", "{{", "}}", "{", "}", "{x}"])
TEXTS = st.lists(st.text(max_size=8) | BRACES, max_size=6).map("".join)


def build(layout: Layout, *, document: str = "DOC", rules: str = "RULES", nonce: str = "") -> Prompt:
    return layout.build(rules=rules, document=document, question="QUESTION", now=NOW, nonce=nonce)


def of(system: str = "", user: str = "{document} {question}") -> Layout:
    return Layout("mine", "", system, user)


def parse(text: str) -> Layout:
    return parse_layout(text, name="mine", path="mine.txt")


def located(prompt: Prompt) -> str:
    index, offset = prompt.document_start
    return prompt.messages[index].text[offset : offset + prompt.document_characters]


@pytest.mark.parametrize(
    ("name", "system", "user"),
    [
        ("static-first", "RULES", "DOC\n\nQuestion: QUESTION"),
        ("question-first", "RULES", "Question: QUESTION\n\nDOC"),
        ("clock-first", "Current time: 2026-11-30 14:03:27\nRULES", "DOC\n\nQuestion: QUESTION"),
        ("clock-last", "RULES", "DOC\n\nCurrent time: 2026-11-30 14:03:27\nQuestion: QUESTION"),
        ("clock-rounded", "Current date: 2026-11-30\nRULES", "DOC\n\nQuestion: QUESTION"),
    ],
)
def test_built_ins(name: str, system: str, user: str) -> None:
    prompt = build(built_in_layout(name))
    assert [(m.role, m.text) for m in prompt.messages] == [("system", system), ("user", user)]
    assert located(prompt) == "DOC"


def test_every_built_in_orders_as_its_summary_says() -> None:
    marks = {
        "rules": "RULES",
        "document": "DOC",
        "question": "QUESTION",
        "clock": "14:03:27",
        "date": "2026-11-30",
    }
    for name in REGISTRY.names():
        layout = built_in_layout(name)
        text = build(layout).text
        places = [text.index(marks[part]) for part in layout.summary.split(", ")]
        assert places == sorted(places), name


def test_only_a_clock_with_seconds_ticks() -> None:
    ticking = {name for name in REGISTRY.names() if built_in_layout(name).ticks}
    assert ticking == {"clock-first", "clock-last"}
    assert not of(system="{{clock}}").ticks


@given(TEXTS, TEXTS, st.sampled_from(REGISTRY.names()), st.sampled_from(["", "f00d"]))
def test_document_is_found_where_it_is_said_to_be(document: str, rules: str, name: str, nonce: str) -> None:
    prompt = build(built_in_layout(name), document=document, rules=rules, nonce=nonce)
    assert located(prompt) == document
    assert prompt.document_characters == len(document)


@given(TEXTS, st.text(alphabet="ab{}\n ", max_size=12), st.text(alphabet="ab{}\n ", max_size=12))
def test_document_is_found_between_any_words(document: str, before: str, after: str) -> None:
    prompt = build(of(user=f"{before}: {{document}} {after}"), document=document)
    assert located(prompt) == document


@pytest.mark.parametrize("document", ["{question}", "{clock} {nobody}", "{{", "}}", '{"a": {}}', "{"])
def test_braces_of_a_document_stay_text(document: str) -> None:
    assert build(of(), document=document).messages[0].text == f"{document} QUESTION"
    assert build(of(system="{rules}"), rules=document).messages[0].text == document


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{question}}", "{question}"),
        ("{{{question}}}", "{QUESTION}"),
        ('JSON: {"a": 1, "b": {} }', 'JSON: {"a": 1, "b": {} }'),
        ('JSON: {"b": {"c": 2}}', 'JSON: {"b": {"c": 2}'),  # two that stand together are one, always
        ("{{}}", "{}"),
        ("{ question }", "{ question }"),
        ("{date}|{clock}", "2026-11-30|2026-11-30 14:03:27"),
    ],
)
def test_braces_in_a_layout(template: str, shown: str) -> None:
    assert build(of(system=template)).messages[0].text == shown


def test_an_empty_section_sends_no_message() -> None:
    for layout, rules in ((of(), "RULES"), (of(system="{rules}"), "")):
        prompt = build(layout, rules=rules)
        assert [message.role for message in prompt.messages] == ["user"]
        assert prompt.document_start == (0, 0)


def test_the_first_of_two_documents_counts() -> None:
    assert build(of(user="a {document} {document} {question}")).document_start == (0, 2)
    assert build(of(system="b: {document}", user="{document} {question}")).document_start == (0, 3)


def test_nonce_is_the_very_first_text_and_stands_once() -> None:
    for name in REGISTRY.names():
        prompt = build(built_in_layout(name), nonce="f00d")
        assert prompt.text.startswith("f00d\n")
        assert prompt.text.count("f00d") == 1
    alone = build(of(), nonce="f00d")
    assert alone.messages[0].text == "f00d\nDOC QUESTION"
    assert alone.document_start == (0, 5)


def test_fingerprint_of_a_prompt_tells_texts_and_roles_apart() -> None:
    prompts = [build(of()), build(of(), document="DOK"), build(of("{document}", "{question}"))]
    assert len({prompt.sha256 for prompt in prompts}) == 3
    assert build(of()).sha256 == prompts[0].sha256
    assert len(build(of(), document="\ud800").sha256) == 64


def test_layout_file() -> None:
    layout = parse(
        "# Ours, as in production.\n# More.\n\n[system]\n{rules}\n\n[user]\n\n{document}\n# {question}\n\n"
    )
    assert layout.name == "mine"
    assert layout.summary == "Ours, as in production."
    assert layout.system == "{rules}"
    assert layout.user == "{document}\n# {question}"


def test_layout_file_may_lack_a_section_or_turn_them_round() -> None:
    assert parse("[user]\n{document}{question}").system == ""
    turned = parse("[user]\n{question}\n[system]\n{document}\n")
    assert [message.text for message in build(turned).messages] == ["DOC", "QUESTION"]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{document}", "mine.txt:1: text before the first section", "[system] or [user]"),
        ("# a\n\nwords\n[user]", "mine.txt:3: text before the first section", "comments"),
        ("[user]\n{document}\n[user]\n", "mine.txt:3: a second [user] section", "keep one"),
        ("[system]\n[user]\n[system]\n", "mine.txt:3: a second [system] section", "keep one"),
        ("", "mine.txt: no section", "[user]"),
        ("# only words\n", "mine.txt: no section", "[user]"),
        ("[user]\n{question}", "mine.txt: the placeholder {document} is missing", "put {document}"),
        ("[user]\n{document}", "mine.txt: the placeholder {question} is missing", "put {question}"),
        (
            "[user]\n{document}{{question}}",
            "mine.txt: the placeholder {question} is missing",
            "put {question}",
        ),
        (
            "[user]\n{document}{qestion}",
            "unknown placeholder {qestion} in section [user]",
            "did you mean {question}?",
        ),
        ("[system]\n{zzz}\n[user]\n{document}", "unknown placeholder {zzz} in section [system]", "{clock}"),
    ],
)
def test_errors_of_a_layout_file(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert hint in caught.value.hint


def test_a_suggestion_only_where_one_is_near() -> None:
    with pytest.raises(UsageError) as caught:
        parse("[user]\n{zzz}")
    assert "did you mean" not in caught.value.hint
    assert all(f"{{{name}}}" in caught.value.hint for name in PLACEHOLDERS)
    assert "{{ and }}" in caught.value.hint


@given(st.text(alphabet=st.sampled_from("[]systemuer{}documentq#\n \r\u2028")))
def test_any_file_is_a_layout_or_a_usage_error(text: str) -> None:
    try:
        layout = parse(text)
    except UsageError as error:
        assert error.hint
    else:
        assert located(build(layout)) == "DOC"


def test_find_layout_by_name_or_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours").write_text("[user]\n{document}{question}", encoding="utf-8")
    Path("bom.txt").write_text("\ufeff[user]\r\n{document}{question}\r\n", encoding="utf-8", newline="")
    assert find_layout("static-first") is built_in_layout("static-first")
    assert find_layout("ours").name == "ours"
    assert find_layout(str(tmp_path / "bom.txt")).user == "{document}{question}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("static-frist", "there is no layout named 'static-frist'"),
        ("missing.txt", "cannot read the layout file missing.txt: No such file"),
        ("./", "cannot read the layout file ./: Is a directory"),
        ("latin.txt", "cannot read the layout file latin.txt: it is not UTF-8 text"),
    ],
)
def test_layouts_that_cannot_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.txt").write_bytes(b"[user]\n\xe4")
    with pytest.raises(UsageError) as caught:
        find_layout(name)
    assert message in str(caught.value)
    assert caught.value.hint
