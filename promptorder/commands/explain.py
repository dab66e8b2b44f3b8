"""``promptorder explain``: the page of a rule."""

from __future__ import annotations

import click


@click.command(name="explain", short_help="Explain a rule of lint.")
@click.argument("rule", metavar="CODE|NAME")
def command(rule: str) -> int:
    """Print what a rule of lint finds, why it costs, and what to write instead.

    \b
    Examples:
      promptorder explain PO101
      promptorder explain timestamp
    """
    from promptorder.console import print_text
    from promptorder.lint.pages import plain
    from promptorder.lint.registry import REGISTRY
    from promptorder.lint.selection import resolve

    pages = [plain(REGISTRY.load(name)) for name in resolve([rule], "explain")]
    print_text("\n".join(pages))
    return 0
