"""Runs as a tidy data frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from promptorder.model.comparison import LayoutResult, SampleResult
from promptorder.model.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Each column with its type; those for text and whole numbers know a missing value.
_COLUMNS = {
    "run": "string",
    "run_path": "string",
    "run_started_at": "string",
    "document": "string",
    "engine": "string",
    "engine_version": "string",
    "model": "string",
    "layout": "string",
    "verdict": "string",
    "repeat": "Int64",
    "question": "Int64",
    "question_text": "string",
    "phase": "string",
    "started_at": "string",
    "prompt_tokens": "Int64",
    "cached_tokens": "Int64",
    "reused_tokens": "Int64",
    "reused_low_tokens": "Int64",
    "reused_high_tokens": "Int64",
    "reused_method": "string",
    "expected_reused_tokens": "Int64",
    "output_tokens": "Int64",
    "load_ns": "Int64",
    "prefill_ns": "Int64",
    "decode_ns": "Int64",
    "other_ns": "Int64",
    "total_ns": "Int64",
    "first_token_ns": "Int64",
    "thinking": "string",
    "answer": "string",
    "failure": "string",
}
TEXTS = [name for name, kind in _COLUMNS.items() if kind == "string"]


def frame(runs: Sequence[Run]) -> pd.DataFrame:
    """One row a measured call of each run, in their order."""
    import pandas as pd

    rows = [row for run in runs for row in _rows(run)]
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    comparison = run.comparison
    about = {
        "run": run.id,
        "run_path": run.path,
        "run_started_at": comparison.started_at,
        "document": comparison.document.path,
        "engine": comparison.engine.name,
        "engine_version": comparison.engine.version,
        "model": comparison.engine.model,
    }
    for layout in comparison.layouts:
        for result in layout.samples:
            yield {**about, **_row(layout, result, comparison.questions)}


def _row(layout: LayoutResult, result: SampleResult, questions: Sequence[str]) -> dict[str, Any]:
    sample, reply, reused = result.sample, result.sample.reply, result.reused_tokens
    told = 0 < sample.question <= len(questions)
    row: dict[str, Any] = {
        "layout": layout.name,
        "verdict": layout.verdict.value,
        "repeat": sample.repeat,
        "question": sample.question,
        "question_text": questions[sample.question - 1] if told else None,
        "phase": sample.phase.value,
        "started_at": sample.started_at,
        "prompt_tokens": result.prompt_tokens,
        "reused_tokens": _whole(reused.value),
        "reused_low_tokens": _whole(reused.low),
        "reused_high_tokens": _whole(reused.high),
        "reused_method": reused.method,
        "expected_reused_tokens": result.expected.shared_tokens if result.expected else None,
        "other_ns": result.other_ns,
        "total_ns": result.total_ns,
        "failure": sample.failure,
    }
    if reply is not None:
        names = ("cached_tokens", "output_tokens", "load_ns", "prefill_ns", "decode_ns", "first_token_ns")
        row |= {name: getattr(reply, name) for name in (*names, "thinking", "answer")}
    return row


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
