"""Lines as Ollama writes them: ``time=... level=... source=... msg="..." key=value ...``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from promptorder.serverlog._lines import PREFIX, plain

# A prompt in a debug line stands in quotes with its own quotes escaped, so it cannot look like a line.
_LINE = re.compile(
    PREFIX
    + r'time="?(?P<time>[^"\s]+)"? level=\w+ source=\S+ msg=(?P<msg>"(?:[^"\\]|\\.)*"|\S+)(?P<rest>.*)',
    re.DOTALL,
)
_PAIR = re.compile(r' ([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)')


def parse(line: str) -> tuple[str, dict[str, str]] | None:
    """The message and its values, as written; None for what is no such line."""
    found = _LINE.match(plain(line))
    if found is None:
        return None
    return found["msg"].strip('"'), {key: value.strip('"') for key, value in _PAIR.findall(found["rest"])}


def parse_any(line: str, triggers: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """As ``parse``, for a line that holds one of ``triggers``; to look for them is far faster than to parse."""
    if "msg=" not in line or not any(trigger in line for trigger in triggers):
        return None
    return parse(line)


def whole(values: dict[str, str], key: str) -> int | None:
    """A number of tokens, or None where it is missing or no such number."""
    text = values.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None
