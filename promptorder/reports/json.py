"""For programs: the object ``promptorder.comparison/1``."""

from __future__ import annotations

import json

from promptorder.contracts.comparison import to_json
from promptorder.model.comparison import Comparison

SUMMARY = "for programs"


def render(comparison: Comparison, *, width: int, color: bool) -> str:
    """One JSON object, indented."""
    return json.dumps(to_json(comparison), ensure_ascii=False, indent=2) + "\n"
