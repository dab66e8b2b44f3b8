"""Where an answer parts from the one to the same prompt asked cold."""

from __future__ import annotations

import pytest
from hand_made import counted, sample
from hypothesis import given
from hypothesis import strategies as st

from promptorder.measure.answers import answers_checked, first_difference
from promptorder.model.comparison import Estimate, LayoutResult, Verdict
from promptorder.model.sample import Check, Difference, Phase, Reply


def reply(*pieces: str, tokens: int | None = None) -> Reply:
    return Reply("".join(pieces), output_tokens=tokens, pieces=pieces)


WARM = ("It", " opened", " in", " 1907", ".")


@pytest.mark.parametrize(
    ("cold", "expected"),
    [
        (WARM, None),
        (("It", " opened", " in", " 1970", "."), Difference(15, 3)),
        (("She", " opened"), Difference(0, 0)),
        (("It", " opened"), Difference(9, 2)),  # where the first one goes on
        ((*WARM, " Yes"), Difference(18, 5)),  # where it had ended
        ((), Difference(0, 0)),
    ],
)
def test_the_first_difference(cold: tuple[str, ...], expected: Difference | None) -> None:
    for tokens in (len(WARM), len(WARM) + 1):  # the token that ends an answer may be counted
        assert first_difference(reply(*WARM, tokens=tokens), reply(*cold)) == expected


@pytest.mark.parametrize("tokens", [None, 3, 9])
def test_pieces_that_are_not_tokens_tell_none(tokens: int | None) -> None:
    assert first_difference(reply(*WARM, tokens=tokens), reply("It", " is")) == Difference(3, None)
    assert first_difference(Reply("It opened", output_tokens=2), Reply("It is")) == Difference(3, None)


@given(
    st.lists(st.text(min_size=1, max_size=4), max_size=6),
    st.lists(st.text(min_size=1, max_size=4), max_size=6),
)
def test_both_share_all_before_the_difference(a: list[str], b: list[str]) -> None:
    warm, cold = reply(*a, tokens=len(a)), reply(*b, tokens=len(b))
    found = first_difference(warm, cold)
    if found is None:
        assert warm.answer == cold.answer
        return
    at = found.character
    assert warm.answer[:at] == cold.answer[:at]
    assert warm.answer[at : at + 1] != cold.answer[at : at + 1]
    assert found.token is None or len("".join(a[: found.token])) <= at


def layout(name: str) -> LayoutResult:
    share = Estimate(0.95, 0.95, 0.95, "counted")
    return LayoutResult(name, Verdict.REUSED, share, 950, 1, 1, (1, 1), 1, counted(name, [950, 940]))


def test_each_layout_has_its_own() -> None:
    cold = sample(Phase.CHECK, 3, layout="b", answer="43.", prompt_tokens=1000)
    checked = type(cold)(
        **{**{f: getattr(cold, f) for f in cold.__dataclass_fields__}, "check": Check(Difference(1, 0))}
    )
    broken = sample(Phase.CHECK, 3, layout="a", failure="it broke off")
    a, b = answers_checked([checked, broken], [layout("a"), layout("b")])
    assert (a.layout, a.failure, a.difference, a.cold_answer) == ("a", "it broke off", None, "")
    assert (b.layout, b.repeat, b.question, b.reused_tokens) == ("b", 1, 3, 940)
    assert (b.answer, b.cold_answer, b.difference, b.failure) == ("42.", "43.", Difference(1, 0), None)


def test_without_a_first_answer_there_is_nothing_to_compare() -> None:
    assert list(answers_checked([sample(Phase.CHECK, 9, layout="a")], [layout("a")])) == []
