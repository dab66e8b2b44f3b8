"""A rule's page, made of its docstring: for the documentation, for ``explain`` and for SARIF."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from promptorder.lint.registry import REGISTRY


def name_of(rule: ModuleType) -> str:
    """A rule's name is that of its file."""
    return rule.__name__.rsplit(".", 1)[-1].replace("_", "-")


def rules() -> list[ModuleType]:
    """All rules, by code."""
    return sorted(REGISTRY.load_all().values(), key=lambda rule: (rule.CODE, rule.__name__))


def summary(rule: ModuleType) -> str:
    """The first sentence."""
    return (rule.__doc__ or "").strip().partition("\n")[0]


def facts(rule: ModuleType) -> str:
    """Severity, and how much must be lost behind the value."""
    parts = [f"severity {rule.SEVERITY}"]
    if rule.CHANGES != "unknown":
        parts.append(f"changes: {rule.CHANGES}")
    if rule.WORTH:
        parts.append(f"reported from {rule.WORTH} static tokens behind it")
    return ", ".join(parts)


def plain(rule: ModuleType) -> str:
    """The page for a terminal."""
    body = (rule.__doc__ or "").strip().replace("``", "`").replace("::\n", ":\n")
    return f"{rule.CODE} {name_of(rule)} ({facts(rule)})\n\n{body}\n\nTip: {rule.TIP}\n"


def markdown(rule: ModuleType, *, heading: bool = True) -> str:
    """The page as Markdown."""
    parts = [f"# {rule.CODE} {name_of(rule)}\n"] if heading else []
    for paragraph in _paragraphs(rule.__doc__ or ""):
        lines = paragraph.split("\n")
        if all(line.startswith("    ") for line in lines if line):
            code = "\n".join(line[4:] for line in lines)
            parts.append(f"```text\n{code}\n```\n")
            continue
        text = paragraph.replace("``", "`")
        label, colon, rest = text.partition(":")
        if colon and len(label) < 40 and "\n" not in label and "`" not in label:
            text = f"**{label}**{':' if rest.strip(': ') else ''}{rest.removeprefix(':')}"
        parts.append(f"{text}\n")
    parts.append(f"*{facts(rule)[0].upper()}{facts(rule)[1:]}.* {rule.TIP}\n")
    return "\n".join(parts)


def index() -> str:
    """The page that lists all rules, as Markdown."""
    rows = [
        f"| [{rule.CODE}]({name_of(rule)}.md) | `{name_of(rule)}` | {rule.SEVERITY} | {summary(rule)} |"
        for rule in rules()
    ]
    head = ["# Rules", "", "Generated from the rules' docstrings by `docs/generate.py`.", ""]
    return "\n".join([*head, "| code | name | severity | |", "| --- | --- | --- | --- |", *rows, ""])


def _paragraphs(text: str) -> Iterator[str]:
    """Blocks between blank lines; an indented one keeps the blank lines in it."""
    block: list[str] = []
    for line in [*text.strip().split("\n"), "end"]:
        indented = line.startswith("    ") or (not line.strip() and block and block[0].startswith("    "))
        starts_anew = bool(block) and block[0].startswith("    ") != indented
        if (not line.strip() and not indented) or starts_anew or line == "end":
            while block and not block[-1].strip():
                block.pop()
            if block:
                yield "\n".join(block)
            block = []
        if line.strip() or block:
            block.append(line.rstrip())
