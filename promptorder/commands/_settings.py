"""``--show-settings``: what a command would use, and where each value comes from."""

from __future__ import annotations

import click
from click.core import ParameterSource

from promptorder.settings import Settings

_SECRET = {"password", "headers"}


def show_settings_if_asked(ctx: click.Context) -> bool:
    """Print the settings of ``ctx``'s command where the user asked for them, and say whether he did."""
    if not ctx.find_root().meta.get("promptorder.show_settings"):
        return False
    settings = ctx.find_object(Settings)
    sources = {
        ParameterSource.COMMANDLINE: "command line",
        ParameterSource.ENVIRONMENT: "environment",
        ParameterSource.DEFAULT_MAP: str(settings.path) if settings and settings.path else "settings file",
        ParameterSource.PROMPT: "prompt",
    }
    options = [p for p in ctx.command.params if isinstance(p, click.Option) and p.name in ctx.params]
    width = max(len(_flag(option)) for option in options)
    for option in options:
        assert option.name is not None
        source = ctx.get_parameter_source(option.name)
        where = sources.get(source, "default") if source is not None else "default"
        click.echo(f"{_flag(option):<{width}}  {_shown(option.name, ctx.params[option.name]):<24}  {where}")
    return True


def _flag(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def _shown(name: str, value: object) -> str:
    if value is None or value == ():
        return "-"
    if name in _SECRET:
        return "(set)"
    if name == "host" and isinstance(value, str) and "@" in value:
        return f"(user and password)@{value.rpartition('@')[2]}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(str(each) for each in value)
    return str(value)
