"""The command line: commands load when they are called, and here alone an error becomes an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn, cast

import click

from promptorder._version import __version__
from promptorder.errors import OutputError, PromptorderError
from promptorder.plugins import Registry
from promptorder.settings import Key, Kind, check_keys, check_tables, load_settings

if TYPE_CHECKING:
    from promptorder.console import Color

COMMANDS = Registry("promptorder.commands", "command")
EXIT_INTERRUPTED = 130
EXIT_INTERNAL = 70
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class _Commands(click.Group):
    """The commands are the modules of promptorder.commands, imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return COMMANDS.names()

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS.names():
            return None
        command: click.Command = COMMANDS.load(name).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # An option in the place of a command is click's to explain, another word is a command that is not there.
        if args and not args[0].startswith("-"):
            COMMANDS.load(args[0])
        return super().resolve_command(ctx, args)


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
    ctx.obj = settings = load_settings(config, os.getcwd())
    check_tables(settings, COMMANDS.names())
    # click has found the command by now, and reads its options after this.
    name = ctx.invoked_subcommand
    if name is not None:
        module = COMMANDS.load(name)
        options = [p for p in module.command.params if isinstance(p, click.Option)]
        known = {_spelled(option): Key(option.name, _kind(option)) for option in options if option.name}
        # Tables have no option: the command takes them from its default map.
        known |= getattr(module, "TABLES", {})
        ctx.default_map = {name: check_keys(settings, name, known)}
    ctx.meta["promptorder.color"] = color
    ctx.meta["promptorder.show_settings"] = show_settings


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; prints errors as ``error:`` and ``help:``."""
    color = _color(arguments)
    try:
        result = _invoke(list(arguments))
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _fail(error.format_message().rstrip("."), _usage_hint(error), 2, color)
    except PromptorderError as error:
        return _fail(str(error), error.hint, error.exit_code, color)
    except (KeyboardInterrupt, click.Abort):
        click.echo(err=True)  # ends the line on which the terminal shows ^C
        return _fail("interrupted", "", EXIT_INTERRUPTED, color)
    except BrokenPipeError:
        # Whoever read our output has left.
        _drop_output()
        return 0
    except MemoryError:
        return _fail("out of memory", "try a smaller document, or --pages", EXIT_INTERNAL, color)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _drop_output()
            return _fail(f"cannot write: {error.strerror}", "free some space", OutputError.exit_code, color)
        import traceback

        # The message may quote a document, so only the kind and the place are shown.
        if os.environ.get("PROMPTORDER_DEBUG"):
            traceback.print_exc()
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return _fail(
            f"internal error: {type(error).__name__} at {os.path.basename(frame.filename)}:{frame.lineno}",
            "this is a bug in promptorder; PROMPTORDER_DEBUG=1 shows the traceback to report",
            EXIT_INTERNAL,
            color,
        )
    return result if isinstance(result, int) else 0


def leave(code: int) -> NoReturn:
    """End the process, all output written."""
    if "promptorder.commands.lint" in sys.modules and sys.gettrace() is None:
        # A hook calls lint for every commit. It leaves nothing behind that would need the interpreter taken down
        # in order, and that alone would take as long as all of its own work.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _invoke(arguments: list[str]) -> object:
    """What the command returns, or the code of an early exit such as --help."""
    if "_PROMPTORDER_COMPLETE" in os.environ:
        return cli.main(arguments, prog_name="promptorder")
    # cli.main would leave with 1, which means findings here, when whoever reads our output has left.
    try:
        with cli.make_context("promptorder", arguments) as ctx:
            return cli.invoke(ctx)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code


def _drop_output() -> None:
    """Writing what is left in the buffer, as happens at exit, would only fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _color(arguments: Sequence[str]) -> Color:
    """What --color says, read by hand: an error may come before click has read it."""
    for argument, following in pairwise([*arguments, ""]):
        given = following if argument == "--color" else argument.removeprefix("--color=")
        if given in ("always", "never") and argument.startswith("--color"):
            return cast("Color", given)
    return "auto"


def _fail(message: str, hint: str, code: int, color: Color) -> int:
    from promptorder.console import print_note

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


def _kind(option: click.Option) -> Kind:
    if option.multiple:
        return "a list of texts"
    if option.is_flag:
        return "true or false"
    if isinstance(option.type, click.types.IntParamType):
        return "a whole number"
    return "a number" if isinstance(option.type, click.types.FloatParamType) else "a text"
