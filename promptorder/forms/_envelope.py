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


def moment(value: object) -> float | None:
    """Seconds since 1970 of a time as logs write it: ISO 8601, or a number of s, ms, µs or ns."""
    if isinstance(value, str):
        number = number_in(value)
        if number is None:
            return _iso(value)
        value = number
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < 1e20:
        return None
    for limit, unit in ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3)):
        if value > limit:
            return value * unit
    return float(value)


def _iso(value: str) -> float | None:
    from datetime import UTC, datetime

    try:
        when = datetime.fromisoformat(value.strip())
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def number_in(text: str) -> float | None:
    """The number that a text is, None where it is none."""
    try:
        return float(text)
    except ValueError:
        return None
