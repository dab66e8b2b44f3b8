"""For programs: the object ``promptorder.comparison/1``."""

from __future__ import annotations

import json

from promptorder.contracts.comparison import to_json
from promptorder.model.comparison import Comparison

SUMMARY = "for programs"


def render(comparison: Comparison, *, width: int, color: bool) -> str:
    """One JSON object, indented; what cannot be printed is escaped, and readers get it back as it was."""
    text = json.dumps(to_json(comparison), ensure_ascii=False, indent=2) + "\n"
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
