"""Settings from ``[tool.promptorder]`` of a pyproject.toml."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from promptorder.errors import UsageError
from promptorder.plugins import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

# pathlib, tomllib and dataclasses would be a third of what a start of lint may cost: they wait until they are needed.


class Settings(NamedTuple):
    """The tables of ``[tool.promptorder]``, one a command, and the file that they come from."""

    path: "Path | None" = None
    tables: Mapping[str, dict[str, Any]] = {}


def load_settings(config: str | None, folder: "str | Path") -> Settings:
    """Read ``config``, or the nearest pyproject.toml at or above ``folder`` that has a table for us.

    Raises UsageError for a file that is not there, not TOML, or whose table has a wrong shape.
    """
    if config is not None:
        from pathlib import Path

        if not os.path.isfile(config):
            raise UsageError(f"no such settings file: {config}", hint="name a pyproject.toml with --config")
        return _read(config) or Settings(Path(config))
    parent, last = os.path.abspath(folder), ""
    while parent != last:
        path = os.path.join(parent, "pyproject.toml")
        if os.path.isfile(path) and (settings := _read(path)) is not None:
            return settings
        parent, last = os.path.dirname(parent), parent
    return Settings()


Kind = Literal[
    "a text",
    "a whole number",
    "a number",
    "true or false",
    "a list of texts",
    "a table of texts",
    "a table of lists",
]


class Key(NamedTuple):
    """A setting's parameter, and what TOML must give for it."""

    parameter: str
    kind: Kind


def check_tables(settings: Settings, commands: Sequence[str]) -> None:
    """Raise UsageError for a table that is named like no command."""
    for name in settings.tables:
        if name not in commands:
            raise UsageError(
                f"{settings.path}: there is no command for [tool.promptorder.{name}]",
                hint=f"{did_you_mean(name, commands)}there are: {', '.join(commands)}",
            )


def check_keys(settings: Settings, command: str, known: Mapping[str, Key]) -> dict[str, Any]:
    """The values of a command's table under its parameter names.

    ``known`` has each key as people write it (``num-ctx``). Raises UsageError for an unknown key and
    for a value of another kind.
    """
    values: dict[str, Any] = {}
    for key, value in settings.tables.get(command, {}).items():
        spelled = key.replace("_", "-")
        if spelled not in known:
            raise UsageError(
                f"{settings.path}: unknown setting {key!r} in [tool.promptorder.{command}]",
                hint=f"{did_you_mean(spelled, known)}there are: {', '.join(sorted(known))}",
            )
        parameter, kind = known[spelled]
        if kind == "a list of texts" and isinstance(value, str):
            value = [value]  # noqa: PLW2901 - one text is a list of one
        if not _is(value, kind):
            explained = (
                f"write [tool.promptorder.{command}.{spelled}]"
                if kind.startswith("a table")
                else (f"`promptorder {command} --help` explains --{spelled}")
            )
            raise UsageError(
                f"{settings.path}: {key} in [tool.promptorder.{command}] must be {kind}",
                hint=f"mend it there; {explained}",
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
        case "a table of texts":
            return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
        case "a table of lists":
            return isinstance(value, dict) and all(
                isinstance(each, str) or _is(each, "a list of texts") for each in value.values()
            )
        case _:
            return False


def _read(name: str) -> Settings | None:
    """The settings in a file, or None where it has none for us."""
    try:
        with open(name, "rb") as file:
            data = file.read()
        text = data.decode("utf-8-sig")
        if "promptorder" not in text:
            return None
        import tomllib

        tool = tomllib.loads(text).get("tool", {})
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}", hint="check its permissions") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML
        raise UsageError(
            f"{name} is not valid TOML: {error}", hint="mend it there, or use --config FILE"
        ) from error
    table = tool.get("promptorder") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict) or not all(isinstance(value, dict) for value in table.values()):
        raise UsageError(
            f"{name}: [tool.promptorder] holds one table a command",
            hint="write [tool.promptorder.compare] above the settings of compare",
        )
    from pathlib import Path

    return Settings(Path(name), table)
