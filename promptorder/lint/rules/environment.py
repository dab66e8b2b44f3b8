"""The working folder, git state or machine stands in front of static text.

What it does: finds lines that describe the surroundings of a program (folder, branch, changed files, host, a listing of
files), placeholders
with such names, and code that asks for them.

Why it costs: the state differs between checkouts and machines and changes with every edit, and all that stands behind it
is read again then. In agents that is the tool list and the whole rule book.

Example::

    - folder: /home/dev/projects/kiln
    - branch: fix/glaze-order (3 files changed)
    # How to work (2,000 tokens)

Use instead: begin with what is the same everywhere, and end the system text, or the first user message, with the
surroundings.

When it is fine to ignore: the prompt is only ever used on one machine and in one folder, and holds no git state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.lint._context import Around, first_values
from promptorder.lint._patterns import lazily
from promptorder.lint.engine import Found

CODE = "PO122"
CHANGES = "checkout"
SEVERITY = "warning"
WORTH = 40
TIP = "Put folder, branch and machine after the static rules, or in the first user message."
KINDS = ("environment",)

_PATH = r"(?:/(?:home|users|var|tmp|opt|srv|mnt|workspace|root|usr|data|private)/|~/|[a-z]:\\)[^\s,;)\"'`]+"
_FOLDER = (
    r"\b(?:cwd|pwd|(?:working|current|home|project|base|root) (?:dir(?:ectory)?|folder|path)|folder|directory|workspace|"
    rf"repo(?:sitory)?(?: root)?|project root)\b[^\n/~\\]{{0,24}}{_PATH}"
)
_GIT = (
    r"\b(?:git )?(?:branch|HEAD|commit)\b ?(?:is|:|=)? ?[\w.-]+/[\w./-]+|\b(?:branch|git status)\s?[:=]\s?\S+"
    r"|\b\d+ (?:files? )?(?:dirty|untracked|modified|staged|uncommitted)\b|\b\d+ files? (?:changed|dirty|modified)"
)
_MACHINE = (
    r"^[ \t*-]*(?:host(?:name)?|machine|platform|os(?: version)?|kernel|shell|node name)\s?[:=]\s?[\w.-]+"
)
_LISTING = (
    r"^[^\n]{0,60}\b(?:files?|tree|listing|director(?:y|ies)|folders?|workspace)\b[^\n]{0,30}[:>]\n+"
    r"(?P<first>[ \t]*[./]{0,2}[\w@+-]+[./][\w./@+-]+\n)(?:[ \t]*[./]{0,2}[\w@+-]+[./][\w./@+-]*\n){7}"
)
TRIGGERS = (_FOLDER, _GIT, f"(?m){_MACHINE}", f"(?m){_LISTING}")
_STATE = lazily(f"{_FOLDER}|{_GIT}", re.IGNORECASE)
_MACHINE_LINE = lazily(_MACHINE, re.IGNORECASE | re.MULTILINE)
_FILES = lazily(_LISTING, re.IGNORECASE | re.MULTILINE)
_HEAD = 14


def literals(text: str, around: Around) -> Iterator[Found]:
    """Lines about the surroundings near the top; one hit a line."""
    listing = _FILES.search(text)
    if listing is not None:
        start, end = listing.start("first"), listing.end("first") - 1
        if around.line_number(start) <= _HEAD and not around.is_example(start, start + 1):
            yield Found(start, end, confidence="medium")
    seen: set[int] = set()
    for match in first_values(_STATE, text):
        line = text.rfind("\n", 0, match.start()) + 1
        if (
            line in seen
            or text[match.start() - 1 : match.start()] in ("?", "&", "/")
            or around.line_number(match.start()) > _HEAD
            or around.is_example(match.start(), match.end())
        ):
            continue
        seen.add(line)
        yield Found(match.start(), match.end(), confidence="medium")
    if not seen:
        return
    # A host or platform alone may be anything; beside a folder or a branch it is the machine.
    for match in _MACHINE_LINE.finditer(text):
        if min(abs(match.start() - line) for line in seen) < 400:
            yield Found(
                match.start() + len(match[0]) - len(match[0].lstrip(" \t*-")),
                match.end(),
                "machine",
                "medium",
            )
