"""``NAME,KEY=VALUE,...`` as people write it, to a policy and its options."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from promptorder.errors import UsageError
from promptorder.model.trace import Cache
from promptorder.plugins import Registry, did_you_mean

REGISTRY = Registry("promptorder.policies", "policy")

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_WHOLE = re.compile(r"[1-9]\d?[eE]\d{1,2}")
"""A whole number as sizes are often written: 1e6."""
_UNSET = ("none", "null", "unlimited")


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """What every policy can be told.

    ``hash_block_tokens``: how many tokens one hash id of a trace stands for; None: as the trace says.
    """

    hash_block_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy with its options, ready to be opened as often as wanted."""

    name: str
    options: Any
    module: ModuleType

    def open(self) -> Cache:
        """A new, empty cache."""
        cache: Cache = self.module.open_cache(self.options)
        return cache

    @property
    def size_option(self) -> str | None:
        """The option that is its capacity, or None where it has none."""
        name: str | None = self.module.SIZE
        return name

    def with_options(self, **changed: object) -> Policy:
        """The same policy with other options."""
        return dataclasses.replace(self, options=dataclasses.replace(self.options, **changed))


def parse_policy(text: str) -> Policy:
    """The policy that ``NAME[,KEY=VALUE...]`` asks for; raises UsageError that names the nearest ones."""
    name, *pairs = (each.strip() for each in text.split(","))
    module = REGISTRY.load(name)
    known = {
        each.name: typing.get_type_hints(module.Options)[each.name]
        for each in dataclasses.fields(module.Options)
    }
    given: dict[str, object] = {}
    for pair in pairs:
        key, equals, value = (each.strip() for each in pair.partition("="))
        key = key.replace("-", "_")
        if key not in known:
            raise UsageError(
                f"the policy {name} has no option {key!r}",
                hint=f"{did_you_mean(key, known)}it has: {', '.join(known)}",
            )
        if not equals:
            raise UsageError(f"the option {key} of {name} has no value", hint=f"write {name},{key}=VALUE")
        if key in given:
            raise UsageError(f"the option {key} of {name} is given twice", hint="leave one of them out")
        given[key] = _value(name, key, value, known[key])
    try:
        options = module.Options(**given)
    except ValueError as error:
        raise UsageError(
            f"{name}: {error}", hint=f"promptorder trace --list-policies tells what {name} takes"
        ) from error
    return Policy(name, options, module)


def _value(name: str, key: str, text: str, hint: object) -> object:
    kinds = set(typing.get_args(hint)) if isinstance(hint, types.UnionType) else {hint}
    low = text.lower()
    if type(None) in kinds and low in _UNSET:
        return None
    if bool in kinds and low in (*_TRUE, *_FALSE):
        return low in _TRUE
    for kind in (int, float):
        if kind in kinds:
            try:
                number = kind(text.replace("_", ""))
            except ValueError:
                if kind is float or not _WHOLE.fullmatch(text):
                    continue
                number = int(float(text))
            if not 0 <= number < float("inf"):
                break
            return number
    if str in kinds:
        return text
    wanted = "true or false" if bool in kinds else "a whole number" if float not in kinds else "a number"
    raise UsageError(
        f"the option {key} of {name} cannot be {text!r}",
        hint=f"give {wanted}, not negative{', or unlimited' if type(None) in kinds else ''}",
    )
