"""A page to hand on: one file that loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from promptorder._version import __version__
from promptorder.model.trace import Cause
from promptorder.model.trace_result import BOUND, Loss, PolicyResult, TraceResult
from promptorder.reports._page import check, line, render_page, short
from promptorder.reports._trace._advice import advice
from promptorder.reports._trace._build import (
    events,
    headline,
    key_result,
    rate_cells,
    rated,
    savings,
    savings_words,
    went,
    with_options,
)
from promptorder.reports._trace._plots import curve, over_time
from promptorder.reports._trace._words import (
    CAUSES,
    DEFINITIONS,
    OBSERVED,
    about,
    names_of,
    place,
    server_word,
    share,
    share_of_reusable,
    tokens_known,
    whole,
)
from promptorder.reports._words import count

__all__ = ["SUFFIXES", "SUMMARY", "check", "render"]

SUMMARY = "a page to hand on"
SUFFIXES = (".html", ".htm")

_KINDS = {Cause.EVICTION: ("prefill", "evicted"), Cause.LIFETIME: ("load", "expired")}
_OTHER_LOSS = ("decode", "lost otherwise")
_MOST_FILES = 12
_MOST_OF_A_SENTENCE = 1000
"""Characters: a file's name in it may be of any length."""


def render(result: TraceResult, *, width: int, color: bool) -> str:
    """The page; the reader's settings choose its width and colours."""
    return render_page("trace.html.jinja", _page(result))


def _page(result: TraceResult) -> dict[str, Any]:
    return {
        "kind": _kind(result),
        "title": f"{_kind(result)}: {short(result.files[0], 60)}",
        "files": [short(file, 160) for file in result.files[:_MOST_FILES]],
        "headline": short(_headline(result)),
        "key_figures": list(_keys(result)),
        "rates": [
            line(name, share(rates.hit_rate_tokens), [("reused", rates.hit_rate_tokens)], 1)
            for name, rates in rated(result)
        ],
        "rows": [
            {
                "name": name,
                "cells": [*rate_cells(rates), whole(rates.cached_tokens), whole(rates.input_tokens)],
            }
            for name, rates in rated(result)
        ],
        "definitions": DEFINITIONS,
        "options": with_options(result),
        "savings": savings(result),
        "savings_words": savings_words(result),
        "causes": [_stacked(name, policy) for name, policy in _named(result)],
        "cause_kinds": list(_kinds(result)),
        "cause_rows": list(_cause_rows(result)),
        "over_time": over_time(result),
        "curve": curve(result),
        "steps": [short(text, _MOST_OF_A_SENTENCE) for text in advice(result)],
        "notes": [short(text, _MOST_OF_A_SENTENCE) for text in result.notes],
        "observed_worst": list(_observed_worst(result)),
        "told": events(result),
        "worst": list(_worst(result)),
        "method": list(_method(result)),
        "facts": list(_facts(result)),
    }


def _kind(result: TraceResult) -> str:
    return "A trace replayed" if result.policies else "What a server reused"


def _named(result: TraceResult) -> Iterator[tuple[str, PolicyResult]]:
    return zip(names_of(result), result.policies, strict=True)


def _headline(result: TraceResult) -> str:
    best = key_result(result)
    if best is None:
        return headline(result)
    name, rates = best
    if name == OBSERVED:
        return (
            f"The server reused {share(rates.hit_rate_tokens)} of {about(rates.input_tokens)} prompt tokens"
        )
    text = f"{name} would reuse {share(rates.hit_rate_tokens)} of {about(rates.input_tokens)} prompt tokens"
    bound = next((each for each in result.policies if each.name == BOUND), None)
    if bound is None or name == bound.name:
        return text
    return f"{text}; {share(bound.rates.hit_rate_tokens)} is the most"


