"""What a few requests cost, worked out by hand from each service's rules; a letter is a token."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import small_traces as small

import promptorder
from promptorder import vocabularies
from promptorder.model.trace_result import TraceResult

OPUS = "claude-opus-4-8"  # caches from 1,024 tokens on
PRICE = "5.00 USD per million tokens, 0.50 cached, 6.25 written, 10.00 written long"
"""Written at 1.25 times the price of input, at twice for an hour."""
OLD, OLD_PRICE = "gpt-5.1", "1.25 USD per million tokens, 0.125 cached"
NEW, NEW_PRICE = "gpt-5.6", "1.25 USD per million tokens, 0.125 cached, 1.5625 written"


class Letters:
    name, exact = "letters", True

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def packed(self, text: str) -> bytes:
        return array("I", map(ord, text)).tobytes()


@pytest.fixture(autouse=True)
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(vocabularies, "open_tokenizer", lambda spec: Letters())


def replayed(
    policy: str, price: str, bodies: Sequence[dict[str, Any]], gap_s: int = 60, **more: Any
) -> TraceResult:
    small.put(
        Path("t.jsonl"),
        *({"ts": 1_790_000_000 + gap_s * n, "request": body, **more} for n, body in enumerate(bodies)),
    )
    result: TraceResult = promptorder.trace("t.jsonl", policies=[policy], prices={"*": price}, what_if=False)
    return result


def claude(question: str, ttl: str | None) -> dict[str, Any]:
    """2,000 letters up to the mark: 8 of the role's line and 1,992; behind it 6 + 4 of the question, 11 of the answer's turn."""
    mark = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}
    return {
        "model": OPUS,
        "max_tokens": 9,
        "system": [{"type": "text", "text": "s" * 1992, "cache_control": mark}],
        "messages": [{"role": "user", "content": question}],
    }


@pytest.mark.parametrize(("ttl", "written_price"), [(None, 6.25), ("5m", 6.25), ("1h", 10.0)])
def test_anthropic(ttl: str | None, written_price: float) -> None:
    """The first request writes up to its mark; the second and third read that, and pay the rest as plain input."""
    (policy,) = replayed("anthropic", PRICE, [claude(q, ttl) for q in ("aaaa", "bbbb", "cccc")]).policies
    start, rest = 2000, 6 + 4 + 11
    total = 3 * (start + rest)
    assert policy.rates.input_tokens == total
    assert (policy.rates.cached_tokens, policy.written_tokens) == (2 * start, start)
    assert policy.money is not None
    assert policy.money.cost == pytest.approx((start * written_price + 2 * start * 0.5 + 3 * rest * 5) / 1e6)
    assert policy.money.cost_without_reuse == pytest.approx(total * 5 / 1e6)


def test_anthropic_whose_cache_has_gone_pays_for_writing_again() -> None:
    (policy,) = replayed("anthropic", PRICE, [claude(q, None) for q in "abc"], gap_s=400).policies
    assert (policy.rates.cached_tokens, policy.written_tokens) == (0, 6000)
    assert policy.money is not None
    rest = policy.rates.input_tokens - 6000
    assert policy.money.cost == pytest.approx((6000 * 6.25 + rest * 5) / 1e6)
    assert policy.money.saved == pytest.approx(-6000 * 1.25 / 1e6)


def chat(model: str, question: str) -> dict[str, Any]:
    return {
        "model": model,
        "messages": [{"role": "system", "content": "s" * 1992}, {"role": "user", "content": question}],
    }


def test_openai_before_breakpoints() -> None:
    """Of a start of 2,006 letters 15 whole steps of 128 are reused; writing is free."""
    (policy,) = replayed("openai", OLD_PRICE, [chat(OLD, q) for q in ("aaaa", "bbbb")]).policies
    assert (policy.rates.cached_tokens, policy.written_tokens) == (1920, 0)
    assert policy.money is not None
    read = policy.rates.input_tokens - 1920
    assert policy.money.cost == pytest.approx((read * 1.25 + 1920 * 0.125) / 1e6)


def test_openai_with_breakpoints() -> None:
    """The service's own mark stands behind the question, so nothing is shared; one behind the system text is read again."""
    bodies = [chat(NEW, q) for q in ("aaaa", "bbbb")]
    (policy,) = replayed("openai", NEW_PRICE, bodies).policies
    block_end = 2000 + 10  # up to the question's end
    assert (policy.rates.cached_tokens, policy.written_tokens) == (0, 2 * block_end)
    assert policy.money is not None
    rest = policy.rates.input_tokens - 2 * block_end
    assert policy.money.cost == pytest.approx((2 * block_end * 1.5625 + rest * 1.25) / 1e6)
    (policy,) = replayed("openai,mark_system=true", NEW_PRICE, bodies).policies
    assert (policy.rates.cached_tokens, policy.written_tokens) == (2000, block_end + 10)
    assert policy.money is not None
    assert policy.money.cost == pytest.approx(((block_end + 10) * 1.5625 + rest * 1.25 + 2000 * 0.125) / 1e6)


# ---------------------------------------------------------------- what the service itself counted


def observed(usage: dict[str, Any], price: str = PRICE, number: int = 2) -> TraceResult:
    return replayed("anthropic", price, [claude("a", None)] * number, usage=usage)


def test_the_bill_by_the_services_own_counts() -> None:
    usage = {
        "input_tokens": 100,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 100},
    }
    told = observed(usage).observed
    assert told is not None
    assert told.money is not None
    assert told.money.cost == pytest.approx(2 * (100 * 5 + 2000 * 0.5 + 200 * 6.25 + 100 * 10) / 1e6)
    assert told.money.cost_without_reuse == pytest.approx(2 * 2400 * 5 / 1e6)


def test_no_bill_where_writing_costs_and_is_not_said() -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 2000}
    told = observed(usage)
    assert told.observed is not None
    assert told.observed.money is None
    assert any("do not say how many tokens were written" in note for note in told.notes)
    free = observed(usage, "5.00 USD per million tokens, 0.50 cached").observed
    assert free is not None
    assert free.money is not None
    assert free.money.cost == pytest.approx(2 * (100 * 5 + 2000 * 0.5) / 1e6)


def test_no_bill_of_some_of_the_requests() -> None:
    small.put(
        Path("t.jsonl"),
        {"request": claude("a", None), "usage": {"input_tokens": 9, "cache_read_input_tokens": 9}},
        {"request": claude("b", None)},
    )
    told = promptorder.trace("t.jsonl", policies=["anthropic"], prices={"*": PRICE}).observed
    assert told is not None
    assert told.rates.requests == 1
    assert told.money is None
