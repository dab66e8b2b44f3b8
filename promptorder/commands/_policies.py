"""``--list-policies``: every policy with its options, as its own docstrings tell."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

_NAMED = re.compile(r"``(\w+)``(?: and ``(\w+)``)?:\s")


def policy_lines(width: int) -> Iterator[str]:
    """Lines of at most ``width`` columns."""
    from promptorder.policies._options import REGISTRY, PolicyOptions

    common = [field.name for field in dataclasses.fields(PolicyOptions)]
    yield from _folded(
        "--policy NAME, or --policy NAME,KEY=VALUE,... with options of these; repeat it to compare. An option that is not "
        "set can be written as none or unlimited.",
        width,
        "",
    )
    for name, module in REGISTRY.load_all().items():
        yield from ("", name)
        yield from _folded(_summary(module), width, "  ")
        yield from _options(
            module.Options, width, [f for f in dataclasses.fields(module.Options) if f.name not in common]
        )
    yield from ("", "every policy")
    yield from _options(PolicyOptions, width, dataclasses.fields(PolicyOptions))


def _options(options: type, width: int, fields: Sequence[dataclasses.Field[Any]]) -> Iterator[str]:
    told = meanings(options)
    for field in fields:
        yield from _folded(
            f"{field.name} ({_default(field.default)}): {told[field.name]}", width, "  ", "      "
        )


def meanings(options: type) -> dict[str, str]:
    """What each option means: the docstrings of the class and of those that it is made of, cut at the options' names."""
    found: dict[str, str] = {}
    for each in reversed(options.__mro__):
        text = " ".join(inspect.cleandoc(each.__dict__.get("__doc__") or "").split())
        starts = list(_NAMED.finditer(text))
        for start, end in zip(starts, [*(s.start() for s in starts[1:]), len(text)], strict=False):
            for name in filter(None, start.groups()):
                found[name] = (
                    text[start.end() : end].strip().rstrip(".").replace("``", "").replace("None:", "not set:")
                )
    return found


def _summary(module: ModuleType) -> str:
    return " ".join((module.__doc__ or "").partition("\n\n")[0].split()).replace("``", "")


def _default(value: object) -> str:
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _folded(text: str, width: int, indent: str, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent if rest is None else rest
    )
