"""``promptorder.comparison/1``: the result of ``promptorder compare``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from promptorder._version import __version__
from promptorder.contracts._reading import (
    Json,
    Upgrade,
    WrongShapeError,
    item,
    items,
    number_or_none,
    text,
    text_or_none,
    upgraded,
    whole,
    whole_or_none,
)
from promptorder.model.comparison import (
    Caveat,
    Comparison,
    Estimate,
    Expectation,
    LayoutResult,
    Method,
    SampleResult,
    Verdict,
)
from promptorder.model.engine import EngineInfo
from promptorder.model.sample import Phase, Reply, Sample
from promptorder.model.source import DocumentInfo

NEWEST = 1
SCHEMA = f"promptorder.comparison/{NEWEST}"
UPGRADES: Mapping[int, Upgrade] = {}
"""What makes version n + 1 of version n, under n. A change of the schema that old readers cannot take adds one."""


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The object of the contract: whole ns, whole tokens, and null for what is not known."""
    document = comparison.document
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "started_at": comparison.started_at,
        "engine": _engine(comparison.engine),
        "options": dict(comparison.options),
        "document": {
            "path": document.path,
            "form": document.form,
            "sha256": document.sha256,
            "characters": document.characters,
            "pages": [list(pair) for pair in document.pages] if document.pages else None,
        },
        "questions": list(comparison.questions),
        "layouts": [_layout(layout) for layout in comparison.layouts],
        "fastest": comparison.fastest,
        "caveats": [_caveat(caveat) for caveat in comparison.caveats],
    }


def _engine(info: EngineInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "version": info.version,
        "model": info.model,
        "model_digest": info.model_digest,
        "context_tokens": info.context_tokens,
        "max_context_tokens": info.max_context_tokens,
        "counts_cached_tokens": info.counts_cached_tokens,
        "facts": dict(info.facts),
    }


def _layout(layout: LayoutResult) -> dict[str, Any]:
    spread = layout.follow_up_prefill_spread_ns
    return {
        "name": layout.name,
        "verdict": layout.verdict.value,
        "reused_fraction": _fraction(layout.reused_fraction),
        "expected_reused_tokens": layout.expected_reused_tokens,
        "first_prefill_ns": layout.first_prefill_ns,
        "follow_up_prefill_ns": layout.follow_up_prefill_ns,
        "follow_up_prefill_spread_ns": list(spread) if spread else None,
        "follow_up_total_ns": layout.follow_up_total_ns,
        "samples": [_sample(sample) for sample in layout.samples],
    }


def _sample(result: SampleResult) -> dict[str, Any]:
    sample, reply, due = result.sample, result.sample.reply, result.expected
    return {
        "question": sample.question,
        "repeat": sample.repeat,
        "phase": sample.phase.value,
        "started_at": sample.started_at,
        "prompt_tokens": result.prompt_tokens,
        "cached_tokens": reply.cached_tokens if reply else None,
        "reused_tokens": _tokens(result.reused_tokens),
        "expected_reused_tokens": due.shared_tokens if due else None,
        "expected_prompt_tokens": due.prompt_tokens if due else None,
        "expected_before_document_tokens": due.before_document_tokens if due else None,
        "expected_document_tokens": due.document_tokens if due else None,
        "expected_is_exact": due.exact if due else None,
        "load_ns": reply.load_ns if reply else None,
        "prefill_ns": reply.prefill_ns if reply else None,
        "decode_ns": reply.decode_ns if reply else None,
        "other_ns": result.other_ns,
        "total_ns": result.total_ns,
        "first_token_ns": reply.first_token_ns if reply else None,
        "output_tokens": reply.output_tokens if reply else None,
        "thinking": reply.thinking if reply else None,
        "answer": reply.answer if reply else None,
        "failure": sample.failure,
    }


def _fraction(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
    }


