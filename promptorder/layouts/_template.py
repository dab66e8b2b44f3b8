"""A layout: where rules, document, question and clock stand in a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from promptorder.errors import UsageError
from promptorder.model.prompt import Message, Prompt, Role

PLACEHOLDERS = {
    "rules": "the instructions, the same in every request",
    "document": "the document's text",
    "question": "the question, another one in each request",
    "clock": "the time to the second, 2026-11-30 14:03:27",
    "date": "the date alone, 2026-11-30",
}
_REQUIRED = ("document", "question")
# {{ and }} stand for one brace; any other brace that holds no name, as in JSON, is left as it is.
_TOKEN = re.compile(r"\{\{|\}\}|\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Layout:
    """A named order of the parts of a prompt.

    ``system`` and ``user`` are texts with the placeholders of PLACEHOLDERS; an empty one sends no
    such message. ``advice`` is what to do when a prompt in this order is read again and again.
    """

    name: str
    summary: str
    system: str
    user: str
    advice: str = ""

    @property
    def ticks(self) -> bool:
        """Whether the prompt holds a clock that shows seconds."""
        return any(name == "clock" for _, name in self._placeholders())

    def check(self, path: str = "") -> None:
        """Raise UsageError for an unknown placeholder, or where document or question are missing."""
        where = path or f"layout {self.name}"
        used = set()
        for section, name in self._placeholders():
            if name not in PLACEHOLDERS:
                near = get_close_matches(name, PLACEHOLDERS, n=1)
                meant = f"did you mean {{{near[0]}}}? " if near else ""
                raise UsageError(
                    f"{where}: unknown placeholder {{{name}}} in section [{section}]",
                    hint=f"{meant}there are: {_names()}; write {{{{ and }}}} for braces that are text",
                )
            used.add(name)
        for name in _REQUIRED:
            if name not in used:
                raise UsageError(
                    f"{where}: the placeholder {{{name}}} is missing",
                    hint=f"put {{{name}}} where the {name} belongs, in section [system] or [user]",
                )

    def build(self, *, rules: str, document: str, question: str, now: datetime, nonce: str = "") -> Prompt:
        """The prompt of one request. ``nonce``, if any, is its very first text."""
        values = {
            "rules": rules,
            "document": document,
            "question": question,
            "clock": now.strftime("%Y-%m-%d %H:%M:%S"),
            "date": now.strftime("%Y-%m-%d"),
        }
        messages: list[Message] = []
        start, placed = (0, 0), False
        sections: tuple[tuple[Role, str], ...] = (("system", self.system), ("user", self.user))
        for role, template in sections:
            text, at = _fill(template, values)
            if not text.strip():
                continue
            if nonce and not messages:
                text, at = f"{nonce}\n{text}", at + len(nonce) + 1 if at >= 0 else at
            if at >= 0 and not placed:
                start, placed = (len(messages), at), True
            messages.append(Message(role, text))
        return Prompt(tuple(messages), start, len(document))

    def _placeholders(self) -> Iterator[tuple[str, str]]:
        for section, text in (("system", self.system), ("user", self.user)):
            for match in _TOKEN.finditer(text):
                if match[1]:
                    yield section, match[1]


def parse_layout(text: str, *, name: str, path: str) -> Layout:
    """Read a layout of the user's own: lines ``[system]`` and ``[user]``, each followed by its text.

    Lines before the first section that start with ``#`` are comments; the first is the summary.
    Raises UsageError with the line where the file breaks the form.
    """
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    summary = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = line.strip()
        if header in ("[system]", "[user]"):
            if header[1:-1] in sections:
                raise UsageError(f"{path}:{number}: a second {header} section", hint="keep one of each")
            current = sections.setdefault(header[1:-1], [])
        elif current is not None:
            current.append(line)
        elif header.startswith("#"):
            summary = summary or header.lstrip("# ")
        elif header:
            raise UsageError(
                f"{path}:{number}: text before the first section",
                hint="start with a line [system] or [user]; lines with # above it are comments",
            )
    if not sections:
        raise UsageError(
            f"{path}: no section", hint="write a line [user], and below it {document} and {question}"
        )
    system, user = ("\n".join(sections.get(key, ())).strip("\n") for key in ("system", "user"))
    layout = Layout(name, summary or "your own layout", system, user)
    layout.check(path)
    return layout


def _fill(template: str, values: dict[str, str]) -> tuple[str, int]:
    """The text, and the offset of the document in it or -1. One pass: a document's braces stay text."""
    parts: list[str] = []
    length, last, document_at = 0, 0, -1
    for match in _TOKEN.finditer(template):
        text = values.get(match[1], match[0]) if match[1] else match[0][0]
        before = template[last : match.start()]
        length += len(before)
        if match[1] == "document" and document_at < 0:
            document_at = length
        length += len(text)
        parts += (before, text)
        last = match.end()
    parts.append(template[last:])
    return "".join(parts), document_at


def _names() -> str:
    return ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
