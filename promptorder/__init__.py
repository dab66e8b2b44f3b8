"""promptorder: shows, measures and repairs the order of a prompt.

Names load when they are first used, so ``import promptorder`` costs next to nothing::

    import promptorder

    result = promptorder.compare("report.pdf", questions="questions.txt")
    print(result.fastest, result.layout("static-first").reused_fraction)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptorder._version import __version__

if TYPE_CHECKING:
    from promptorder.api import compare
    from promptorder.errors import PromptorderError
    from promptorder.model.comparison import Comparison

_HOMES = {
    "compare": "promptorder.api",
    "Comparison": "promptorder.model.comparison",
    "PromptorderError": "promptorder.errors",
}

__all__ = ["Comparison", "PromptorderError", "__version__", "compare"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
