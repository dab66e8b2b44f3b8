"""Python: the prompts that a program builds, each in the order in which the model reads it.

Found are message lists, requests and templates, and variables and functions whose names or texts say that they are
prompts. Their values are followed through variables, helper functions and classes of the same file. What the file says
as a constant is the same in every request, whatever it looks like.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from promptorder.forms import FormError
from promptorder.model.lint import Prompt, Source

SUFFIXES = (".py", ".pyi", ".pyw")
NAMES = ()
PLAIN = False

_MARKS = (
    "rompt", "PROMPT", '"role"', "'role'", "role=", "ystem_message", "SystemMessage", "nstructions", "INSTRUCTIONS",
    "system=", "SYSTEM", "def system_", "system = f", '"system"', "'system'", "You are ", "invoke(", "generate_content",
    "<|", "[INST]", "backstory",
)  # fmt: skip
_FEWEST_CHARACTERS = 200
_CHANGES = re.compile(r"\{\w|[fF][rR]?[\"']|\.format|%|\+|\.join|[Tt]emplate|replace|messages|role|tools")


def prompts(source: Source) -> Iterator[Prompt]:
    """The prompts of a program, first the ones that are made first."""
    text = source.text
    if not could_hold_a_prompt(text):
        return iter(())
    return _read(text)


def could_hold_a_prompt(text: str) -> bool:
    """Whether a program's words give reason to read it; cheap, as most files hold none."""
    return (
        len(text) >= _FEWEST_CHARACTERS
        and any(mark in text for mark in _MARKS)
        and bool(_CHANGES.search(text))
    )


def _read(text: str) -> Iterator[Prompt]:
    from promptorder.forms._python_program import Program
    from promptorder.forms._python_raw import open_templates
    from promptorder.forms._python_sinks import once
    from promptorder.forms._python_strings import Positions

    try:
        module = _parse(text)
    except FormError:
        from promptorder.forms._python_raw import prompts_in_literals

        yield from prompts_in_literals(text)
        raise
    program = Program(text, Positions(text), imports_of(module))
    try:
        program.run(module)
        found = list(open_templates(program))
    except RecursionError:
        raise FormError("the program is nested too deeply to follow") from None
    yield from once(found, program.explained)


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError as error:
            raise FormError(f"no Python that this version can read: {error.msg}", error.lineno) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise FormError(f"no Python that can be read: {error or type(error).__name__}") from None


def imports_of(module: ast.Module) -> dict[str, str]:
    """What each imported name stands for, in full."""
    names: dict[str, str] = {}
    waiting: list[ast.AST] = list(module.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = alias.name
                else:
                    names[alias.name.split(".")[0]] = alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}".lstrip(".")
        else:
            for field in ("body", "orelse", "finalbody", "handlers"):
                waiting.extend(
                    child
                    for child in getattr(node, field, ())
                    if isinstance(child, ast.stmt | ast.ExceptHandler)
                )
    return names
