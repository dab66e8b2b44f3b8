"""Read JSON objects into typed ones: what is not of its type is an error that names the key, what is not known is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from promptorder.errors import InputError

Json = Mapping[str, Any]
Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


class WrongShapeError(ValueError):
    """A value is not what its schema says."""


def upgraded(data: Json, name: str, upgrades: Mapping[int, Upgrade], newest: int) -> dict[str, Any]:
    """``data`` as the newest major version has it; ``upgrades[n]`` makes n + 1 of n.

    Raises InputError for another schema and for a newer major version.
    """
    schema = data.get("schema")
    family, _, digits = schema.rpartition("/") if isinstance(schema, str) else ("", "", "")
    # More digits than any version will have are no number to read.
    if family != f"promptorder.{name}" or not (digits.isascii() and digits.isdigit() and len(digits) < 6):
        raise InputError(
            f"it is not a promptorder.{name} file",
            hint="name a file that `promptorder compare ... --out RUN.json` wrote",
        )
    if int(digits) > newest:
        raise InputError(
            f"it is of the newer schema {schema}; this promptorder reads promptorder.{name}/{newest} and older",
            hint="read it with a newer promptorder: pip install --upgrade promptorder",
        )
    value = dict(data)
    for version in range(int(digits), newest):
        if version not in upgrades:
            raise InputError(f"it is of schema {schema}, which no version has written")
        value = upgrades[version](value)
    return value


def item(value: object, key: str) -> Json:
    """``value``, which must be an object."""
    if not isinstance(value, Mapping):
        raise WrongShapeError(f"{key} is not an object")
    return value


def items(data: Json, key: str) -> Sequence[Any]:
    """The list under ``key``."""
    value = data.get(key)
    if not isinstance(value, list):
        raise WrongShapeError(f"{key} is not a list")
    return value


def text(data: Json, key: str) -> str:
    """The text under ``key``."""
    value = data.get(key)
    if not isinstance(value, str):
        raise WrongShapeError(f"{key} is not a text")
    return value


def text_or_none(data: Json, key: str) -> str | None:
    """The text under ``key``, None where it is unknown."""
    return None if data.get(key) is None else text(data, key)


def whole(data: Json, key: str) -> int:
    """The whole number under ``key``."""
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise WrongShapeError(f"{key} is not a whole number from 0")
    return value


def whole_or_none(data: Json, key: str) -> int | None:
    """The whole number under ``key``, None where it is unknown."""
    return None if data.get(key) is None else whole(data, key)


def number_or_none(data: Json, key: str) -> float | None:
    """The number under ``key``, None where it is unknown."""
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise WrongShapeError(f"{key} is not a number from 0")
    return value if math.isfinite(value) else None
