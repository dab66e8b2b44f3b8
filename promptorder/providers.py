"""What hosted services say of their prompt caches, by model: minimum lengths, lifetimes, generations of rules. Pure.

Read in the services' own documentation in 2026; docs/policies.md names the pages.
"""

from __future__ import annotations

import re

ANTHROPIC_LIFETIME_S = 300.0
ANTHROPIC_LONG_LIFETIME_S = 3600.0
OPENAI_MINIMUM_TOKENS = 1024

_ANTHROPIC_MINIMUM = (
    (r"(?:opus|fable|mythos)-5", 512),
    (r"opus-4-7|opus-4\.7|haiku-3|3-5-haiku|3-haiku|3\.5-haiku", 2048),
    (r"opus-4-[56]|opus-4\.[56]|haiku-4-5|haiku-4\.5", 4096),
)
_ANTHROPIC_OTHERS = 1024
_OPENAI_MINOR = re.compile(r"gpt-(\d{1,3})(?:\.(\d{1,3}))?")
_DAY_S = 86400.0


def anthropic_minimum_tokens(model: str) -> int:
    """The least tokens that a model of Anthropic caches."""
    name = model.lower()
    return next(
        (least for pattern, least in _ANTHROPIC_MINIMUM if re.search(pattern, name)), _ANTHROPIC_OTHERS
    )


def openai_has_breakpoints(model: str) -> bool:
    """Whether a model follows the newer rules: caches up to breakpoints, and charges for writing (GPT-5.6 and later)."""
    return _version(model) >= (5, 6)


def openai_lifetime_s(model: str, retention: str = "") -> tuple[float, float]:
    """How long an unused start surely lives at most, and after how long it may be gone already, in seconds."""
    if openai_has_breakpoints(model):
        return 1800.0, 1800.0
    if retention == "24h" or _version(model) == (5, 5):
        return _DAY_S, _DAY_S
    return 3600.0, 600.0


def _version(model: str) -> tuple[int, int]:
    found = _OPENAI_MINOR.search(model.lower())
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)
