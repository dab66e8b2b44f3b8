"""What lint says of files that nobody wrote for its tests: installed packages, the standard library, documentation.

Run by hand: ``python tests/bench/lint_false_alarms.py FOLDER...``; by default it reads the standard library and the packages of
this interpreter. Folders are searched as the command does it; with ``--texts`` the documentation in them (.md, .rst, .txt) is read
as well, each file as if it were a prompt. Every finding of a warning or an error is printed, to be judged by a person.
"""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from promptorder.lint_api import Linting, LintSettings
from promptorder.model.lint_result import LintResult

DOCUMENTATION = (".md", ".rst", ".txt", ".mdx")
_BATCH = 500


def main() -> None:
    """Print the findings and their number."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*")
    parser.add_argument(
        "--texts", action="store_true", help="read the documentation too, as if it were prompts"
    )
    parser.add_argument("--only-texts", action="store_true", help="read nothing but the documentation")
    arguments = parser.parse_args()
    folders = arguments.folders or [sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")]
    if not arguments.only_texts:
        _report("files that hold prompts", [[folder] for folder in folders])
    if arguments.texts or arguments.only_texts:
        texts = sorted(documentation(folders))
        _report("documentation", [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)])


def documentation(folders: Sequence[str]) -> Iterator[str]:
    """The texts below folders."""
    for top in folders:
        for folder, _, names in os.walk(top):
            yield from (str(Path(folder) / name) for name in names if name.lower().endswith(DOCUMENTATION))


def _report(title: str, batches: Sequence[Sequence[str]]) -> None:
    started = time.process_time()
    results = [Linting(LintSettings()).run(list(batch)) for batch in batches if batch]
    spent = time.process_time() - started
    rules: Counter[str] = Counter()
    for line in _told(results, rules):
        print(line)
    read = sum(len(result.files) for result in results)
    broken = sum(len(result.errors) for result in results)
    print(
        f"{title}: {read} read as prompts, {broken} not readable, {sum(rules.values())} findings, {spent:.0f} CPU s"
    )
    for rule, number in rules.most_common():
        print(f"  {number:5} {rule}")
    sys.stdout.flush()


def _told(results: Sequence[LintResult], rules: Counter[str]) -> Iterator[str]:
    for result in results:
        for finding in result.findings:
            if finding.severity != "info":
                rules[finding.name] += 1
                around = finding.line_text[max(0, finding.column - 60) : finding.column + 90].strip()
                yield f"{finding.path}:{finding.line}:{finding.column} {finding.name} {finding.stranded_tokens} | {around}"


if __name__ == "__main__":
    main()
