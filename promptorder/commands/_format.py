"""The option ``--format`` of commands whose result goes to standard output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
