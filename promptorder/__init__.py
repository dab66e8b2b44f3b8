"""promptorder: shows, measures and repairs the order of a prompt.

Names load when they are first used, so ``import promptorder`` costs next to nothing::

    import promptorder

    result = promptorder.compare("report.pdf", questions="questions.txt")
    print(result.fastest, result.layout("static-first").reused_fraction)

    frame = promptorder.load_runs(["run.json"])  # pandas, one row a measured call

    for finding in promptorder.lint("prompts").findings:
        print(finding.path, finding.line, finding.message)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptorder._version import __version__

if TYPE_CHECKING:
    from promptorder.api import compare, load_runs
    from promptorder.errors import PromptorderError
    from promptorder.lint_api import lint
    from promptorder.model.comparison import Comparison
    from promptorder.model.lint import Finding
    from promptorder.model.lint_result import LintResult

_HOMES = {
    "compare": "promptorder.api",
    "load_runs": "promptorder.api",
    "Comparison": "promptorder.model.comparison",
    "Finding": "promptorder.model.lint",
    "LintResult": "promptorder.model.lint_result",
    "PromptorderError": "promptorder.errors",
}

__all__ = [
    "Comparison",
    "Finding",
    "LintResult",
    "PromptorderError",
    "__version__",
    "compare",
    "lint",
    "load_runs",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "lint":  # a package that can be called, see there
        return import_module("promptorder.lint")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
