"""The case folders that stand beside the project, where they are there: what lint must find in them, and how it is scored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SHARED = Path(__file__).resolve().parents[2] / "shared"
FOLDERS = tuple(SHARED / name for name in ("cases-forms", "cases-field"))


class SharedCase(NamedTuple):
    """One file and the lines on which a warning or an error must stand.

    ``accepted`` lines count as the same place as a wanted one, ``tolerated`` ones neither help nor harm.
    """

    name: str
    path: Path
    kind: str
    wanted: frozenset[int]
    accepted: frozenset[int]
    tolerated: frozenset[int]


class Score(NamedTuple):
    """Places that were found, lines that are wrong, and places that were missed."""

    found: int
    wrong: int
    missed: int

    def plus(self, other: Score) -> Score:
        """Both together."""
        return Score(self.found + other.found, self.wrong + other.wrong, self.missed + other.missed)

    @property
    def precision(self) -> float | None:
        """Of what was said, the part that is right; None where nothing was said."""
        return self.found / (self.found + self.wrong) if self.found + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Of what is there, the part that was found; None where nothing is."""
        return self.found / (self.found + self.missed) if self.found + self.missed else None


def shared_cases() -> list[SharedCase]:
    """All cases, or none where the folders are not there."""
    return [case for folder in FOLDERS if folder.is_dir() for case in _of_folder(folder)]


def score(case: SharedCase, lines: Collection[int]) -> Score:
    """What findings on these lines are worth."""
    said = set(lines)
    found = sum(1 for line in case.wanted if line in said or (line in case.accepted and said & case.accepted))
    wrong = said - case.wanted - case.accepted - case.tolerated
    return Score(found, len(wrong), len(case.wanted) - found)


def _of_folder(folder: Path) -> Iterator[SharedCase]:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    for name, case in expected.items():
        files = (
            [folder / name / file for file in case["input_files"]]
            if "input_files" in case
            else [folder / name]
        )
        for path in files:
            findings = _lines(case.get("findings", ()), path.name)
            yield SharedCase(
                name if len(files) == 1 else f"{name}/{path.name}",
                path,
                next((each["kind"] for each in case.get("findings", ())), "clean"),
                findings,
                frozenset(case.get("accept_lines", {}).get(path.name, ())),
                _lines(case.get("tolerated", ()), path.name),
            )


def _lines(places: Collection[dict[str, Any]], file: str) -> frozenset[int]:
    return frozenset(place["line"] for place in places if place.get("file", file) == file)
