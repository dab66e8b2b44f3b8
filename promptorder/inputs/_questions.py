"""Questions from a file: a line each, or JSON lines that bring their answers."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import BinaryIO

from promptorder.errors import InputError
from promptorder.inputs._decode import decode, without_surrogates
from promptorder.inputs._files import read_bytes, shown
from promptorder.model.source import Question

_JSON_LINES = (".jsonl", ".ndjson")
_EXAMPLE = '{"question": "...", "expected": "..."}'


def read_questions(path: str, *, stdin: BinaryIO | None = None) -> tuple[Question, ...]:
    """Read the questions in ``path`` (``-`` is standard input) in the order of its lines; at least one.

    Text holds one question a line, apart from blank lines and those that start with ``#``. JSON lines
    (by suffix, or because every line starts with ``{``) are objects with ``question`` and, where the
    answer is known, ``expected`` or ``answer``. Raises InputError, with the line where one is wrong.
    """
    text, _ = decode(read_bytes(path, stdin), path)
    # Not splitlines(), which would also cut a question at U+2028 and its like
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if PurePath(path).suffix.lower() in _JSON_LINES or all(line.startswith("{") for _, line in lines):
        questions = tuple(_from_json(line, f"{shown(path)}, line {number}") for number, line in lines)
    else:
        questions = tuple(Question(line) for _, line in lines if not line.startswith("#"))
    if not questions:
        raise InputError(
            f"{shown(path)} holds no question",
            hint="write one question a line; lines that start with # are comments",
        )
    return questions


def _from_json(line: str, where: str) -> Question:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON: {error.msg} (column {error.colno})", hint=_hint()) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, or thousands of brackets
        raise InputError(f"{where}: JSON that is too large to read", hint=_hint()) from None
    if not isinstance(fields, dict):
        raise InputError(f"{where}: not a JSON object", hint=_hint())
    question = fields.get("question")
    text = without_surrogates(question).strip() if isinstance(question, str) else ""
    if not text:
        raise InputError(f'{where}: no "question", which must be a text', hint=_hint())
    key = "expected" if "expected" in fields else "answer"
    expected = fields.get(key)
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        expected = json.dumps(expected)
    if expected is not None and not isinstance(expected, str):
        raise InputError(f'{where}: "{key}" must be a text', hint=_hint())
    return Question(text, None if expected is None else without_surrogates(expected))


def _hint() -> str:
    return f"each line is an object such as {_EXAMPLE}"
