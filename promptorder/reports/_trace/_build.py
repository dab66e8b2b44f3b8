"""A replayed trace as a neutral report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from promptorder.console import bar, duration
from promptorder.model.report import Bar, Bars, Block, Bullets, Column, Heading, Paragraph, Report, Table
from promptorder.model.trace import Cause
from promptorder.model.trace_result import BOUND, Observed, PolicyResult, Rates, TraceResult
from promptorder.reports._trace._advice import advice
from promptorder.reports._trace._words import (
    CAUSES,
    DEFINITIONS,
    NEW,
    OBSERVED,
    about,
    loses_notably,
    money,
    names_of,
    place,
    server_word,
    share,
    tokens_known,
    whole,
)
from promptorder.reports._words import count

_BAR_COLUMNS = 16
_SHOWN_WORST = 3
_RIGHT: Literal["right"] = "right"


def build_report(result: TraceResult) -> Report:
    """All that the screen shows, from top to bottom."""
    return Report(tuple(_blocks(result)))


def headline(result: TraceResult) -> str:
    """What was replayed, in one sentence."""
    name = result.files[0] if len(result.files) == 1 else count(len(result.files), "file")
    # What the server counted is told beside it, and may be another number
    known = [policy.rates for policy in result.policies] or [rates for _, rates in rated(result)]
    tokens = max((rates.input_tokens for rates in known), default=0)
    stopped = "" if result.complete else " before it was stopped"
    return f"{name}: {count(result.requests, 'request')}{stopped}, {about(tokens)} prompt tokens ({tokens_known(result)})"


def rated(result: TraceResult) -> Iterator[tuple[str, Rates]]:
    """Each row's name with its rates: what the server said first."""
    if result.observed is not None:
        yield OBSERVED, result.observed.rates
    for name, policy in zip(names_of(result), result.policies, strict=True):
        yield name, policy.rates


def with_options(result: TraceResult) -> list[str]:
    """The options that were given, of policies whose names do not hold them."""
    return [
        f"{name}: {', '.join(policy.label.split(',')[1:])}"
        for name, policy in zip(names_of(result), result.policies, strict=True)
        if policy.options and name == policy.name
    ]


def key_result(result: TraceResult) -> tuple[str, Rates] | None:
    """What a reader wants to know first: what the server said, else the first policy that has a limit."""
    rows = list(rated(result))
    return next((row for row in rows if not row[0].startswith(BOUND)), rows[0] if rows else None)


def events(result: TraceResult) -> list[str]:
    """What a server's log tells of its slots and caches, a line each."""
    if result.observed is None:
        return []
    chosen = [
        f"{server_word(why)}: {count(number, 'request')}"
        for why, number in (result.observed.why or {}).items()
    ]
    return chosen + [
        f"{server_word(change)}: {count(number, 'time')}"
        for change, number in (result.observed.events or {}).items()
    ]


def rate_cells(rates: Rates) -> tuple[str, str, str, str]:
    """By tokens, mean, last half, requests with any."""
    return (
        share(rates.hit_rate_tokens),
        share(rates.hit_rate_requests_mean),
        share(rates.last_half_hit_rate_tokens),
        share(rates.requests_with_hit / rates.requests if rates.requests else None),
    )


def went(policy: PolicyResult) -> list[tuple[str, int, int | None]]:
    """Where tokens that were not reused went: in words, how many, and of how many requests this was the cause."""
    rows: list[tuple[str, int, int | None]] = [(NEW, policy.new_tokens, None)]
    rows += [
        (CAUSES[loss.cause], loss.lost_tokens, loss.requests)
        for loss in policy.losses
        if loss.lost_tokens or loss.cause in (Cause.TOO_LONG, Cause.CUT)
    ]
    return rows


def savings(result: TraceResult) -> Table | None:
    """Time and money, where a speed or a price was given."""
    rows: list[tuple[str, PolicyResult | Observed]] = list(
        zip(names_of(result), result.policies, strict=True)
    )
    if result.observed is not None:
        rows.insert(0, (OBSERVED, result.observed))
    timed = any(each.saved_s is not None for _, each in rows)
    paid = any(each.money is not None for _, each in rows)
    if not timed and not paid:
        return None
    columns = [Column("Policy")]
    columns += [Column("Prefill saved", _RIGHT), Column("a request", _RIGHT)] if timed else []
    columns += [Column("Cost", _RIGHT), Column("Saved", _RIGHT)] if paid else []
    cells = [
        (name, *(_time_cells(each) if timed else ()), *(_money_cells(each) if paid else ()))
        for name, each in rows
    ]
    return Table(tuple(columns), tuple(cells))


def savings_words(result: TraceResult) -> str:
    """What the figures of time and money are made of."""
    words = []
    if result.prefill_tokens_per_s is not None:
        words.append(
            f"Prefill saved: what reading the reused tokens takes at {result.prefill_tokens_per_s:,.0f} tokens/s."
        )
    if any(policy.money is not None for policy in result.policies):
        words.append("Cost: of the prompts, without the answers. Saved: beside reading every prompt anew.")
    return " ".join(words)