def _tokens(estimate: Estimate) -> dict[str, Any]:
    whole = {
        key: None if value is None else round(value)
        for key, value in (("value", estimate.value), ("low", estimate.low), ("high", estimate.high))
    }
    return {**whole, "method": estimate.method}


def _caveat(caveat: Caveat) -> dict[str, Any]:
    return {
        "code": caveat.code,
        "message": caveat.message,
        "layout": caveat.layout,
        "samples": [{"repeat": repeat, "question": question} for repeat, question in caveat.samples],
    }


Known = Mapping[tuple[str, int, int], Sample]
"""Samples as a run file holds them, in full, by layout, repeat and question."""


def from_json(data: Json, known: Known | None = None) -> Comparison:
    """The inverse of ``to_json``, but for what it does not tell.

    Keys that are not known are left out. ``known`` are whole samples, where a run file has them. Raises
    InputError for another schema or a newer version, and ValueError for what is not of its type.
    """
    data = upgraded(data, "comparison", UPGRADES, NEWEST)
    document = item(data.get("document"), "document")
    return Comparison(
        started_at=text(data, "started_at"),
        engine=_engine_from(item(data.get("engine"), "engine")),
        options=dict(item(data.get("options"), "options")),
        document=DocumentInfo(
            path=text(document, "path"),
            form=text_or_none(document, "form"),
            sha256=text(document, "sha256"),
            characters=whole(document, "characters"),
            pages=_pages(document),
        ),
        questions=tuple(str(each) for each in data.get("questions") or ()),
        layouts=tuple(_layout_from(item(each, "layouts"), known or {}) for each in items(data, "layouts")),
        fastest=text_or_none(data, "fastest"),
        caveats=tuple(_caveat_from(item(each, "caveats")) for each in items(data, "caveats")),
    )


def _pages(document: Json) -> tuple[tuple[int, int], ...] | None:
    if document.get("pages") is None:
        return None
    return tuple((int(first), int(last)) for first, last in items(document, "pages")) or None


def _engine_from(data: Json) -> EngineInfo:
    counts = data.get("counts_cached_tokens")
    return EngineInfo(
        name=text(data, "name"),
        version=text_or_none(data, "version"),
        model=text(data, "model"),
        model_digest=text_or_none(data, "model_digest"),
        context_tokens=whole_or_none(data, "context_tokens"),
        max_context_tokens=whole_or_none(data, "max_context_tokens"),
        counts_cached_tokens=None if counts is None else bool(counts),
        facts={str(key): str(value) for key, value in item(data.get("facts") or {}, "facts").items()},
    )


def _layout_from(data: Json, known: Known) -> LayoutResult:
    name = text(data, "name")
    spread = data.get("follow_up_prefill_spread_ns")
    low, high = spread if isinstance(spread, list) else (None, None)
    ends = whole_or_none({"spread": low}, "spread"), whole_or_none({"spread": high}, "spread")
    return LayoutResult(
        name=name,
        verdict=Verdict(text(data, "verdict")),
        reused_fraction=_estimate_from(item(data.get("reused_fraction"), "reused_fraction"), most=1.0),
        expected_reused_tokens=whole_or_none(data, "expected_reused_tokens"),
        first_prefill_ns=whole_or_none(data, "first_prefill_ns"),
        follow_up_prefill_ns=whole_or_none(data, "follow_up_prefill_ns"),
        follow_up_prefill_spread_ns=None if ends[0] is None or ends[1] is None else (ends[0], ends[1]),
        follow_up_total_ns=whole_or_none(data, "follow_up_total_ns"),
        samples=tuple(_result_from(item(each, "samples"), name, known) for each in items(data, "samples")),
    )


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


def _caveat_from(data: Json) -> Caveat:
    places = (item(each, "samples") for each in data.get("samples") or ())
    return Caveat(
        code=text(data, "code"),
        message=text(data, "message"),
        layout=text_or_none(data, "layout"),
        samples=tuple((whole(place, "repeat"), whole(place, "question")) for place in places),
    )
