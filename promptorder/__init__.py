"""promptorder: shows, measures and repairs the order of a prompt.

Names load when they are first used, so ``import promptorder`` costs next to nothing::

    import promptorder

    result = promptorder.compare("report.pdf", questions="questions.txt")
    print(result.fastest, result.layout("static-first").reused_fraction)

    frame = promptorder.load_runs(["run.json"])  # pandas, one row a measured call

    for finding in promptorder.lint("prompts").findings:
        print(finding.path, finding.line, finding.message)

    for pair in promptorder.diff("monday.txt", "tuesday.txt").pairs:
        print(pair.shared_tokens, pair.first_difference, pair.suggestion)

    print(promptorder.trace("requests.jsonl", policies=["vllm"]).policy("vllm").rates.hit_rate_tokens)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptorder._version import __version__

if TYPE_CHECKING:
    from promptorder.api import compare
    from promptorder.diff_api import diff
    from promptorder.errors import PromptorderError
    from promptorder.lint_api import lint
    from promptorder.model.comparison import Comparison
    from promptorder.model.diff import Diff
    from promptorder.model.lint import Finding
    from promptorder.model.lint_result import LintResult
    from promptorder.report_api import load_runs

_HOMES = {
    "compare": "promptorder.api",
    "diff": "promptorder.diff_api",
    "load_runs": "promptorder.report_api",
    "Comparison": "promptorder.model.comparison",
    "Diff": "promptorder.model.diff",
    "Finding": "promptorder.model.lint",
    "LintResult": "promptorder.model.lint_result",
    "PromptorderError": "promptorder.errors",
    "TraceResult": "promptorder.model.trace_result",
    "trace": "promptorder.trace_api",
}

__all__ = [
    "Comparison",
    "Diff",
    "Finding",
    "LintResult",
    "PromptorderError",
    "TraceResult",
    "__version__",
    "compare",
    "diff",
    "lint",
    "load_runs",
    "trace",
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
