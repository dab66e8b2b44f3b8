"""What reading a trace met: which files it is made of, what was left out, and how far what was read can be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

FIRST_SKIPPED = 5
"""How many of a file's skipped lines are named."""
Holds = Literal["tokens", "blocks", "text", "server-log", "lengths"]
"""What a format tells of a prompt: its token ids, ids of blocks of tokens, its text; what a server says it reused; or
nothing but lengths, of which no reuse can be told."""


class SkippedLine(NamedTuple):
    """A line that could not be used, and why."""

    line: int
    reason: str


@dataclass(slots=True)
class FileReport:
    """One file: ``form`` is its format, ``other_lines`` are of the format and hold no request, ``cut`` says how it breaks off."""

    path: str
    form: str = ""
    requests: int = 0
    other_lines: int = 0
    skipped_lines: int = 0
    first_skipped: list[SkippedLine] = field(default_factory=list)
    cut: str = ""


@dataclass(slots=True)
class ReadReport:
    """All files of a trace, complete when its last request was taken.

    ``apis`` counts requests by whose they are. ``observed`` is of how many the server's own word of its reuse was found, and
    ``said_tokens`` the prompts' lengths by the servers over requests that came as text, beside ``counted_tokens`` by
    the tokenizer. ``estimated_tokens`` stand for ``pictures``. ``undated`` requests name no time where others do;
    ``reordered`` were put right, ``late`` came too late for that. ``remarks`` are sentences on the reading.
    """

    files: list[FileReport] = field(default_factory=list)
    tokenizer: str | None = None
    tokenizer_exact: bool | None = None
    apis: dict[str, int] = field(default_factory=dict)
    observed: int = 0
    said_tokens: int = 0
    counted_tokens: int = 0
    pictures: int = 0
    estimated_tokens: int = 0
    undated: int = 0
    reordered: int = 0
    late: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """Requests that were read."""
        return sum(file.requests for file in self.files)

    @property
    def skipped_lines(self) -> int:
        """Lines of all files that could not be used."""
        return sum(file.skipped_lines for file in self.files)

    def remark(self, sentence: str) -> None:
        """Note a sentence once."""
        if sentence not in self.remarks:
            self.remarks.append(sentence)
