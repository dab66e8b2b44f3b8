"""JSON as logs have it: quickly where it is as the standard has it, with patience where it is not."""

from __future__ import annotations

import json
from typing import Any


def patient(raw: bytes | str) -> Any:
    """The value of a text that strict JSON does not allow: NaN, half a character, other bytes than UTF-8.

    Raises ValueError that says what is wrong.
    """
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    try:
        value = json.loads(text)
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg[:1].lower()}{error.msg[1:]}, at column {error.colno:,}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raise ValueError("a number has too many digits") from None


def any_json(raw: bytes | str) -> Any:
    """The value of a text. Raises ValueError that says what is wrong."""
    from orjson import loads

    try:
        return loads(raw)
    except ValueError:
        return patient(raw)
