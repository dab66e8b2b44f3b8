"""Layouts of a comparison, read from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast, get_args

from promptorder.contracts._reading import (
    Json,
    WrongShapeError,
    item,
    items,
    number_or_none,
    text,
    text_or_none,
    whole,
    whole_or_none,
)
from promptorder.model.comparison import Estimate, Expectation, LayoutResult, Method, SampleResult, Verdict
from promptorder.model.sample import Phase, Reply, Sample

Known = Mapping[tuple[str, int, int], Sample]
"""Samples as a run file holds them, in full, by layout, repeat and question."""


def layout_from(data: Json, known: Known) -> LayoutResult:
    """A layout with its samples. Raises ValueError for what is not of its type."""
    name = text(data, "name")
    return LayoutResult(
        name=name,
        verdict=Verdict(text(data, "verdict")),
        reused_fraction=_estimate_from(item(data.get("reused_fraction"), "reused_fraction"), most=1.0),
        expected_reused_tokens=whole_or_none(data, "expected_reused_tokens"),
        first_prefill_ns=whole_or_none(data, "first_prefill_ns"),
        follow_up_prefill_ns=whole_or_none(data, "follow_up_prefill_ns"),
        follow_up_prefill_spread_ns=_ends_from(data, "follow_up_prefill_spread_ns"),
        follow_up_total_ns=whole_or_none(data, "follow_up_total_ns"),
        samples=tuple(_result_from(item(each, "samples"), name, known) for each in items(data, "samples")),
        first_prefill_spread_ns=_ends_from(data, "first_prefill_spread_ns"),
        follow_up_total_spread_ns=_ends_from(data, "follow_up_total_spread_ns"),
    )


def _ends_from(data: Json, key: str) -> tuple[int, int] | None:
    spread = data.get(key)
    low, high = spread if isinstance(spread, list) else (None, None)
    ends = whole_or_none({key: low}, key), whole_or_none({key: high}, key)
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def _result_from(data: Json, layout: str, known: Known) -> SampleResult:
    question, repeat = whole(data, "question"), whole(data, "repeat")
    sample = known.get((layout, repeat, question)) or _sample_from(data, layout)
    return SampleResult(
        sample=sample,
        prompt_tokens=whole_or_none(data, "prompt_tokens"),
        reused_tokens=_estimate_from(item(data.get("reused_tokens"), "reused_tokens")),
        expected=_expected_from(data),
    )


def _sample_from(data: Json, layout: str) -> Sample:
    """A sample from what the comparison tells of it; a run file has the whole."""
    question = whole(data, "question")
    phase = Phase(data["phase"]) if "phase" in data else Phase.FOLLOW_UP if question > 1 else Phase.FIRST
    failure, reply = text_or_none(data, "failure"), None
    if failure is None:
        total, load = whole_or_none(data, "total_ns"), whole_or_none(data, "load_ns")
        reply = Reply(
            answer=text_or_none(data, "answer") or "",
            thinking=text_or_none(data, "thinking"),
            prompt_tokens=whole_or_none(data, "prompt_tokens"),
            cached_tokens=whole_or_none(data, "cached_tokens"),
            output_tokens=whole_or_none(data, "output_tokens"),
            prefill_ns=whole_or_none(data, "prefill_ns"),
            decode_ns=whole_or_none(data, "decode_ns"),
            load_ns=load,
            total_ns=None if total is None else total + (load or 0),
            first_token_ns=whole_or_none(data, "first_token_ns"),
        )
    return Sample(
        layout=layout,
        repeat=whole(data, "repeat"),
        question=question,
        phase=phase,
        prompt_sha256="",
        started_at=text_or_none(data, "started_at") or "",
        reply=reply,
        failure=failure,
    )


def _expected_from(data: Json) -> Expectation | None:
    shared = whole_or_none(data, "expected_reused_tokens")
    prompt = whole_or_none(data, "expected_prompt_tokens")
    if prompt is None:  # the first versions kept the shared tokens alone
        prompt = whole_or_none(data, "prompt_tokens")
    if shared is None or prompt is None:
        return None
    return Expectation(
        prompt_tokens=prompt,
        shared_tokens=shared,
        before_document_tokens=whole_or_none(data, "expected_before_document_tokens"),
        document_tokens=whole_or_none(data, "expected_document_tokens"),
        exact=data.get("expected_is_exact") is True,
    )


def _estimate_from(data: Json, most: float | None = None) -> Estimate:
    method = text(data, "method")
    if method not in get_args(Method):
        raise WrongShapeError(f"there is no method {method[:40]!r}")
    estimate = Estimate(
        number_or_none(data, "value"),
        number_or_none(data, "low"),
        number_or_none(data, "high"),
        cast("Method", method),
    )
    if most is None:
        return estimate
    ends = {
        key: min(most, value)
        for key in ("value", "low", "high")
        if (value := getattr(estimate, key)) is not None
    }
    return replace(estimate, **ends)
