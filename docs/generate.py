"""Write what the program itself says best: ``python docs/generate.py``.

That is docs/cli.md from the commands' own help, and docs/rules/ with its part of .mkdocs.yml from the rules' docstrings.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import click
from click.testing import CliRunner

from promptorder.cli import cli
from promptorder.lint.pages import index, markdown, name_of, rules

DOCS = Path(__file__).parent
SITE = DOCS.parent / ".mkdocs.yml"
_NAV = re.compile(r"(  - Rules:\n)(?:      - rules/.*\n)*")


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


def rule_pages() -> dict[str, str]:
    """The text of each file in docs/rules/."""
    return {"index.md": index()} | {f"{name_of(rule)}.md": markdown(rule) for rule in rules()}


def site(text: str) -> str:
    """The text of .mkdocs.yml with the rules' pages in its navigation."""
    lines = "".join(f"      - rules/{name}\n" for name in rule_pages())
    return _NAV.sub(rf"\g<1>{lines}", text)


def main() -> None:
    """Write all of it, and remove pages of rules that are gone."""
    os.environ.pop("NO_COLOR", None)
    (DOCS / "cli.md").write_text(reference(), encoding="utf-8")
    pages = rule_pages()
    (DOCS / "rules").mkdir(exist_ok=True)
    for path in (DOCS / "rules").glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (DOCS / "rules" / name).write_text(text, encoding="utf-8")
    SITE.write_text(site(SITE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
