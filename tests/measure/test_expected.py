"""What prompts share, worked out from their texts."""

from __future__ import annotations

import os
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.layouts import REGISTRY, built_in_layout
from promptorder.measure.expected import Rendered, expectations, locate
from promptorder.model.comparison import Expectation
from promptorder.model.engine import TokenCount
from promptorder.model.prompt import Message, Prompt

TEXTS = st.lists(st.text(alphabet="abc", max_size=30), min_size=1, max_size=5)


def length(text: str) -> TokenCount:
    return TokenCount(len(text), True)


def prefix(a: str, b: str) -> str:
    return os.path.commonprefix([a, b])  # noqa: RUF071 - of characters, not of paths


def whole(texts: list[str]) -> list[TokenCount]:
    return [length(text) for text in texts]


def expect(texts: list[str]) -> list[Expectation]:
    return expectations([Rendered(text, 0, len(text)) for text in texts], length, whole(texts))


@given(TEXTS)
def test_shared_start_is_the_longest_with_any_earlier_prompt(texts: list[str]) -> None:
    for number, each in enumerate(expect(texts)):
        longest = max((len(prefix(texts[number], e)) for e in texts[:number]), default=0)
        assert each.shared_tokens == min(longest, len(texts[number]) - 1)


@given(st.text(), st.text(), st.text())
def test_shared_start_of_any_characters(start: str, one: str, other: str) -> None:
    a, b = f"a{start}{one}", f"a{start}{other}"
    assert expect([a, b])[1].shared_tokens == min(len(prefix(a, b)), len(b) - 1)


def test_one_token_is_always_read() -> None:
    assert [each.shared_tokens for each in expect(["abc", "abc", "abcd"])] == [0, 2, 3]


def test_the_first_prompt_shares_nothing() -> None:
    assert expect(["abc"]) == [Expectation(3, 0, 0, 3, exact=True)]


def test_where_the_document_stands_in_tokens() -> None:
    [each] = expectations([Rendered("rules DOCUMENT question", 6, 14)], length, [TokenCount(23, True)])
    assert (each.before_document_tokens, each.document_tokens) == (6, 8)


def test_a_document_has_a_token_at_least() -> None:
    [each] = expectations([Rendered("rules", 5, 5)], length, [TokenCount(5, True)])
    assert each.document_tokens == 1


def test_an_estimate_is_called_one() -> None:
    [each] = expectations([Rendered("ab", 0, 1)], length, [TokenCount(2, False)])
    assert not each.exact


def test_a_whole_prompt_is_not_counted_as_text() -> None:
    asked: list[str] = []

    def count(text: str) -> TokenCount:
        asked.append(text)
        return length(text)

    expectations(
        [Rendered("abc", 0, 3), Rendered("abcd", 1, 2)], count, [TokenCount(9, True), TokenCount(11, True)]
    )
    assert asked == ["abc", "a", "ab"], "neither the empty text nor the whole one"


def prompt_of(name: str, document: str) -> Prompt:
    layout = built_in_layout(name)
    return layout.build(rules="RULES", document=document, question="Q?", now=datetime(2026, 11, 30))


@given(st.text(min_size=1).filter(str.strip), st.sampled_from(REGISTRY.names()))
def test_document_is_located_without_a_rendering(document: str, name: str) -> None:
    prompt = prompt_of(name, document)
    text, start, end = locate(prompt, None)
    assert text == prompt.text
    assert text[start:end] == document


@given(st.text(alphabet="dcD \n", min_size=1).filter(str.strip), st.sampled_from(REGISTRY.names()))
def test_document_is_located_in_a_rendering(document: str, name: str) -> None:
    prompt = prompt_of(name, document)
    # Templates strip the white space around a message
    rendered = "".join(f"<|{m.role}|>\n{m.text.strip()}<|end|>\n" for m in prompt.messages)
    text, start, end = locate(prompt, rendered)
    assert text == rendered
    assert text[start:end] == document.strip()


def test_a_rendering_without_the_document_gives_a_place_inside_it() -> None:
    prompt = Prompt((Message("system", "RULES"), Message("user", "DOCUMENT Q?")), (1, 0), 8)
    for rendered in ("", "xx", "something else altogether"):
        text, start, end = locate(prompt, rendered)
        assert text == rendered
        assert 0 <= start <= end <= len(text)


@pytest.mark.parametrize(("name", "all_shared"), [("static-first", True), ("question-first", False)])
def test_layouts_differ_in_what_they_share(name: str, all_shared: bool) -> None:
    layout = built_in_layout(name)
    now = datetime(2026, 11, 30)
    document = "D" * 500
    prompts = [layout.build(rules="R", document=document, question=q, now=now) for q in ("one?", "two?")]
    rendered = [locate(prompt, None) for prompt in prompts]
    each = expectations(rendered, length, [length(prompt.text) for prompt in prompts])[1]
    assert each.before_document_tokens is not None
    assert each.document_tokens is not None
    assert (each.shared_tokens >= each.before_document_tokens + each.document_tokens) is all_shared
    assert (each.shared_tokens <= each.before_document_tokens) is not all_shared
