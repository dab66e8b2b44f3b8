"""For programs: one object, ``promptorder.trace/1``."""

from __future__ import annotations

import json

from promptorder.contracts.trace import to_json
from promptorder.model.trace_result import TraceResult
from promptorder.reports._trace._advice import advice

SUMMARY = "for programs"
SUFFIXES = (".json",)


def render(result: TraceResult, *, width: int, color: bool) -> str:
    """The object, indented; width and colour are for people."""
    return json.dumps(to_json(result, advice(result)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
