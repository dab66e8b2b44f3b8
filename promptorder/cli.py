"""The command line: commands load when they are called, and here alone an error becomes an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from promptorder._version import __version__
from promptorder.errors import PromptorderError
from promptorder.plugins import Registry
from promptorder.settings import Settings, check_keys, load_settings

COMMANDS = Registry("promptorder.commands", "command")
EXIT_INTERRUPTED = 130
EXIT_INTERNAL = 70


class _Commands(click.Group):
    """The commands are the modules of promptorder.commands, imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return COMMANDS.names()

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS.names():
            return None
        command: click.Command = COMMANDS.load(name).command
        if isinstance(ctx.obj, Settings):
            known = {_spelled(p): p.name for p in command.params if isinstance(p, click.Option) and p.name}
            ctx.default_map = {**(ctx.default_map or {}), name: check_keys(ctx.obj, name, known)}
        return command


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, "--version", message="promptorder %(version)s")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour on a terminal alone (auto, and never with NO_COLOR), always, or never.",
)
@click.option(
    "--config", metavar="FILE", help="Read settings from this pyproject.toml instead of the nearest one."
)
@click.option("--show-settings", is_flag=True, help="Print the command's settings and where each comes from.")
@click.pass_context
def cli(ctx: click.Context, color: str, config: str | None, show_settings: bool) -> None:
    """Shows, measures and repairs the order of a prompt.

    A server reuses the longest start that a prompt shares with an earlier one. So put what stays the
    same first and what changes last: promptorder shows what your order costs.
    """
    ctx.obj = load_settings(config, Path.cwd())
    ctx.meta["promptorder.color"] = color
    ctx.meta["promptorder.show_settings"] = show_settings


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; prints errors as ``error:`` and ``help:``."""
    try:
        # click returns what the command returns, or the code of an early exit such as --help.
        result = cli.main(list(arguments), prog_name="promptorder", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _fail(error.format_message().rstrip("."), _usage_hint(error), 2)
    except PromptorderError as error:
        return _fail(str(error), error.hint, error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", "", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has left; writing more, even at exit, would only fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory", "try a smaller document, or --pages", EXIT_INTERNAL)
    except Exception as error:
        # The message may quote a document, so only the kind and the place are shown.
        if os.environ.get("PROMPTORDER_DEBUG"):
            traceback.print_exc()
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return _fail(
            f"internal error: {type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}",
            "this is a bug in promptorder; PROMPTORDER_DEBUG=1 shows the traceback to report",
            EXIT_INTERNAL,
        )
    return result if isinstance(result, int) else 0


def _fail(message: str, hint: str, code: int) -> int:
    from promptorder.console import print_note

    color: Any = "never" if "--color=never" in sys.argv else "auto"
    print_note("error", message, color=color)
    if hint:
        print_note("help", hint, color=color)
    return code


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "promptorder"
    return f"`{path} --help` shows how it is used"


def _spelled(option: click.Option) -> str:
    longest = max(option.opts, key=len)
    return longest.lstrip("-")
