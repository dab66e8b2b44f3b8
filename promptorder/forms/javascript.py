"""JavaScript and TypeScript: the prompts that a program builds, each in the order in which the model reads it.

Found are message lists, requests and templates, and variables and functions whose names or texts say that they are
prompts. Their values are followed through variables, helper functions and classes of the same file. What the file says
as a constant is the same in every request, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.forms import FormError
from promptorder.model.lint import Prompt, Source

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
NAMES = ()
PLAIN = False

_MARKS = (
    "rompt", "PROMPT", "role:", '"role"', "'role'", "nstruction", "INSTRUCTION", "system:", "ystemMessage", "SYSTEM",
    "ystem_", "fromMessages", "fromTemplate", "You are ", "You answer", "You help", "You write", "You run", "Your task",
    "Your job", "Your role", "Act as",
)  # fmt: skip
_CHANGES = re.compile(
    r"\$\{|\+|\.join|\.concat|\.replace|messages|[Tt]emplate|\{\w+\}|\.\.\.|\.push|tools|huffle"
)
_FEWEST_CHARACTERS = 160
_TEST = re.compile(
    r"[._](?:test|spec|stories|bench|e2e)\.[cm]?[jt]sx?$|(?:^|[/\\])__(?:tests|mocks)__[/\\]|\.d\.[cm]?ts$|\.min\.\w+$"
)
_LONG_LINE = 400
"""Characters in an average line: a longer one was written by a bundler."""


def prompts(source: Source) -> Iterator[Prompt]:
    """The prompts of a program, first the ones that stand first."""
    if not could_hold_a_prompt(source):
        return iter(())
    return _read(source)


def could_hold_a_prompt(source: Source) -> bool:
    """Whether a program's words give reason to read it; cheap, as most files hold none."""
    text = source.text
    return (
        len(text) >= _FEWEST_CHARACTERS
        and any(mark in text for mark in _MARKS)
        and bool(_CHANGES.search(text))
        and not _TEST.search(source.path)
        and (len(text) < 20_000 or text.count("\n") * _LONG_LINE > len(text))
    )


def _read(source: Source) -> Iterator[Prompt]:
    from promptorder.forms._js_program import Program
    from promptorder.forms._js_sinks import Finder
    from promptorder.forms._js_source import Code
    from promptorder.forms._python_sinks import once

    code = Code(source.text, "." + source.path.rpartition(".")[2].lower())
    try:
        found = Finder(Program(code)).candidates()
    except RecursionError:
        raise FormError("the program is nested too deeply to follow") from None
    # What a helper makes of its parameters is told where it is called, if it is: so what is sent goes first.
    kept = once(sorted(found, key=lambda candidate: not candidate.sent), set())
    yield from sorted(kept, key=lambda prompt: min(segment.start for segment in prompt.segments))
    line = None if found else code.error_line(_MARKS)
    if line is not None:
        raise FormError("no JavaScript or TypeScript that can be read", line)
