"""Lint: the engine, its rules, and the formats of its result.

The package can be called, for its name is also that of the library's call: ``promptorder.lint("prompts")`` is
``promptorder.lint_api.lint``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        from importlib import import_module

        # By its name, because this floor of the house must not lean on the one above.
        return import_module("promptorder.lint_api").lint(*arguments, **settings)


sys.modules[__name__].__class__ = _Package
