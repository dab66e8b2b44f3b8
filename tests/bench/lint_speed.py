"""How much lint reads a second of CPU, by form; many small files; and a log of a gigabyte in bounded memory.

Run by hand: ``python tests/bench/lint_speed.py [--log-mib 1024]``. Each figure is for a process of its own, with its start.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _processes import Cost, cost
from lint_projects import BAD, GOOD, put

MIB = 1 << 20


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log-mib", type=int, default=1024)
    arguments = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        _forms(Path(name))
    with tempfile.TemporaryDirectory() as name:
        _small_files(Path(name))
    with tempfile.TemporaryDirectory() as name:
        _log(Path(name), arguments.log_mib)


def lint(*arguments: str | Path) -> Cost:
    """The cost of one process of lint."""
    command = [sys.executable, "-m", "promptorder", "lint", "--fail-on", "never"]
    return cost([*command, *map(str, arguments)])


def _forms(folder: Path) -> None:
    print("one large file (MB a CPU second, twice as large beside it: linear means the same)")
    for name, unit, mib in (
        ("text.txt", _text, 4),
        ("prompt.md", _text, 4),
        ("chat.j2", _text, 4),
        ("log.jsonl", _requests, 8),
        ("agent.py", _python, 2),
        ("prompts.yaml", _yaml, 2),
        ("agent.ts", _typescript, 2),
    ):
        rates = []
        for factor in (1, 2):
            path = folder / name
            with path.open("w", encoding="utf-8") as file:
                size = 0
                for text in unit():
                    size += file.write(text)
                    if size >= factor * mib * MIB:
                        break
            spent = lint(path)
            rates.append(f"{size / 1e6 / spent.cpu_s:7.1f} ({spent.peak_mib:4.0f} MiB)")
        print(f"  {name:<14} {'  '.join(rates)}")


def _small_files(folder: Path) -> None:
    for number in range(10_000):
        put(folder, f"{number % 100}/prompts/{number}.txt", BAD if number % 10 == 0 else GOOD)
    print("10,000 small files")
    spent = lint(folder, "--format", "json")
    print(
        f"  lint                {spent.cpu_s:6.2f} CPU s  {10_000 / spent.cpu_s:7.0f} files/s  {spent.peak_mib:4.0f} MiB"
    )
    put(folder, ".gitignore", "*.log\n/build/\n")
    spent = lint(folder, "--format", "json")
    print(
        f"  with a .gitignore   {spent.cpu_s:6.2f} CPU s  {10_000 / spent.cpu_s:7.0f} files/s  {spent.peak_mib:4.0f} MiB"
    )
    ruff = shutil.which("ruff")
    if ruff:
        for path in folder.rglob("*.txt"):
            path.rename(path.with_suffix(".py")).write_text('x = """\n' + GOOD + '"""\n', encoding="utf-8")
        spent = cost([ruff, "check", "--isolated", "--no-cache", "--exit-zero", str(folder)])
        print(f"  ruff (as .py)       {spent.cpu_s:6.2f} CPU s  {10_000 / spent.cpu_s:7.0f} files/s")


def _log(folder: Path, mib: int) -> None:
    path = folder / "requests.jsonl"
    with path.open("w", encoding="utf-8") as file:
        size = 0
        for text in _requests():
            size += file.write(text)
            if size >= mib * MIB:
                break
    spent = lint(path)
    print(f"a log of {mib} MiB (goal: at most 300 MiB of memory)")
    print(
        f"  lint                {spent.cpu_s:6.1f} CPU s  {size / 1e6 / spent.cpu_s:7.1f} MB/s  {spent.peak_mib:4.0f} MiB"
    )


def _text() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"## Section {number}\nAsk for the booking, then answer. {GOOD}\n"


def _requests() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        turns = [{"role": "system", "content": GOOD}]
        for turn in range(number % 12 + 1):
            turns += [
                {"role": "user", "content": f"Question {turn} of {number}: when does the ferry leave?"},
                {"role": "assistant", "content": "It leaves at noon, from the second pier. " * 5},
            ]
        turns[-1:] = []
        request = {"model": "small", "messages": turns}
        yield (
            json.dumps(
                {
                    "ts": f"2026-03-14T09:{number % 60:02}:00Z",
                    "session": f"s{number // 12}",
                    "request": request,
                }
            )
            + "\n"
        )


def _python() -> Iterator[str]:
    yield "import openai\nfrom datetime import datetime\n"
    number = 0
    while True:
        number += 1
        yield (
            f'\n\ndef ask_{number}(question):\n    system = """{GOOD}"""\n    total = sum(x * 2 for x in range({number}))\n'
            f'    messages = [{{"role": "system", "content": system}}, {{"role": "user", "content": question}}]\n'
            f"    return openai.chat.completions.create(model='m', messages=messages, seed=total)\n"
        )


def _yaml() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        rules = "".join(f"    {line}\n" for line in GOOD.splitlines())
        yield f"prompt_{number}:\n  model: small\n  system: |\n{rules}  user: '{{{{question}}}}'\n"


def _typescript() -> Iterator[str]:
    yield 'import OpenAI from "openai";\nconst client = new OpenAI();\n'
    number = 0
    while True:
        number += 1
        yield (
            f"\nexport async function ask{number}(question: string): Promise<unknown> {{\n  const system = `{GOOD}`;\n"
            '  return client.chat.completions.create({ model: "m", messages: [{ role: "system", content: system }, '
            '{ role: "user", content: question }] });\n}\n'
        )


if __name__ == "__main__":
    main()