def _keys(result: TraceResult) -> Iterator[dict[str, str]]:
    yield {
        "value": whole(result.requests),
        "text": "requests" if result.complete else "requests, then stopped",
    }
    best = key_result(result)
    if best is not None:
        yield {
            "value": share(best[1].hit_rate_tokens),
            "text": f"of all tokens reused: {short(best[0], 120)}",
        }
    for name, policy in _named(result):
        if best is not None and name == best[0]:
            lost = share_of_reusable(policy)
            if lost is not None:
                yield {"value": share(lost), "text": "of what had been read before was not reused"}
            total = policy.rates.input_tokens
            if total:
                yield {"value": share(policy.new_tokens / total), "text": "of all tokens were new text"}


def _stacked(name: str, policy: PolicyResult) -> dict[str, Any]:
    total = policy.rates.input_tokens
    split: list[tuple[str, float | None]] = [("reused", policy.rates.cached_tokens)]
    others = policy.lost_tokens
    for cause, (kind, _) in _KINDS.items():
        lost = policy.loss(cause).lost_tokens
        split.append((kind, lost))
        others -= lost
    split += [(_OTHER_LOSS[0], others), ("other", policy.new_tokens)]
    told = [f"reused {share(policy.rates.hit_rate_tokens)}"]
    told += [f"{why} {share(tokens / total)}" for why, tokens, _ in went(policy) if tokens and total]
    return {
        **line(name, share(policy.rates.hit_rate_tokens), split, total),
        "detail": ", ".join(told),
    }


def _kinds(result: TraceResult) -> Iterator[tuple[str, str]]:
    """What the colours of the stacked bars are, for those that occur."""
    yield "reused", "reused"
    for cause, kind in _KINDS.items():
        if any(_is_seen(policy, policy.loss(cause)) for policy in result.policies):
            yield kind
    if any(
        _is_seen(policy, loss) and loss.cause not in _KINDS
        for policy in result.policies
        for loss in policy.losses
    ):
        yield _OTHER_LOSS
    yield "other", "new text"


def _is_seen(policy: PolicyResult, loss: Loss) -> bool:
    return loss.lost_tokens > 0.001 * policy.rates.input_tokens


def _cause_rows(result: TraceResult) -> Iterator[dict[str, str]]:
    for name, policy in _named(result):
        total = policy.rates.input_tokens
        for why, tokens, requests in went(policy):
            yield {
                "policy": name,
                "why": why,
                "tokens": whole(tokens),
                "share": share(tokens / total if total else None),
                "requests": "" if requests is None else whole(requests),
            }


def _observed_worst(result: TraceResult) -> Iterator[dict[str, str]]:
    for each in result.observed.worst if result.observed is not None else ():
        yield {
            "place": short(place(each.place, result), 160),
            "prompt": whole(each.prompt_tokens),
            "reused": whole(each.cached_tokens),
            "why": server_word(each.why),
        }


def _worst(result: TraceResult) -> Iterator[dict[str, str]]:
    for name, policy in _named(result):
        for each in policy.worst:
            yield {
                "policy": name,
                "place": short(place(each.place, result), 160),
                "prompt": whole(each.prompt_tokens),
                "reused": whole(each.cached_tokens),
                "lost": whole(each.lost_tokens),
                "why": CAUSES[each.cause],
            }


def _method(result: TraceResult) -> Iterator[str]:
    if result.policies:
        yield (
            "Every request was given, in the order of the trace, to a model of each cache. What a request reuses is the longest "
            "start that the cache still holds, by that engine's own rules. Requests are served one after another: what runs side by "
            "side in truth may find less."
        )
        yield f"Tokens: {tokens_known(result)}."
    if result.observed is not None:
        yield f"Observed: what the server itself said, of {count(result.observed.rates.requests, 'request')}."


def _facts(result: TraceResult) -> Iterator[tuple[str, str]]:
    if len(result.files) > _MOST_FILES:
        yield "Files", whole(len(result.files))
    yield "Form", short(result.form, 160)
    yield "Requests", whole(result.requests)
    yield "Skipped lines", whole(result.skipped_lines)
    for policy in result.policies:
        told = ", ".join(f"{key} {_option(value)}" for key, value in policy.all_options.items())
        yield short(policy.label, 120), short(told, 300)
    yield "promptorder", __version__


def _option(value: object) -> str:
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
