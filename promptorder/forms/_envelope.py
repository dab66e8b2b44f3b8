"""What stands around a request in a log: whose session it is, and when it was sent."""

from __future__ import annotations

from typing import Any

SESSION_KEYS = (
    "session", "session_id", "sessionId", "conversation", "conversation_id", "conversationId", "chat_id", "thread_id",
    "thread",
)  # fmt: skip
TIME_KEYS = ("ts", "timestamp", "time", "created_at", "started_at", "start_time", "created", "date")


def first_named(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The first of ``keys`` that names something, or an empty text."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, (str, int)) and not isinstance(found, bool) and found != "":
            return str(found)
    return ""
