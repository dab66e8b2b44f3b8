"""One registry for every kind of plug-in: the file name is the key.

A package of plug-ins is a folder; each module in it that does not start with an underscore is one
plug-in, its file name with ``-`` for ``_`` is its key. Keys are listed without importing anything,
a plug-in is imported when it is first asked for. Adding one is adding a file.
"""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from types import ModuleType

from promptorder.errors import UsageError


class Registry:
    """The plug-ins of one package.

    ``package`` is its dotted name and ``noun`` what a person calls one of them.
    """

    def __init__(self, package: str, noun: str) -> None:
        self.package = package
        self.noun = noun

    def names(self) -> list[str]:
        """The keys in alphabetical order; imports only the (empty) package itself."""
        paths = importlib.import_module(self.package).__path__
        found = (info.name for info in pkgutil.iter_modules(paths) if not info.name.startswith("_"))
        return sorted(name.replace("_", "-") for name in found)

    def load(self, name: str) -> ModuleType:
        """Import the plug-in ``name``; raises UsageError that names the nearest ones."""
        names = self.names()
        if name not in names:
            near = get_close_matches(name, names, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise UsageError(
                f"there is no {self.noun} named {name!r}",
                hint=f"{meant}there are: {', '.join(names)}",
            )
        return importlib.import_module(f"{self.package}.{name.replace('-', '_')}")

    def load_all(self) -> dict[str, ModuleType]:
        """Import every plug-in of the package."""
        return {name: self.load(name) for name in self.names()}
