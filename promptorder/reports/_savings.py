"""What each layout saves a follow-up: seconds, hours and money a day, and when one more cold start pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptorder.model.comparison import Verdict
from promptorder.model.run import Run, Runs
from promptorder.reports._figures import LayoutFigures, figures, hours_per_day
from promptorder.reports._prices import money_per_day, price_of
from promptorder.reports._words import amount, count, seconds


def savings(run: Run, runs: Runs) -> tuple[str, ...]:
    """What each layout saves a follow-up, in a day, and in money; and when an extra cold start pays."""
    every = figures(run.comparison)
    return tuple(text for each in every for text in _saving(each, every, run, runs))


def _saving(mine: LayoutFigures, every: Sequence[LayoutFigures], run: Run, runs: Runs) -> Iterator[str]:
    if mine.saved_ns is None or mine.layout.verdict is Verdict.NOT_REUSED:
        return
    beside_what = mine.reference or "reading it all again"
    text = (
        f"{mine.layout.name}: {seconds(mine.saved_ns)} s less waiting for each follow-up than {beside_what}"
    )
    hours = hours_per_day(mine.saved_ns, runs.per_day)
    if hours is not None:
        text += f", {amount(hours)} hours a day at {count(runs.per_day or 0, 'follow-up')}"
        price = price_of(run.comparison.engine.model, runs.prices)
        reference = next((each for each in every if each.layout.name == mine.reference), None)
        money = money_per_day(mine, reference, runs.per_day, price) if price else None
        if price and money is not None:
            text += f", {money:,.2f} {price.currency} a day"
    if mine.pays_after is not None:
        text += (
            f". One more cold start ({seconds(mine.layout.first_prefill_ns)} s: to load the model again, or to warm it "
            f"up in advance) has paid after {count(mine.pays_after, 'follow-up')}"
        )
    yield f"{text}."
