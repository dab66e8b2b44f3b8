"""Prompts to compare: files, lines of a log (``log.jsonl:12``, ``log.jsonl:12-14``), or all requests of a log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from promptorder.errors import InputError, UsageError
from promptorder.forms import FormError
from promptorder.forms._json import load
from promptorder.forms._requests import is_messages, unwrap
from promptorder.inputs._decode import looks_like
from promptorder.inputs._files import STANDARD_INPUT, neighbours, read_bytes, shown
from promptorder.inputs._prompt_files import NotTextError, decode_text, open_lines, why_unreadable
from promptorder.inputs._prompt_forms import by_content, by_name, declared

_LINES = re.compile(r"^(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?$")
_LOG, _JSON = "jsonl", "json"


@dataclass(frozen=True, slots=True)
class Compared:
    """One prompt: a text, or the body of a request with the number of steps that its paths do not show."""

    name: str
    text: str = ""
    body: dict[str, Any] | None = None
    hidden_steps: int = 0


class ComparedFiles:
    """What is to be compared, read one after the other. ``skipped`` lines of logs were no JSON."""

    def __init__(self, specs: Sequence[str], *, stdin: BinaryIO | None = None) -> None:
        self._specs, self._stdin = specs, stdin
        self.skipped: list[str] = []

    def __iter__(self) -> Iterator[Compared]:
        """At least two. Raises InputError for what is missing or no prompt, UsageError where there is only one."""
        number = 0
        last = ""
        several = False
        for spec in self._specs:
            for each in self._read(spec):
                number += 1
                several = several or each.name not in (spec, shown(spec))
                last = each.name
                yield each
        if number < 2:
            if several or self.skipped:
                raise InputError(
                    f"{last} is the only request there: nothing to compare it with",
                    hint="name a second log or file",
                )
            raise UsageError(
                f"{last} is one prompt: a second is needed to compare it with",
                hint="promptorder diff A B, or a log of requests: promptorder diff log.jsonl",
            )

    def _read(self, spec: str) -> Iterator[Compared]:
        lines = None if spec == STANDARD_INPUT or Path(spec).exists() else _LINES.match(spec)
        if lines is not None and Path(lines["path"]).exists():
            first = int(lines["first"])
            yield from self._named_lines(lines["path"], first, int(lines["last"] or first))
            return
        if Path(spec).is_dir():
            raise InputError(f"{spec} is a folder, not a prompt", hint="name two files in it")
        form, _ = by_name(spec, declared())
        if form == _LOG:
            yield from self._log(spec)
            return
        data = read_bytes(spec, self._stdin)
        text = _text(data, spec)
        if not text.strip():
            raise InputError(f"{shown(spec)} holds no text", hint="name a file with a prompt")
        if form in ("", "text", "markdown", _JSON):
            form, _ = by_content(text, form)
        if form == _LOG:
            numbered = enumerate(text.splitlines(), 1)
            yield from self._requests(spec, ((number, line) for number, line in numbered))
        elif form == _JSON:
            yield from _json(spec, text)
        else:
            yield Compared(shown(spec), text)

    def _named_lines(self, path: str, first: int, last: int) -> Iterator[Compared]:
        if not 1 <= first <= last:
            raise UsageError(
                f"{path}:{first}-{last} names no lines",
                hint="lines count from 1: log.jsonl:12, or log.jsonl:12-14",
            )
        found = False
        for number, line in _lines(path, self._stdin):
            if number > last:
                break
            if number < first:
                continue
            each = _request(f"{path}:{number}", line) if line.strip() else None
            if each is not None:
                found = True
                yield each
            elif first == last:
                raise InputError(
                    f"{path}:{number} is not a request",
                    hint="a line is needed that holds the body of one as JSON",
                )
        if not found:
            where = f"line {first}" if first == last else f"request in lines {first} to {last}"
            raise InputError(f"{path} has no {where}", hint="lines count from 1")

    def _log(self, path: str) -> Iterator[Compared]:
        if not Path(path).exists():
            read_bytes(path)  # raises what there is to say
        yield from self._requests(path, _lines(path, self._stdin))

    def _requests(self, path: str, lines: Iterator[tuple[int, str]]) -> Iterator[Compared]:
        found = False
        for number, line in lines:
            try:
                each = _request(f"{shown(path)}:{number}", line) if line.strip() else None
            except InputError:
                self.skipped.append(f"{shown(path)}:{number}")
                continue
            if each is not None:
                found = True
                yield each
        if not found:
            raise InputError(
                f"{shown(path)} holds no requests",
                hint="each line must be the body of one, or an envelope around it",
            )


def _lines(path: str, stdin: BinaryIO | None) -> Iterator[tuple[int, str]]:
    try:
        with open_lines(path, stdin) as lines:
            for number, line in enumerate(lines, 1):
                text = line.decode("utf-8", "replace")
                yield number, text.removeprefix("\ufeff") if number == 1 else text
    except OSError as error:
        raise InputError(f"{shown(path)} {why_unreadable(error)}", hint=neighbours(Path(path))) from None


def _request(name: str, line: str) -> Compared | None:
    """The request in a line of a log, None where it holds something else."""
    try:
        body, _ = unwrap(json.loads(line))
    except (ValueError, RecursionError):
        raise InputError(f"{name} is not JSON", hint="see whether the line is whole") from None
    return None if body is None else Compared(name, body=body)


def _json(spec: str, text: str) -> Iterator[Compared]:
    try:
        value = load(text)
    except FormError as error:
        where = f" (line {error.line})" if error.line else ""
        raise InputError(
            f"{shown(spec)}: {error}{where}", hint="give it a name that ends in .txt if it is a text"
        ) from None
    body, _ = unwrap(value)
    several = value.get("requests") if isinstance(value, dict) else value
    if body is not None:
        yield Compared(shown(spec), body=body)
    elif isinstance(value, list) and value and is_messages(value):
        yield Compared(shown(spec), body={"messages": value}, hidden_steps=1)
    elif isinstance(several, list) and several and all(unwrap(each)[0] is not None for each in several):
        for number, each in enumerate(several, 1):
            yield Compared(f"{shown(spec)}:{number}", body=unwrap(each)[0])
    else:
        yield Compared(shown(spec), text)


def _text(data: bytes, spec: str) -> str:
    """A text as a program sends it that reads it as UTF-8: a byte order mark of UTF-8 is part of it."""
    try:
        text, bom, encoding = decode_text(data)
    except NotTextError as error:
        raise InputError(f"{shown(spec)} is not text: {error}", hint=looks_like(data)[1]) from None
    return f"\ufeff{text}" if bom and encoding == "utf-8" else text
