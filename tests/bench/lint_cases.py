"""Precision and recall over the case folders beside the project, per form and per kind, beside other tools in the same run.

Run by hand: ``python tests/bench/lint_cases.py [--peers FOLDER]``, where FOLDER holds the commands of the peers
(``python -m venv peers && peers/bin/pip install pcdlint cachedrift``); without it they are looked for on PATH, and what is
not there is left out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shared_cases import Score, SharedCase, score, shared_cases

import promptorder

_READS = {
    "pcdlint": (".py",),
    "cachedrift": (".py", ".ts", ".js"),
    "pcd": (".txt", ".md", ".prompt", ".j2", ".jinja", ".mustache"),
}
"""The files that a peer reads by its own account (pcd is prompt-cache-doctor); it is scored on these, and on all."""
_NOTHING = Score(0, 0, 0)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, default=None)
    arguments = parser.parse_args()
    cases = shared_cases()
    if not cases:
        sys.exit("the case folders ../shared/cases-* are not there")
    ours = {case: score(case, _ours(case)) for case in cases}
    _table("promptorder lint, by form", ours, lambda case: _form(case.path))
    _table("promptorder lint, by kind", ours, lambda case: case.kind)
    wrong = [case.name for case, got in ours.items() if got.wrong or got.missed]
    print(f"{len(cases)} files, wrong: {', '.join(wrong) or 'none'}\n")
    tools = {"promptorder lint": {case: _by_file(case, _ours(case)) for case in cases}}
    for name in _READS:
        command = shutil.which(name, path=str(arguments.peers) if arguments.peers else None)
        if command:
            tools[name] = {case: _by_file(case, _peer(name, command, case.path)) for case in cases}
        else:
            print(f"({name} is not installed, and left out)")
    _beside(tools)


def _ours(case: SharedCase) -> set[int]:
    return {each.line for each in promptorder.lint(case.path).findings if each.severity != "info"}


def _by_file(case: SharedCase, lines: set[int]) -> Score:
    """Whether a tool says anything of a file in which something is: peers name other lines of the same fault."""
    said = bool(lines - case.tolerated)
    bad = bool(case.wanted)
    return Score(int(said and bad), int(said and not bad), int(bad and not said))


def _peer(name: str, command: str, path: Path) -> set[int]:
    """The lines that a peer reports in a file."""
    if name == "pcd":  # it names no lines
        return {1} if "static-after-dynamic" in _run([command, "scan", str(path)]) else set()
    told = json.loads(_run([command, "--format", "json", str(path)]) or "[]")
    findings = told["findings"] if isinstance(told, dict) else told
    return {
        int(each.get("line", each.get("lineno", 1)))
        for each in findings
        if each["severity"].lower() != "info"
    }


def _run(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout


def _form(path: Path) -> str:
    return path.suffix or path.name.split("_")[0]


def _table(title: str, scores: Mapping[SharedCase, Score], key: Callable[[SharedCase], str]) -> None:
    groups: dict[str, list[Score]] = {}
    for case, got in scores.items():
        groups.setdefault(key(case), []).append(got)
    print(f"{title}\n  {'':<20} files found wrong missed  precision recall")
    for name, members in sorted(groups.items()):
        print(f"  {name:<20} {len(members):5} {_row(members)}")
    print(f"  {'all':<20} {len(scores):5} {_row(list(scores.values()))}\n")


def _beside(tools: Mapping[str, Mapping[SharedCase, Score]]) -> None:
    print(
        f"beside other tools, by file: whether anything is said of it\n  {'':<48} files found wrong missed  precision recall"
    )
    for name, scores in tools.items():
        print(f"  {name:<48} {len(scores):5} {_row(list(scores.values()))}")
    for name, endings in _READS.items():
        for tool in ("promptorder lint", name) if name in tools and endings else ():
            mine = [got for case, got in tools[tool].items() if case.path.suffix in endings]
            print(f"  {tool + ', ' + ' '.join(endings):<48} {len(mine):5} {_row(mine)}")


def _row(scores: Sequence[Score]) -> str:
    total = _NOTHING
    for each in scores:
        total = total.plus(each)
    rates = ("    -" if rate is None else f"{rate:5.2f}" for rate in (total.precision, total.recall))
    return f"{total.found:5} {total.wrong:5} {total.missed:6}      {'  '.join(rates)}"


if __name__ == "__main__":
    main()
