"""Which rules are on, and for which files: rules are named by code, by name, or by the start of a code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from promptorder.errors import UsageError
from promptorder.lint._globs import Globs
from promptorder.lint.registry import REGISTRY
from promptorder.plugins import did_you_mean


def codes() -> dict[str, str]:
    """The code of every rule, by its name."""
    return {name: REGISTRY.load(name).CODE for name in REGISTRY.names()}


def resolve(words: Iterable[str], where: str) -> list[str]:
    """The names of the rules that ``words`` mean: ``PO101``, ``timestamp``, ``PO1`` and ``ALL``.

    A word may hold several, with commas. ``where`` is for the message. Raises UsageError for one that means nothing.
    """
    known = codes()
    found: dict[str, None] = {}
    for word in (part.strip() for text in words for part in text.split(",")):
        if not word:
            continue
        meant = _meant(word, known)
        if not meant:
            names = [*known, *known.values()]
            meant_so = did_you_mean(word, names) or did_you_mean(word.upper(), names)
            raise UsageError(
                f"{where}: there is no rule {word!r}",
                hint=f"{meant_so}`promptorder lint --list-rules` shows them all",
            )
        found |= dict.fromkeys(meant)
    return list(found)


def _meant(word: str, known: Mapping[str, str]) -> list[str]:
    if word in known:
        return [word]
    code = word.upper()
    if code == "ALL":
        return list(known)
    if not code.startswith("PO"):
        return []
    exact = [name for name, each in known.items() if each == code]
    return exact or [name for name, each in known.items() if each.startswith(code)]


def chosen(select: Sequence[str], ignore: Sequence[str], where: tuple[str, str]) -> list[str] | None:
    """The names of the rules that are on, None for all of them; ``where`` names the two for messages."""
    if not select and not ignore:
        return None
    names = resolve(select, where[0]) if select else REGISTRY.names()
    off = set(resolve(ignore, where[1]))
    return [name for name in names if name not in off]


class PerFile(NamedTuple):
    """Rules that are off in some files: each pattern with the codes of its rules."""

    rules: tuple[tuple[Globs, frozenset[str]], ...] = ()

    def ignored(self, path: str) -> frozenset[str]:
        """The codes that are off in a file, given from the root with forward slashes."""
        off: frozenset[str] = frozenset()
        for globs, names in self.rules:
            if globs.match(path):
                off |= names
        return off


def per_file(table: Mapping[str, Sequence[str] | str], where: str) -> PerFile:
    """Read ``per-file-ignores``: a pattern of paths to rules. Raises UsageError."""
    known = codes() if table else {}
    return PerFile(
        tuple(
            (
                Globs([pattern]),
                frozenset(
                    known[name] for name in resolve([words] if isinstance(words, str) else words, where)
                ),
            )
            for pattern, words in table.items()
        )
    )
