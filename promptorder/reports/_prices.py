"""Price lists: ``0.60 EUR per hour``, or ``2.50 EUR per million tokens, 0.25 cached``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from promptorder.errors import UsageError
from promptorder.reports._figures import LayoutFigures, hours_per_day

_AMOUNT = r"(\d{1,12}(?:\.\d{1,12})?)"
_HOURLY = re.compile(rf"{_AMOUNT} ?(\S{{1,12}}) per hour")
_TOKENS = re.compile(rf"{_AMOUNT} ?(\S{{1,12}}) per million tokens, {_AMOUNT} cached")


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs: the hour of its machine, or a million tokens that are read anew or reused."""

    currency: str
    hour: float | None = None
    million_new: float | None = None
    million_cached: float | None = None


def parse_price(text: str) -> Price:
    """A price as people write it; raises UsageError."""
    if match := _HOURLY.fullmatch(text.strip()):
        return Price(match[2], hour=float(match[1]))
    if match := _TOKENS.fullmatch(text.strip()):
        return Price(match[2], million_new=float(match[1]), million_cached=float(match[3]))
    raise UsageError(
        f"cannot read the price {text!r}",
        hint="write '0.60 EUR per hour', or '2.50 EUR per million tokens, 0.25 cached'",
    )


def price_of(model: str, prices: Mapping[str, str]) -> Price | None:
    """The price of a model by its name, with or without its tag, else that of ``*``."""
    for name in (model, model.partition(":")[0], "*"):
        if name in prices:
            return parse_price(prices[name])
    return None


def money_per_day(
    mine: LayoutFigures, reference: LayoutFigures | None, per_day: int | None, price: Price
) -> float | None:
    """What ``per_day`` follow-ups in this layout save beside the reference, in the price's currency."""
    if per_day is None or mine.saved_ns is None:
        return None
    if price.hour is not None:
        hours = hours_per_day(mine.saved_ns, per_day)
        return None if hours is None else hours * price.hour
    if price.million_new is None or price.million_cached is None or mine.new_tokens is None:
        return None
    # Without another layout the reference is reading all of the same prompt anew.
    other = reference.new_tokens if reference is not None else mine.prompt_tokens
    if other is None:
        return None
    return per_day * (other - mine.new_tokens) * (price.million_new - price.million_cached) / 1e6
