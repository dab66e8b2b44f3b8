"""What the figures of an Ollama server mean, by its version.

Sources: Ollama's release history, and four versions tried side by side (see docs/engines.md).
"""

from __future__ import annotations

import re
from typing import Literal

Version = tuple[int, int, int]
CountMeaning = Literal["whole", "read"]


def parse_version(text: str) -> Version | None:
    """(major, minor, patch), or None where it is unknown: builds without a version call themselves 0.0.0."""
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        return None
    version = (int(match[1]), int(match[2]), int(match[3]))
    return version if version != (0, 0, 0) else None


def count_meaning(version: Version | None) -> CountMeaning | None:
    """Whether ``prompt_eval_count`` is the whole prompt or only what was read; None: ask the server."""
    if version is None:
        return None
    return "read" if version < (0, 2, 0) or version == (0, 30, 0) else "whole"


def duration_caveat(version: Version | None) -> str | None:
    """Where ``prompt_eval_duration`` is not simply the prefill, what it is."""
    if version is None:
        return "the server does not tell its version, so what its durations cover is not known"
    if version in ((0, 12, 5), (0, 12, 6)):
        return (
            "Ollama 0.12.5 and 0.12.6 report the time of the last batch only for many models: "
            "update Ollama, durations of this version cannot be trusted"
        )
    if version < (0, 12, 5):
        return (
            "Ollama before 0.12.5 counts waiting for a free slot as prefill: "
            "let nothing else use the server while measuring"
        )
    return None


def answers_without_reading(version: Version | None) -> bool | None:
    """Whether the server renders and counts a prompt without running it; None: ask the server.

    It renders for ``_debug_render_only``, and a refusal (``truncate: false``, HTTP 400) names the tokens.
    """
    return None if version is None else version >= (0, 30, 0)
