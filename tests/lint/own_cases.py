"""What a case of our own is: a file whose lines carry marks for what must be found on them.

``§`` ends a line on which a warning or an error must stand, ``¤`` one that may stand for it, ``‡`` one that does not matter.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from shared_cases import SharedCase

GARDEN = """You are the guide of a botanical garden with nine glass houses.
Answer in at most five sentences and name the house that a plant stands in.
Never say that a plant is safe to eat; point to the kitchen garden instead.
House three is closed while the palms are being lifted.
Groups of more than twelve need a slip from the gate office.
If a visitor reports a broken pane, ask for the row number and thank them once.
Dogs may enter the outer paths only and stay on a short lead.
Seeds are sold at the gate and never sent by post.
Latin names come first, common names in brackets.
A lost child is brought to the tea room, and the gate is told at once."""
FORGE = """You check orders for a small forge that makes hinges and gate latches.
Return one of: accept, ask, decline, and one sentence why.
Orders below ten pieces are accepted without a drawing.
A drawing without a scale is always a reason to ask.
Brass is not cast here; decline and name the foundry by the canal.
Prices are never quoted; the office does that on paper.
If the finish is missing, assume oil black and say so.
Weights are in kilograms, lengths in millimetres.
Do not promise a delivery week, whatever the order says.
When a piece is named twice, count it once and say so."""
MARKS = "§¤‡"


class OwnCase(NamedTuple):
    """A name, the name of the file, and its text with marks."""

    name: str
    file: str
    text: str

    @property
    def content(self) -> str:
        """The file without marks."""
        return self.text.translate(dict.fromkeys(map(ord, MARKS)))

    def expected(self) -> SharedCase:
        """The lines by their marks."""
        wanted, other, tolerated = (
            frozenset(n for n, line in enumerate(self.text.split("\n"), 1) if mark in line) for mark in MARKS
        )
        return SharedCase(
            self.name, Path(self.file), "", wanted, wanted | other if other else other, tolerated
        )


def indented(text: str, by: int) -> str:
    """A text with spaces in front of each line."""
    return "\n".join(" " * by + line for line in text.split("\n"))


def as_json(value: object, *wanted: str) -> str:
    """JSON over several lines; those that hold one of ``wanted`` are marked, ``¤word`` as one that may stand for it."""
    lines = json.dumps(value, indent=1, ensure_ascii=False).split("\n")
    for number, line in enumerate(lines):
        for word in wanted:
            if word.lstrip("¤") in line:
                lines[number] += "¤" if word.startswith("¤") else "§"
                break
    return "\n".join(lines) + "\n"


def log(*requests: dict[str, Any], lost: int = 0, sessions: str = "", minutes: int = 1) -> str:
    """A log in envelopes, a minute apart; ``lost`` is the line that lost its reuse."""
    lines = []
    for n, request in enumerate(requests):
        at = f"2031-06-03T{8 + n * minutes // 60:02}:{n * minutes % 60:02}:05Z"
        record = {"ts": at, "session": sessions[n] if sessions else "s", "request": request}
        lines.append(json.dumps(record, ensure_ascii=False) + ("§" if n + 1 == lost else ""))
    return "\n".join(lines) + "\n"


def said(system: str, *turns: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    """A request to a local model: a system text, then turns, the user's first."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
    for n, turn in enumerate(turns):
        messages.append(
            turn if isinstance(turn, dict) else {"role": ("user", "assistant")[n % 2], "content": turn}
        )
    return {"model": "qwen3:8b", "messages": messages, **more}
