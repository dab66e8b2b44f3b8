"""What prompts cost: prices with a fee for writing, models of their own, and why no sum is told."""

from __future__ import annotations

import pytest

from promptorder.errors import UsageError
from promptorder.reports._prices import Price, parse_price
from promptorder.reports._trace._money import money_of, prices_of
from promptorder.reports._trace._words import money

FULL = "3.00 USD per million tokens, 0.30 cached, 3.75 written, 6.00 written long"


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("0.60 EUR per hour", Price("EUR", hour=0.6)),
        ("2.50 EUR per million tokens, 0.25 cached", Price("EUR", None, 2.5, 0.25)),
        ("3.00 USD per million tokens, 0.30 cached, 3.75 written", Price("USD", None, 3, 0.3, 3.75)),
        (FULL, Price("USD", None, 3, 0.3, 3.75, 6)),
    ],
)
def test_prices_old_and_new(text: str, price: Price) -> None:
    assert parse_price(text) == price


@pytest.mark.parametrize(
    "text", ["3 USD per million tokens", f"{FULL}, 7 more", "3 USD per million tokens, 3.75 written"]
)
def test_what_is_no_price(text: str) -> None:
    with pytest.raises(UsageError):
        parse_price(text)


def test_what_is_written_is_part_of_what_is_new() -> None:
    price = parse_price(FULL)
    # 1,000 plain, 500 written for a short time, 200 for a long one
    assert price.of_tokens(1700, 300, 700, 200) == pytest.approx(
        (1000 * 3 + 500 * 3.75 + 200 * 6 + 300 * 0.3) / 1e6
    )
    old = parse_price("3.00 USD per million tokens, 0.30 cached")
    assert old.of_tokens(1700, 300, 700, 200) == old.of_tokens(1700, 300)
    short = parse_price("3.00 USD per million tokens, 0.30 cached, 3.75 written")
    assert short.of_tokens(700, 0, 700, 200) == pytest.approx(700 * 3.75 / 1e6)
    assert parse_price("0.60 EUR per hour").of_tokens(1, 1) is None


def test_models_have_prices_of_their_own() -> None:
    table = {"a": "1.00 USD per million tokens, 0.10 cached", "*": "2.00 USD per million tokens, 0.20 cached"}
    prices, notes = prices_of(table, ["a", "b"])
    assert notes == []
    sums = {"a": [1_000_000, 1_000_000, 0, 0], "b": [1_000_000, 0, 0, 0]}
    paid = money_of(prices, sums, None)
    assert paid is not None
    assert paid.currency == "USD"
    assert [paid.cost, paid.cost_without_reuse] == pytest.approx([3.1, 4])


def test_writing_may_cost_more_than_reuse_brings() -> None:
    prices, _ = prices_of({"*": FULL}, ["a"])
    paid = money_of(prices, {"a": [1_000_000, 0, 1_000_000, 0]}, None)
    assert paid is not None
    assert paid.saved == pytest.approx(-0.75)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": "1.00 USD per hour"}, "no price for b"),
        ({"a": "1.00 USD per hour", "b": "1.00 EUR per hour"}, "several currencies"),
        (
            {"a": "1.00 USD per hour", "*": "1.00 USD per million tokens, 0.10 cached"},
            "some prices are by the hour",
        ),
    ],
)
def test_no_sum_is_told_of_what_cannot_be_added(table: dict[str, str], words: str) -> None:
    prices, [note] = prices_of(table, ["a", "b"])
    assert prices is None
    assert words in note


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.00 USD"), (0.00123, "0.0012 USD"), (12.345, "12.35 USD"), (-1234.5, "-1,234 USD")],
)
def test_sums_as_people_read_them(value: float, text: str) -> None:
    assert money(value, "USD") == text
