"""One registry for every kind of plug-in: the file name is the key.

A package of plug-ins is a folder; each module in it that does not start with an underscore is one
plug-in, its file name with ``-`` for ``_`` is its key. Keys are listed without importing anything,
a plug-in is imported when it is first asked for. Adding one is adding a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from promptorder.errors import UsageError


class Registry:
    """The plug-ins of one package.

    ``package`` is its dotted name and ``noun`` what a person calls one of them.
    """

    def __init__(self, package: str, noun: str) -> None:
        self.package = package
        self.noun = noun
        self._files: dict[str, str] | None = None

    def names(self) -> list[str]:
        """The keys in alphabetical order; imports only the (empty) package itself."""
        return list(self._listed())

    def file(self, name: str) -> str:
        """Where the source of the plug-in ``name`` lies."""
        return self._listed()[name]

    def load(self, name: str) -> ModuleType:
        """Import the plug-in ``name``; raises UsageError that names the nearest ones."""
        if name not in self._listed():
            names = self.names()
            raise UsageError(
                f"there is no {self.noun} named {name!r}",
                hint=f"{did_you_mean(name, names)}there are: {', '.join(names)}",
            )
        return import_module(f"{self.package}.{name.replace('-', '_')}")

    def load_all(self) -> dict[str, ModuleType]:
        """Import every plug-in of the package."""
        return {name: self.load(name) for name in self.names()}

    def _listed(self) -> dict[str, str]:
        if self._files is None:
            files = {
                name.removesuffix(".py").replace("_", "-"): os.path.join(folder, name)
                for folder in import_module(self.package).__path__
                for name in os.listdir(folder)
                if name.endswith(".py") and not name.startswith("_")
            }
            self._files = dict(sorted(files.items()))
        return self._files


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean ...? `` where something known is spelled much like ``word``, else nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}? " if near else ""
