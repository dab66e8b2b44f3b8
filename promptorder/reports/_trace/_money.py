"""What the prompts of a trace cost with the reuse of a policy, and without any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from promptorder.model.trace_result import Money
from promptorder.reports._prices import Price, price_of


def prices_of(prices: Mapping[str, str], models: Iterable[str]) -> tuple[dict[str, Price] | None, list[str]]:
    """The price of each model of a trace, or None with a reason where they cannot be added up."""
    if not prices:
        return None, []
    found: dict[str, Price] = {}
    missing = []
    for model in models:
        price = price_of(model, prices)
        if price is None:
            missing.append(model or "(no model named)")
        else:
            found[model] = price
    if missing:
        return None, [f"no money is told: there is no price for {', '.join(sorted(missing))}"]
    if len({price.currency for price in found.values()}) > 1:
        return None, ["no money is told: the prices are in several currencies"]
    if len({price.hour is None for price in found.values()}) > 1:
        return None, ["no money is told: some prices are by the hour, others by tokens"]
    return found, []


def money_of(
    prices: Mapping[str, Price] | None, tokens_of: Mapping[str, list[int]], tokens_per_s: float | None
) -> Money | None:
    """The sum over models; ``tokens_of`` has of each (new, cached, written, written long).

    A price by the hour is that of the time that prefill takes, and None without a speed.
    """
    if not prices or not tokens_of:
        return None
    cost = without = 0.0
    for model, (new, cached, written, written_long) in tokens_of.items():
        price = prices[model]
        if price.hour is None:
            cost += price.of_tokens(new, cached, written, written_long) or 0.0
            without += price.of_tokens(new + cached, 0) or 0.0
        elif tokens_per_s is None:
            return None
        else:
            cost += new / tokens_per_s / 3600 * price.hour
            without += (new + cached) / tokens_per_s / 3600 * price.hour
    return Money(next(iter(prices.values())).currency, cost, without)
