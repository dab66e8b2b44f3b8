"""Which form a prompt file has: by its name, and where that says nothing, by what stands in it."""

import os
import re
from typing import Any, NamedTuple

from promptorder.forms import REGISTRY

ANY_TEXT = ("text", "markdown")
"""Forms that any text passes for, so that only the name or the folder tells a prompt from other texts."""
_DECLARED = re.compile(r"^(SUFFIXES|NAMES|PLAIN)\b[^=\n]*= (\(.*?\)|True|False)$", re.MULTILINE | re.DOTALL)
_declared: dict[str, dict[str, Any]] = {}
_SNIFFED = 4000


class Declared(NamedTuple):
    """Name endings and patterns of whole names with the form that claims each, and the forms that are plainly prompts."""

    by_suffix: dict[str, str]
    by_name: tuple[tuple[str, str], ...]
    plain: frozenset[str]


def declared() -> Declared:
    """What the forms claim; read from their files without importing them, for one file needs one form."""
    if not _declared:
        _declared.update({name: _read(name) for name in REGISTRY.names()})
    return Declared(
        {suffix: form for form, has in _declared.items() for suffix in has["SUFFIXES"]},
        tuple((pattern, form) for form, has in _declared.items() for pattern in has["NAMES"]),
        frozenset(form for form, has in _declared.items() if has["PLAIN"]),
    )


def by_name(path: str, known: Declared) -> tuple[str, str]:
    """The form of a file's name and the pattern that says so; both empty where the name says nothing."""
    name = os.path.basename(path)
    for pattern, form in known.by_name:
        if _matches(name, pattern):
            return form, pattern
    lower = name.lower()
    at = lower.find(".", 1)
    while at >= 0:  # the longest ending first
        if lower[at:] in known.by_suffix:
            return known.by_suffix[lower[at:]], f"*{lower[at:]}"
        at = lower.find(".", at + 1)
    return "", ""


def by_content(text: str, form: str = "") -> tuple[str, str]:
    """The form of a text whose name says nothing, or nothing better than ``text``."""
    head = text[:_SNIFFED].lstrip()
    if head.startswith(("{", "[")) and re.search(r'"(?:messages|prompt|input|contents)"\s*:', head):
        first, _, rest = head.partition("\n")
        several = first.rstrip().endswith("}") and rest.lstrip().startswith("{")
        return _there("jsonl" if several else "json", "it begins like a request")
    if form:
        return form, ""
    if re.match(r"#!.*\bpython", head):
        return _there("python", "its first line calls Python")
    if re.search(r"^FROM\s+\S+\s*$", head, re.MULTILINE) and re.search(
        r"^(?:SYSTEM|TEMPLATE|PARAMETER)\s", head, re.MULTILINE
    ):
        return _there("modelfile", "it has FROM and SYSTEM, TEMPLATE or PARAMETER")
    if re.search(r"\{%-?\s*\w+", head):
        return _there("jinja", "it has {% tags %}")
    return "text", "its name and content say no other"


def _there(form: str, why: str) -> tuple[str, str]:
    return (form, why) if form in REGISTRY.names() else ("text", "its name and content say no other")


def _matches(name: str, pattern: str) -> bool:
    if "*" not in pattern:
        return name == pattern
    start, _, end = pattern.partition("*")
    return len(name) >= len(start) + len(end) and name.startswith(start) and name.endswith(end)


def _read(name: str) -> dict[str, Any]:
    from ast import literal_eval

    try:
        with open(REGISTRY.file(name), encoding="utf-8") as file:
            found = {match[1]: literal_eval(match[2]) for match in _DECLARED.finditer(file.read())}
        return {key: found[key] for key in ("SUFFIXES", "NAMES", "PLAIN")}
    except (OSError, KeyError, ValueError, SyntaxError):  # only compiled files, or written in another way
        module = REGISTRY.load(name)
        return {"SUFFIXES": module.SUFFIXES, "NAMES": module.NAMES, "PLAIN": module.PLAIN}
