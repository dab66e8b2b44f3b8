"""What the names in a program say about their values, as far as only programs have such names."""

from __future__ import annotations

from functools import lru_cache

from promptorder.lint._names import words

_MANUALS = frozenset(
    "prompt prompts rules handbook instructions system policy policies guide guidelines manual persona preamble".split()
)

_RULES = frozenset(("prompt", "instructions", "rules", "guidelines", "preamble", "persona", "system"))

_ASKED = frozenset(
    ("user", "human", "customer", "input", "current", "question", "query", "request", "full", "final", "llm")
)

_CONTENTS = frozenset(
    "text content page_content body value data description details title summary name id raw output result answer question "
    "query input message email role snippet excerpt chunk passage".split()
)
"""Attributes that say less than the name of what they belong to: ``ticket.text``, ``customer.name``."""

_HOLDERS = frozenset(
    ("state", "context", "ctx", "self", "config", "session", "request", "memory", "message", "msg", "task")
)
"""Objects that hold all sorts of things: what matters is which one of them."""


@lru_cache(maxsize=4096)
def is_rules(name: str) -> bool:
    """Whether a name says that it holds rules, which stay: ``system_prompt``, ``judge_prompt``, ``house_rules``."""
    found = words(name.rpartition(".")[2])
    if len(found) < 2 and found not in {("instructions",), ("rules",)}:
        return False
    if found[-1] == "template":
        found = found[:-1]
    return bool(found) and found[-1] in _RULES and not set(found) & _ASKED


def is_manual(name: str) -> bool:
    """Whether an imported constant's name says that it is a text of rules."""
    return name.isupper() and bool(frozenset(words(name)) & _MANUALS)


def of_part(whole: str, part: str) -> str:
    """The name of an attribute or an item: its own, and that of what it belongs to where that says more."""
    if not part:
        return whole
    if not whole or part not in _CONTENTS or whole.rpartition(".")[2] in _HOLDERS:
        return part
    return f"{whole}.{part}"
