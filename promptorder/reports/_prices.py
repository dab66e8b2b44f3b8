"""Price lists: ``0.60 EUR per hour``, or ``2.50 EUR per million tokens, 0.25 cached``.

Where a service charges what it writes into its cache, the list goes on: ``3.00 USD per million tokens, 0.30 cached, 3.75
written, 6.00 written long``, the last for entries of the longer lifetime.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from promptorder.errors import UsageError
from promptorder.reports._figures import LayoutFigures, hours_per_day

_AMOUNT = r"(\d{1,12}(?:\.\d{1,12})?)"
_HOURLY = re.compile(rf"{_AMOUNT} ?(\S{{1,12}}) per hour")
_TOKENS = re.compile(
    rf"{_AMOUNT} ?(\S{{1,12}}) per million tokens, {_AMOUNT} cached(?:, {_AMOUNT} written(?:, {_AMOUNT} written long)?)?"
)


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs: the hour of its machine, or a million tokens that are read anew or reused.

    ``million_written`` are tokens read anew and written into the cache, ``million_written_long`` those of the longer
    lifetime; None: they cost no more than others that are read anew.
    """

    currency: str
    hour: float | None = None
    million_new: float | None = None
    million_cached: float | None = None
    million_written: float | None = None
    million_written_long: float | None = None

    def of_tokens(self, new: int, cached: int, written: int = 0, written_long: int = 0) -> float | None:
        """What these tokens cost, None where the price is by the hour.

        ``written`` are those of ``new`` that are also written into the cache, ``written_long`` those of ``written`` at
        the longer lifetime.
        """
        if self.million_new is None or self.million_cached is None:
            return None
        short = self.million_new if self.million_written is None else self.million_written
        long = short if self.million_written_long is None else self.million_written_long
        plain = (new - written) * self.million_new + cached * self.million_cached
        return (plain + (written - written_long) * short + written_long * long) / 1e6


def parse_price(text: str) -> Price:
    """A price as people write it; raises UsageError."""
    if match := _HOURLY.fullmatch(text.strip()):
        return Price(match[2], hour=float(match[1]))
    if match := _TOKENS.fullmatch(text.strip()):
        new, currency, *others = match.groups()
        cached, written, long = (None if each is None else float(each) for each in others)
        return Price(currency, None, float(new), cached, written, long)
    raise UsageError(
        f"cannot read the price {text!r}",
        hint="write '0.60 EUR per hour', or '2.50 EUR per million tokens, 0.25 cached', and where writing into the cache costs "
        "more, ', 3.10 written' behind it",
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
