"""``promptorder.trace/1``: what cache policies made of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from promptorder._version import __version__
from promptorder.model.serverlog import CacheChange, SlotChoice
from promptorder.model.trace_result import (
    Observed,
    Place,
    PolicyResult,
    Rates,
    TraceResult,
    Trial,
    Window,
    Worst,
)

SCHEMA = "promptorder.trace/1"


def to_json(result: TraceResult, advice: Sequence[str] = ()) -> dict[str, Any]:
    """The object of the contract; ``advice`` are sentences on what to do."""
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "files": list(result.files),
        "form": result.form,
        "complete": result.complete,
        "requests": result.requests,
        "skipped_lines": result.skipped_lines,
        "token_method": result.counting,
        "tokenizer": result.tokenizer,
        "prefill_tokens_per_s": result.prefill_tokens_per_s,
        "policies": [_policy(each) for each in result.policies],
        "observed": None if result.observed is None else _observed(result.observed),
        "early": [_worst(each) for each in result.early],
        "advice": list(advice),
        "notes": list(result.notes),
    }


def _policy(policy: PolicyResult) -> dict[str, Any]:
    money = policy.money
    return {
        "name": policy.name,
        "options": dict(policy.options),
        "all_options": dict(policy.all_options),
        "label": policy.label,
        **_rates(policy.rates),
        "new_tokens": policy.new_tokens,
        "lost_tokens": policy.lost_tokens,
        "written_tokens": policy.written_tokens,
        "causes": {
            loss.cause.value: {"requests": loss.requests, "lost_tokens": loss.lost_tokens}
            for loss in policy.losses
        },
        "worst": [_worst(each) for each in policy.worst],
        "trials": None if policy.trials is None else [_trial(each) for each in policy.trials],
        "size_option": policy.size_option,
        "curve": [each._asdict() for each in policy.curve],
        "windows": _windows(policy.windows),
        "saved_ns": _nanoseconds(policy.saved_s),
        "cost": None if money is None else money.cost,
        "cost_without_reuse": None if money is None else money.cost_without_reuse,
        "currency": None if money is None else money.currency,
    }


def _observed(observed: Observed) -> dict[str, Any]:
    return {
        **_rates(observed.rates),
        "requests": observed.rates.requests,
        "worst": [
            {
                **_place(each.place),
                "prompt_tokens": each.prompt_tokens,
                "cached_tokens": each.cached_tokens,
                "why": None if each.why is None else each.why.value,
            }
            for each in observed.worst
        ],
        "windows": _windows(observed.windows),
        "why": _counts(observed.why),
        "events": _counts(observed.events),
        "saved_ns": _nanoseconds(observed.saved_s),
        "cost": None if observed.money is None else observed.money.cost,
    }


def _rates(rates: Rates) -> dict[str, Any]:
    return {
        "input_tokens": rates.input_tokens,
        "cached_tokens": rates.cached_tokens,
        "hit_rate_tokens": rates.hit_rate_tokens,
        "hit_rate_requests_mean": rates.hit_rate_requests_mean,
        "last_half": {"hit_rate_tokens": rates.last_half_hit_rate_tokens},
        "requests_with_hit": rates.requests_with_hit,
    }


def _worst(worst: Worst) -> dict[str, Any]:
    return {
        "index": worst.request_index,
        **_place(worst.place),
        "prompt_tokens": worst.prompt_tokens,
        "cached_tokens": worst.cached_tokens,
        "lost_tokens": worst.lost_tokens,
        "new_tokens": worst.new_tokens,
        "cause": worst.cause.value,
        "earlier": None if worst.earlier is None else _place(worst.earlier),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "label": trial.label,
        "changed": dict(trial.changed),
        "cause": trial.cause.value,
        "cached_tokens": trial.cached_tokens,
        "hit_rate_tokens": trial.hit_rate_tokens,
        "cost": None if trial.money is None else trial.money.cost,
    }


def _place(place: Place) -> dict[str, Any]:
    return {"path": place.path, "line": place.line}


def _windows(windows: Sequence[Window]) -> list[dict[str, Any]]:
    return [each._asdict() for each in windows]


def _counts(counts: Mapping[SlotChoice, int] | Mapping[CacheChange, int] | None) -> dict[str, int] | None:
    return None if counts is None else {each.value: number for each, number in counts.items()}


def _nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e9)
