"""What stands around a request, in the types of a trace."""

from __future__ import annotations

from typing import Any

from promptorder.forms._envelope import SESSION_KEYS, TIME_KEYS, first_named, moment

_LARGEST = 1e18


def moment_of(value: dict[str, Any]) -> float | None:
    """When it was sent, in seconds since 1970."""
    for key in TIME_KEYS:
        if key in value:
            found = moment(value[key])
            if found is not None:
                return found
    return None


def session_of(value: dict[str, Any]) -> str | None:
    """The session that it belongs to."""
    return first_named(value, SESSION_KEYS) or None


def name_of(value: dict[str, Any]) -> str:
    """The model that it is for."""
    model = value.get("model")
    return model if type(model) is str else ""


def number(value: object) -> float | None:
    """A finite number, None for what is none."""
    if type(value) is int:
        return float(value) if abs(value) < _LARGEST else None
    return value if type(value) is float and -_LARGEST < value < _LARGEST else None


def count(value: object) -> int | None:
    """A number of tokens, None for what is none."""
    return value if type(value) is int and value >= 0 else None


def shown_keys(value: dict[str, Any]) -> str:
    """The keys of an object as a message names them."""
    names = [str(key)[:30] for key in value]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
