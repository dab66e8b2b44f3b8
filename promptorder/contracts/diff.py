"""``promptorder.diff/1``: the result of ``promptorder diff``."""

from __future__ import annotations

from typing import Any

from promptorder._version import __version__
from promptorder.model.diff import Diff, FirstDifference, Pair

SCHEMA = "promptorder.diff/1"


def to_json(diff: Diff) -> dict[str, Any]:
    """The object of the contract."""
    return {"schema": SCHEMA, "tool_version": __version__, "pairs": [_pair(pair) for pair in diff.pairs]}


def _pair(pair: Pair) -> dict[str, Any]:
    suggestion = pair.suggestion
    return {
        "a": pair.a,
        "b": pair.b,
        "shared_tokens": pair.shared_tokens,
        "a_tokens": pair.a_tokens,
        "b_tokens": pair.b_tokens,
        "tokenizer": pair.tokenizer,
        "method": pair.method,
        "rendering": pair.rendering,
        "percent": round(pair.percent, 2),
        "reusable_tokens": pair.reusable_tokens,
        "relation": pair.relation,
        "first_difference": _first(pair.first_difference),
        "other_cache": _first(pair.other_cache),
        "lost_tokens": pair.lost_tokens,
        "lost": [
            {
                "what": block.what,
                "path": block.path,
                "line": block.line,
                "end_line": block.end_line,
                "tokens": block.tokens,
                "begins": block.begins,
            }
            for block in pair.lost
        ],
        "suggestion": None
        if suggestion is None
        else {
            "action": suggestion.action,
            "text": suggestion.text,
            "block": suggestion.block,
            "behind": suggestion.behind,
            "shared_tokens": suggestion.shared_tokens,
        },
        "advice": pair.advice or None,
        "notes": list(pair.notes),
    }


def _first(first: FirstDifference | None) -> dict[str, Any] | None:
    if first is None:
        return None
    return {
        "path": first.path,
        "line": first.line,
        "column": first.column,
        "a": first.a,
        "b": first.b,
        "kind": first.kind,
        "what": first.what,
    }
