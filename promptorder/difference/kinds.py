"""The kinds of a first difference: those of ``drift`` and of lint's rules for logs, and a few that lose nothing or all."""

from __future__ import annotations

from promptorder.difference.changes import HEAD, KIND_WORDS, TOOL_CHANGED, TOOL_ORDER
from promptorder.difference.history import DROPPED, IMAGE, REWRITTEN, STRIPPED

APPENDED, SHORTENED = "appended", "shortened"
LINE_ENDS, BOM, UNICODE_FORM = "line-ends", "byte-order-mark", "unicode-form"
SYSTEM, MESSAGE = "system-changed", "message-changed"
MODEL, OPTIONS, ADAPTER, CACHE_KEY = "model", "options", "adapter", "cache-key"

WORDS = {
    **KIND_WORDS,
    "question": "another question",
    APPENDED: "something was added to the end",
    SHORTENED: "the second ends earlier",
    LINE_ENDS: "other line ends (CRLF and LF)",
    BOM: "a byte order mark in front of one of them",
    UNICODE_FORM: "the same characters in another Unicode form (NFC and NFD)",
    SYSTEM: "the system text changed",
    MESSAGE: "another message",
    MODEL: "another model, and so another cache",
    OPTIONS: "options with which the model is loaded again",
    ADAPTER: "another adapter, and so another cache",
    CACHE_KEY: "another cache key, and so another cache",
    TOOL_ORDER: "the tools come in another order",
    TOOL_CHANGED: "the list of tools, or one of them, changed",
    REWRITTEN: "an earlier turn was rewritten",
    DROPPED: "earlier turns are gone",
    STRIPPED: "the thoughts of an earlier turn are missing or new",
    IMAGE: "the same picture comes in other bytes",
}
"""What each kind is called, without saying more than the kind does."""

_RULES = {"id": "request-id", "text": "", "memory": "retrieved-context", LINE_ENDS: "encoding-drift", BOM: "encoding-drift",
          UNICODE_FORM: "encoding-drift", SYSTEM: HEAD, OPTIONS: "model-reloaded", MODEL: "model-reloaded",
          ADAPTER: "model-reloaded", CACHE_KEY: "cache-key-changed"}  # fmt: skip


def rule_of(kind: str) -> str:
    """The name of lint's rule that gives advice on a kind; it may be that there is none of that name."""
    return _RULES.get(kind, kind)
