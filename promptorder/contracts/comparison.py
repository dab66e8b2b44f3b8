"""``promptorder.comparison/1``: the result of ``promptorder compare``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from promptorder._version import __version__
from promptorder.contracts._layout_reading import Known, layout_from
from promptorder.contracts._reading import (
    Json,
    Upgrade,
    item,
    items,
    text,
    text_or_none,
    upgraded,
    whole,
    whole_or_none,
)
from promptorder.model.comparison import (
    AnswerCheck,
    Caveat,
    Comparison,
    Estimate,
    LayoutResult,
    SampleResult,
)
from promptorder.model.engine import EngineInfo
from promptorder.model.sample import Difference
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
        "answers_checked": [asdict(check) for check in comparison.answers_checked],
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
        "sliding_window_tokens": info.sliding_window_tokens,
    }


def _layout(layout: LayoutResult) -> dict[str, Any]:
    return {
        "name": layout.name,
        "verdict": layout.verdict.value,
        "reused_fraction": _fraction(layout.reused_fraction),
        "expected_reused_tokens": layout.expected_reused_tokens,
        "first_prefill_ns": layout.first_prefill_ns,
        "first_prefill_spread_ns": _ends(layout.first_prefill_spread_ns),
        "follow_up_prefill_ns": layout.follow_up_prefill_ns,
        "follow_up_prefill_spread_ns": _ends(layout.follow_up_prefill_spread_ns),
        "follow_up_total_ns": layout.follow_up_total_ns,
        "follow_up_total_spread_ns": _ends(layout.follow_up_total_spread_ns),
        "samples": [_sample(sample) for sample in layout.samples],
    }


def _ends(spread: tuple[int, int] | None) -> list[int] | None:
    return list(spread) if spread else None


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
        layouts=tuple(layout_from(item(each, "layouts"), known or {}) for each in items(data, "layouts")),
        fastest=text_or_none(data, "fastest"),
        caveats=tuple(_caveat_from(item(each, "caveats")) for each in items(data, "caveats")),
        answers_checked=tuple(
            _check_from(item(each, "answers_checked")) for each in data.get("answers_checked") or ()
        ),
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
        sliding_window_tokens=whole_or_none(data, "sliding_window_tokens"),
    )


def _check_from(data: Json) -> AnswerCheck:
    return AnswerCheck(
        layout=text(data, "layout"),
        repeat=whole(data, "repeat"),
        question=whole(data, "question"),
        reused_tokens=whole_or_none(data, "reused_tokens"),
        difference=difference_from(data.get("difference")),
        answer=text(data, "answer"),
        cold_answer=text(data, "cold_answer"),
        failure=text_or_none(data, "failure"),
    )


def difference_from(data: object) -> Difference | None:
    """Where two answers part, from JSON; null is None. Raises ValueError for what is not of its type."""
    if data is None:
        return None
    found = item(data, "difference")
    return Difference(whole(found, "character"), whole_or_none(found, "token"))


def _caveat_from(data: Json) -> Caveat:
    places = (item(each, "samples") for each in data.get("samples") or ())
    return Caveat(
        code=text(data, "code"),
        message=text(data, "message"),
        layout=text_or_none(data, "layout"),
        samples=tuple((whole(place, "repeat"), whole(place, "question")) for place in places),
    )
