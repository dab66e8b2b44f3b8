"""The options ``--format`` and ``--out``: how a result is shown, and where it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click


def format_option(names: Sequence[str], *, default: str = "text") -> Callable[..., Any]:
    """Add ``--format`` with these names, as ``format_``."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(names),
        default=default,
        show_default=True,
        help="What standard output carries.",
    )


def out_options(names: Sequence[str], *, default: str) -> Callable[..., Any]:
    """Add ``--format`` with these names, as ``format_``, and ``--out``, whose name says a format too."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        function = click.option(
            "--out",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Where it goes, whole or not at all. Default: standard output.",
        )(function)
        return click.option(
            "--format",
            "format_",
            type=click.Choice(names),
            help=f"Default: what the name of --out says, else {default}.",
        )(function)

    return add
