"""The tables of ``[tool.promptorder.lint]`` that no option stands for, checked to the last word."""

from __future__ import annotations

from collections.abc import Mapping

from promptorder.errors import UsageError
from promptorder.lint.selection import codes, resolve
from promptorder.model.lint_result import CHANGES, SEVERITIES
from promptorder.plugins import did_you_mean

NEVER = "never"


def variables(table: Mapping[str, str], where: str) -> dict[str, str]:
    """Names of own variables with how often each changes, or ``never``. Raises UsageError."""
    for name, changes in table.items():
        _one_of(changes, (*CHANGES, NEVER), f"{where}: {name}")
    return dict(table)


def severities(table: Mapping[str, str], where: str) -> dict[str, str]:
    """The severity of each rule that has one of its own, by code. Raises UsageError."""
    known = codes() if table else {}
    given: dict[str, str] = {}
    for word, severity in table.items():
        _one_of(severity, SEVERITIES, f"{where}: {word}")
        given |= {known[name]: severity for name in resolve([word], where)}
    return given


def _one_of(word: str, known: tuple[str, ...], where: str) -> None:
    if word not in known:
        raise UsageError(
            f"{where} cannot be {word!r}", hint=f"{did_you_mean(word, known)}there are: {', '.join(known)}"
        )
