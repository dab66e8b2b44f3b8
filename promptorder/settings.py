"""Settings from ``[tool.promptorder]`` of a pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple

from promptorder.errors import UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """The tables of ``[tool.promptorder]``, one a command, and the file that they come from."""

    path: Path | None = None
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)


def load_settings(config: str | None, folder: Path) -> Settings:
    """Read ``config``, or the nearest pyproject.toml at or above ``folder`` that has a table for us.

    Raises UsageError for a file that is not there, not TOML, or whose table has a wrong shape.
    """
    if config is not None:
        path = Path(config)
        if not path.is_file():
            raise UsageError(f"no such settings file: {config}", hint="name a pyproject.toml with --config")
        return _read(path) or Settings(path)
    for parent in (folder, *folder.parents):
        path = parent / "pyproject.toml"
        if path.is_file() and (settings := _read(path)) is not None:
            return settings
    return Settings()


Kind = Literal["a text", "a whole number", "a number", "true or false", "a list of texts"]


class Key(NamedTuple):
    """A setting's parameter, and what TOML must give for it."""

    parameter: str
    kind: Kind


def check_keys(settings: Settings, command: str, known: Mapping[str, Key]) -> dict[str, Any]:
    """The values of a command's table under its parameter names.

    ``known`` has each key as people write it (``num-ctx``). Raises UsageError for an unknown key and
    for a value of another kind.
    """
    values: dict[str, Any] = {}
    for key, value in settings.tables.get(command, {}).items():
        spelled = key.replace("_", "-")
        if spelled not in known:
            near = get_close_matches(spelled, known, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise UsageError(
                f"{settings.path}: unknown setting {key!r} in [tool.promptorder.{command}]",
                hint=f"{meant}there are: {', '.join(sorted(known))}",
            )
        parameter, kind = known[spelled]
        if kind == "a list of texts" and isinstance(value, str):
            value = [value]  # noqa: PLW2901 - one text is a list of one
        if not _is(value, kind):
            raise UsageError(
                f"{settings.path}: {key} in [tool.promptorder.{command}] must be {kind}",
                hint=f"mend it there; `promptorder {command} --help` explains --{spelled}",
            )
        values[parameter] = value
    return values


def _is(value: object, kind: Kind) -> bool:
    if isinstance(value, bool):
        return kind == "true or false"
    match kind:
        case "a text":
            return isinstance(value, str)
        case "a whole number":
            return isinstance(value, int)
        case "a number":
            return isinstance(value, int | float)
        case "a list of texts":
            return isinstance(value, list) and all(isinstance(each, str) for each in value)
        case _:
            return False


def _read(path: Path) -> Settings | None:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint="check its permissions") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} is not valid TOML: {error}", hint="mend it there, or use --config FILE"
        ) from error
    tool = data.get("tool", {})
    table = tool.get("promptorder") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict) or not all(isinstance(value, dict) for value in table.values()):
        raise UsageError(
            f"{path}: [tool.promptorder] holds one table a command",
            hint="write [tool.promptorder.compare] above the settings of compare",
        )
    return Settings(path, table)