def _time_cells(each: PolicyResult | Observed) -> tuple[str, str]:
    if each.saved_s is None or not each.rates.requests:
        return "?", "?"
    return duration(each.saved_s), f"{each.saved_s / each.rates.requests:.2f} s"


def _money_cells(each: PolicyResult | Observed) -> tuple[str, str]:
    paid = each.money
    return ("?", "?") if paid is None else (money(paid.cost, paid.currency), money(paid.saved, paid.currency))


def _blocks(result: TraceResult) -> Iterator[Block]:
    yield Paragraph(headline(result))
    rows = list(rated(result))
    if rows:
        yield _rates(rows)
        if given := with_options(result):
            yield Bullets(tuple(given))
        yield Paragraph(DEFINITIONS)
    if result.policies:
        yield Heading("What was not reused")
        yield _causes(result)
    if any(policy.curve for policy in result.policies):
        yield Heading("Reused at other sizes")
        for name, policy in zip(names_of(result), result.policies, strict=True):
            if policy.curve:
                yield _curve(name, policy)
    saved = savings(result)
    if saved is not None:
        yield Heading("Time and money")
        yield saved
        yield Paragraph(savings_words(result))
    yield from _worst(result)
    yield from _observed(result)
    yield from _listed("What to do", advice(result))
    yield from _listed("To keep in mind", result.notes)


def _listed(title: str, lines: Sequence[str]) -> Iterator[Block]:
    if lines:
        yield Heading(title)
        yield Bullets(tuple(lines))


def _rates(rows: Sequence[tuple[str, Rates]]) -> Table:
    columns = (
        Column("Policy"),
        Column("Reused", _RIGHT),
        Column(""),
        Column("Mean", _RIGHT),
        Column("Last half", _RIGHT),
        Column("Any", _RIGHT),
    )
    cells = []
    for name, rates in rows:
        tokens, mean, last, some = rate_cells(rates)
        cells.append((name, tokens, bar(rates.hit_rate_tokens, _BAR_COLUMNS), mean, last, some))
    return Table(columns, tuple(cells))


def _causes(result: TraceResult) -> Table:
    columns = (
        Column("Policy"),
        Column("Why"),
        Column("Tokens", _RIGHT),
        Column("Share", _RIGHT),
        Column("Requests", _RIGHT),
    )
    rows = []
    for name, policy in zip(names_of(result), result.policies, strict=True):
        total = policy.rates.input_tokens
        for number, (why, tokens, requests) in enumerate(went(policy)):
            rows.append(
                (
                    "" if number else name,
                    why,
                    whole(tokens),
                    share(tokens / total if total else None),
                    "" if requests is None else whole(requests),
                )
            )
    return Table(columns, tuple(rows))


def _curve(name: str, policy: PolicyResult) -> Bars:
    bars = [
        Bar(
            f"{whole(each.size)} ({about(each.size_tokens)} tokens)",
            share(each.hit_rate_tokens),
            each.hit_rate_tokens,
        )
        for each in policy.curve
    ]
    return Bars(f"{name} by {policy.size_option}", tuple(bars))


def _worst(result: TraceResult) -> Iterator[Block]:
    losing = [
        (name, each)
        for name, each in zip(names_of(result), result.policies, strict=True)
        if each.worst and loses_notably(each)
    ]
    if not losing:
        return
    several = len(losing) > 1
    columns = (
        *((Column("Policy"),) if several else ()),
        Column("Request"),
        Column("Prompt", _RIGHT),
        Column("Reused", _RIGHT),
        Column("Lost", _RIGHT),
        Column("Why"),
    )
    rows = []
    for name, policy in losing:
        for number, each in enumerate(policy.worst[: _SHOWN_WORST if several else None]):
            rows.append(
                (
                    *(("" if number else name,) if several else ()),
                    place(each.place, result),
                    whole(each.prompt_tokens),
                    whole(each.cached_tokens),
                    whole(each.lost_tokens),
                    CAUSES[each.cause],
                )
            )
    yield Heading("The requests that lost most, in tokens")
    yield Table(columns, tuple(rows))


def _observed(result: TraceResult) -> Iterator[Block]:
    observed = result.observed
    if observed is None:
        return
    if observed.worst:
        yield Heading("Of which requests the server read most")
        told = any(each.why is not None for each in observed.worst)
        columns = (Column("Request"), Column("Prompt", _RIGHT), Column("Reused", _RIGHT))
        yield Table(
            (*columns, *((Column("Why"),) if told else ())),
            tuple(
                (
                    place(each.place, result),
                    whole(each.prompt_tokens),
                    whole(each.cached_tokens),
                    *((server_word(each.why),) if told else ()),
                )
                for each in observed.worst
            ),
        )
    yield from _listed("What happened in the caches", events(result))
