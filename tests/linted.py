"""What lint says of a text in one form, in short."""

from __future__ import annotations

from importlib import import_module

from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Prompt, Source

RULES = """You answer for the tea counter of a botanical garden.
Name at most three blends and say in which month each was picked.
Never claim that a tea heals anything; point to the pharmacy across the road.
Visitors who ask for coffee are told, kindly, that there is none.
Prices are for a pot of two cups and include the second pouring.
If a blend is sold out, offer the one that stands beside it on the shelf.
Keep to four sentences and end with the table number.
"""
"""Static text that is worth to be reused; two of them are worth it behind a question as well."""

_RULES = Rules()


def prompts(text: str, form: str, path: str = "prompts/tea.j2") -> list[Prompt]:
    """The prompts that the form's reader finds."""
    module = import_module(f"promptorder.forms.{form}")
    return list(module.prompts(Source(path, form, text)))


def found(text: str, form: str, path: str = "prompts/tea.j2") -> list[tuple[int, str]]:
    """Lines and rules of the findings that are not only information."""
    module = import_module(f"promptorder.forms.{form}")
    source = Source(path, form, text)
    findings = lint(source, module.prompts(source), _RULES)
    return [(f.line, f.name) for f in findings if f.severity != "info"]


def static_text(text: str, form: str) -> str:
    """What is static in the first prompt."""
    return "".join(s.text for s in prompts(text, form)[0].segments if s.origin == "static")
