"""Write docs/cli.md from the commands' own help: ``python docs/generate.py``."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.testing import CliRunner

from promptorder.cli import cli


def reference() -> str:
    """The page as Markdown: each command's help as it is printed in 80 columns."""
    context = click.Context(cli)
    parts = ["# Command line", "", "Generated from `--help` by `docs/generate.py`.", ""]
    for command in ("", *cli.list_commands(context)):
        arguments = [command, "--help"] if command else ["--help"]
        # click measures the terminal; a page must be the same everywhere.
        result = CliRunner(env={"COLUMNS": "80"}).invoke(
            cli, arguments, prog_name="promptorder", terminal_width=80
        )
        assert result.exit_code == 0, result.output
        title = f"promptorder {command}".strip()
        parts += [f"## {title}", "", "```text", result.output.rstrip(), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    os.environ.pop("NO_COLOR", None)
    Path(__file__).with_name("cli.md").write_text(reference(), encoding="utf-8")
