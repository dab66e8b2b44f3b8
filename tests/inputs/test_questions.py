from __future__ import annotations

import codecs
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.errors import InputError, PromptorderError
from promptorder.inputs._questions import read_questions
from promptorder.model.source import Question


def read(data: bytes | str, folder: Path, name: str = "questions.txt") -> tuple[Question, ...]:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_questions(str(path))


def test_lines_of_text(tmp_path: Path) -> None:
    text = "# a comment\n\n  Who?  \r\nWhat # not a comment?\r  # one more\nIs {this} one?"
    assert read(text, tmp_path) == (
        Question("Who?"),
        Question("What # not a comment?"),
        Question("Is {this} one?"),
    )


def test_other_line_separators_are_part_of_a_question(tmp_path: Path) -> None:
    text = "one\u2028two\u0085three\x0bfour\x1cfive"
    assert read(text, tmp_path) == (Question(text),)


@pytest.mark.parametrize("name", ["q.jsonl", "q.ndjson", "q.JSONL", "q.txt", "q"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    text = (
        '{"question": " Who? ", "expected": "Ada"}\n\n'
        '{"question": "How many?", "answer": 42}\r\n'
        '{"question": "Why?", "expected": null, "id": [1]}\n'
        '{"question": "a\\u2028b\\ud800", "expected": "x", "answer": "y"}\n'
    )
    assert read(text, tmp_path, name) == (
        Question("Who?", "Ada"),
        Question("How many?", "42"),
        Question("Why?"),
        Question("a\u2028b", "x"),
    )


def test_one_line_of_text_makes_it_text(tmp_path: Path) -> None:
    assert read('{"question": "x"}\nWho?', tmp_path) == (Question('{"question": "x"}'), Question("Who?"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Who?", "not JSON"),
        ('{"question": "Who?"', r"not JSON: .* \(column 20\)"),
        ("[1]", "not a JSON object"),
        ("{}", 'no "question"'),
        ('{"question": 5}', 'no "question"'),
        ('{"question": " "}', 'no "question"'),
        ('{"question": "\\ud800"}', 'no "question"'),
        ('{"question": "Who?", "expected": ["Ada"]}', '"expected" must be a text'),
        ('{"question": "Who?", "answer": true}', '"answer" must be a text'),
        ('{"question": ' + "9" * 5000 + "}", "too large"),
        ("[" * 200_000, "too large"),
    ],
)
def test_wrong_json_names_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=f"q.jsonl, line 3: .*{message}") as caught:
        read('{"question": "Who?"}\n\n' + line, tmp_path, "q.jsonl")
    assert '"question"' in caught.value.hint


@pytest.mark.parametrize("data", [b"", b"\n \n", b"# only\n# comments", codecs.BOM_UTF8])
@pytest.mark.parametrize("name", ["q.txt", "q"])
def test_no_question(tmp_path: Path, data: bytes, name: str) -> None:
    with pytest.raises(InputError, match="holds no question") as caught:
        read(data, tmp_path, name)
    assert "one question a line" in caught.value.hint


@pytest.mark.parametrize(
    "data", [codecs.BOM_UTF8 + "Où?".encode(), codecs.BOM_UTF16_LE + "Où?".encode("utf-16-le"), b"O\xf9?"]
)
def test_encodings(tmp_path: Path, data: bytes) -> None:
    assert read(data, tmp_path) == (Question("Où?"),)


def test_standard_input() -> None:
    assert read_questions("-", stdin=io.BytesIO(b"Who?\n")) == (Question("Who?"),)
    with pytest.raises(InputError, match="standard input, line 1: no"):
        read_questions("-", stdin=io.BytesIO(b'{"q": 1}'))


def test_binary_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it looks like a PDF"):
        read(b"%PDF-1.7", tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_questions(str(tmp_path / "nothing.txt"))


@given(st.binary() | st.text(st.sampled_from('{}[]":,\\u0 \n#x')).map(str.encode))
def test_any_bytes(data: bytes) -> None:
    try:
        questions = read_questions("-", stdin=io.BytesIO(data))
    except PromptorderError:
        return
    assert questions
    for question in questions:
        assert question.text == question.text.strip() != ""
        question.text.encode()


PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(PRINTABLE, st.none() | PRINTABLE), min_size=1))
def test_json_lines_round_trip(pairs: list[tuple[str, str | None]]) -> None:
    lines = "\n".join(json.dumps({"question": text, "expected": expected}) for text, expected in pairs)
    assert read_questions("-", stdin=io.BytesIO(lines.encode())) == tuple(
        Question(text.strip(), expected) for text, expected in pairs
    )
