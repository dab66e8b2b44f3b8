"""How long a server keeps what it has read, and which options make it load the model again."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from promptorder.forms._envelope import number_in
from promptorder.forms._requests import ANTHROPIC, OLLAMA, OPENAI, breakpoints

_LOAD_OPTIONS = (
    "num_ctx", "num_batch", "num_gpu", "main_gpu", "use_mmap", "use_mlock", "num_thread", "numa", "low_vram", "f16_kv",
    "vocab_only", "logits_all", "num_gqa", "rope_frequency_base", "rope_frequency_scale", "num_parallel",
)  # fmt: skip
_KEYS = ("prompt_cache_key", "cache_salt", "extra_key")
_UNIT_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(-?[\d.]+)(ns|us|µs|ms|s|m|h)")
_KEEP_ALIVE_S = 300.0
SLACK_S = 15.0
"""A lifetime counts from the end of a request, a log has its start."""


class Lifetime(NamedTuple):
    """Seconds that the cache lives without use for certain at most; ``likely_s`` is when it may be gone already."""

    seconds: float
    likely_s: float
    what: str


def lifetime(provider: str, body: dict[str, Any]) -> Lifetime | None:
    """How long the cache of a request lives, or None where nobody says."""
    if provider == OLLAMA:
        kept = _seconds(body.get("keep_alive"))
        what = f"keep_alive {body['keep_alive']}" if "keep_alive" in body else "keep_alive, 5 min by default,"
        return Lifetime(kept, kept, what)
    if provider == ANTHROPIC:
        marks = [mark.ttl for mark in breakpoints(body)]
        if not marks:
            return None
        ttl = "1h" if "1h" in marks else "5m"
        return Lifetime(_seconds(ttl), _seconds(ttl), f"the cache's ttl of {ttl}")
    if provider == OPENAI:
        return _openai(body)
    return None


def load_options(body: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The options that are fixed when the model is loaded."""
    options = body.get("options")
    if not isinstance(options, dict):
        return ()
    return tuple((key, str(options[key])) for key in _LOAD_OPTIONS if options.get(key) is not None)


def cache_key(body: dict[str, Any]) -> str:
    """What keeps the caches of requests apart, or an empty text."""
    return "\0".join(str(body[key]) for key in _KEYS if body.get(key) is not None)


def _openai(body: dict[str, Any]) -> Lifetime:
    from promptorder.providers import openai_lifetime_s

    seconds, likely_s = openai_lifetime_s(str(body.get("model")), str(body.get("prompt_cache_retention")))
    if seconds != likely_s:
        return Lifetime(seconds, likely_s, "the cache, 5 to 10 min of idleness and an hour at most,")
    return Lifetime(seconds, likely_s, "the cache's 24 h" if seconds > 3600 else "the cache's 30 min")


def _seconds(value: object) -> float:
    """A duration as Ollama reads it: a number of seconds, or Go's text; negative is for ever."""
    seconds: float | None = None
    if isinstance(value, (int, float)):
        seconds = float(value)
    elif isinstance(value, str):
        seconds = number_in(value)
        if seconds is None:
            found = [(number_in(number), unit) for number, unit in _DURATION.findall(value)]
            seconds = (
                sum(number * _UNIT_S[unit] for number, unit in found if number is not None) if found else None
            )
    if seconds is None:
        return _KEEP_ALIVE_S
    return float("inf") if seconds < 0 else seconds
