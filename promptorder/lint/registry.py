"""The rules, and one pattern set of all their triggers: a text in which none matches costs one pass."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from types import ModuleType
from typing import Any

from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.lint.rules", "rule")


class Rules:
    """The rules that are on."""

    def __init__(self, names: Iterable[str] | None = None) -> None:
        chosen = REGISTRY.names() if names is None else list(names)
        self.by_name: dict[str, ModuleType] = {name: REGISTRY.load(name) for name in chosen}
        self.by_kind: dict[str, ModuleType] = {
            kind: rule for rule in self.by_name.values() for kind in getattr(rule, "KINDS", ())
        }
        self.checks = [rule for rule in self.by_name.values() if hasattr(rule, "check")]
        self._literal = [rule for rule in self.by_name.values() if hasattr(rule, "literals")]

    def triggered(self, text: str) -> list[ModuleType]:
        """The rules that may find something in a static text."""
        matched = self._matched(text)
        return [rule for rule in self._literal if matched is None or rule.__name__ in matched]

    def _matched(self, text: str) -> set[str] | None:
        pattern_set, owners = self._set
        if pattern_set is None:
            return None
        try:
            found = pattern_set.Match(text)
        except UnicodeEncodeError:  # half a character, as JSON can escape it
            found = pattern_set.Match(text.encode("utf-8", "replace"))
        return {owners[index] for index in found or ()}

    @cached_property
    def _set(self) -> tuple[Any, list[str]]:
        try:
            import re2
        except ImportError:  # no wheel for this platform: every rule looks for itself
            return None, []
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        pattern_set = re2.Set.SearchSet(options)
        owners = []
        for rule in self._literal:
            for trigger in rule.TRIGGERS:
                pattern_set.Add(trigger)
                owners.append(rule.__name__)
        pattern_set.Compile()
        return pattern_set, owners
