"""Texts side by side: the shared start, the place and the kind of the first difference, what is lost, what would help."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promptorder
from promptorder.difference import first
from promptorder.errors import InputError, UsageError
from promptorder.model.diff import Pair

RULES = "\n".join(
    f"Rule {number}: passengers of boat {number} arrive {number + 5} minutes early."
    for number in range(1, 41)
)


def pair(folder: Path, a: str | bytes, b: str | bytes, tokenizer: str | None = None) -> Pair:
    for name, text in (("a.txt", a), ("b.txt", b)):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    [found] = promptorder.diff(folder / "a.txt", folder / "b.txt", tokenizer=tokenizer).pairs
    return found


def test_a_clock_on_top(tmp_path: Path) -> None:
    a = f"You help at the pier.\nCurrent time: 2026-03-14T09:26:53Z\n{RULES}\nQuestion: may dogs come?\n"
    found = pair(tmp_path, a, a.replace("09:26:53", "10:02:11").replace("may dogs come", "is there wifi"))
    place = found.first_difference
    assert place is not None
    assert (place.kind, place.path, place.line, place.column) == ("timestamp", None, 2, 26)
    assert (place.a, place.b) == ("2026-03-14T09:26:53Z", "2026-03-14T10:02:11Z")
    assert [(block.line, block.end_line) for block in found.lost] == [(3, 42)]
    assert found.lost_tokens > 0.9 * (found.b_tokens - found.shared_tokens)
    assert found.suggestion is not None
    assert found.suggestion.action == "move"
    assert found.suggestion.block.startswith("line 2 (Current time")
    assert found.suggestion.behind is not None
    assert found.suggestion.behind.startswith("line 42 ")
    assert found.suggestion.shared_tokens > 0.9 * found.b_tokens
    assert found.method == "estimated"


def test_what_is_suggested_was_tried(tmp_path: Path) -> None:
    a = f"Time 09:26:53\nYou help.\nTicket 4711\n{RULES}\nQ: dogs?"
    b = f"Time 10:02:11\nYou help.\nTicket 4712\n{RULES}\nQ: wifi?"
    found = pair(tmp_path, a, b)
    assert found.suggestion is not None
    assert " and line 3 (Ticket" in found.suggestion.block
    moved = [f"You help.\n{RULES}\nTime {clock}\nTicket {ticket}\nQ: {question}?" for clock, ticket, question in (
        ("09:26:53", 4711, "dogs"), ("10:02:11", 4712, "wifi"))]  # fmt: skip
    assert pair(tmp_path, *moved).shared_tokens == found.suggestion.shared_tokens


def test_a_blank_line_that_something_moves_behind_is_called_blank(tmp_path: Path) -> None:
    rules = "\n".join(
        f"{number}. Each lamp of the reading room is checked and written down." for number in range(12)
    )
    texts = [
        f"You sort mail.\nNow: {clock}\n\n{rules}\n\n{asked}\n"
        for clock, asked in (("09:12", "Who?"), ("14:40", "Which one?"))
    ]
    suggestion = pair(tmp_path, *texts).suggestion
    assert suggestion is not None
    assert suggestion.text.endswith("behind line 16 (blank)")


def test_a_clock_within_a_long_line(tmp_path: Path) -> None:
    text = " ".join(RULES.splitlines())
    found = pair(tmp_path, f"It is 09:26:53 now. {text}", f"It is 10:02:11 now. {text}")
    assert found.first_difference is not None
    assert found.first_difference.kind == "timestamp"
    assert found.suggestion is not None
    assert "sentence in line 1 (It is 10:02:11 now.)" in found.suggestion.block
    assert found.suggestion.shared_tokens > 0.9 * found.b_tokens


def test_another_question_at_the_end_loses_nothing(tmp_path: Path) -> None:
    found = pair(tmp_path, f"{RULES}\nQuestion: dogs?\n", f"{RULES}\nQuestion: is there wifi?\n")
    assert found.first_difference is not None
    assert found.first_difference.kind == "question"
    assert found.lost == ()
    assert found.lost_tokens == 0
    assert found.suggestion is None


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("{}\nDate: 2026-03-14\n{}", "{}\nDate: 2026-03-15\n{}", "date"),
        ("[request 5f0c2a9e-71b4-4c1e]\n{}", "[request 0b8a3f6d-2e10-4c1e]\n{}", "id"),
        ("48123 tokens left.\n{}", "47001 tokens left.\n{}", "counter"),
        ("{}", "{}\nMore of it.", "appended"),
        ("{}\nMore of it.", "{}", "shortened"),
        ("\ufeff{}", "{}", "byte-order-mark"),
        ("You  help.\n{}", "You help.\n{}", "whitespace-drift"),
        ("You help.\n{}\n", "You help.\n{}", "whitespace-drift"),
        ("She said “yes”.\n{}", 'She said "yes".\n{}', "encoding-drift"),
        ('Facts: {"a": 1, "b": 2}\n@', 'Facts: {"b": 2, "a": 1}\n@', "json-order"),
        (
            "Known: maps; cats; reads at night.\n{}",
            "Known: cats; maps; reads at night.\n{}",
            "lines-reordered",
        ),
        ("You are a helper.\n{}", "You are an assistant.\n{}", "text"),
    ],
)
def test_kinds(a: str, b: str, kind: str, tmp_path: Path) -> None:
    texts = [text.replace("@", RULES).replace("{}", RULES) for text in (a, b)]
    found = pair(tmp_path, *texts)
    assert found.first_difference is not None
    assert found.first_difference.kind == kind
    assert found.relation == (kind if kind in ("appended", "shortened") else "differs")


def test_line_ends_and_unicode_forms_are_told_at_their_place(tmp_path: Path) -> None:
    text = f"Das Café öffnet.\n{RULES}"
    dos = pair(tmp_path, text, text.replace("\n", "\r\n") + "\r\nnew")
    assert dos.first_difference is not None
    assert (dos.first_difference.kind, dos.first_difference.line, dos.first_difference.column) == (
        "line-ends",
        1,
        17,
    )
    assert dos.suggestion is not None
    assert dos.suggestion.action == "keep"
    assert dos.suggestion.shared_tokens > 0.9 * dos.a_tokens
    forms = pair(tmp_path, text, unicodedata.normalize("NFD", text))
    assert forms.first_difference is not None
    assert (forms.first_difference.kind, forms.first_difference.column) == ("unicode-form", 8)
    assert forms.lost_tokens > 0.9 * forms.b_tokens


def test_a_mark_is_not_counted_in_columns(tmp_path: Path) -> None:
    found = pair(tmp_path, "\ufeffabc", "\ufeffabd")
    assert found.first_difference is not None
    assert (found.first_difference.line, found.first_difference.column) == (1, 3)


def test_three_are_two_pairs(tmp_path: Path) -> None:
    names = ("a.txt", "b.txt", "c.txt")
    for name, text in zip(names, (f"{RULES} x", f"{RULES} y", f"{RULES} y"), strict=True):
        (tmp_path / name).write_text(text)
    pairs = promptorder.diff(*(tmp_path / name for name in names)).pairs
    assert [(Path(each.a).name, Path(each.b).name) for each in pairs] == [
        ("a.txt", "b.txt"),
        ("b.txt", "c.txt"),
    ]
    assert pairs[1].first_difference is None
    assert pairs[1].shared_tokens == pairs[1].a_tokens == pairs[1].b_tokens


PIECES = st.lists(
    st.sampled_from(
        [
            "The ferry leaves. ",
            "\n",
            "\r\n",
            "e\u0301",
            "👩‍👩‍👧",
            "日本",
            " 12:30 ",
            "\t",
            "\ufeff",
            "\x1b[31m",
            "\x00",
        ]
    )
    | st.text(max_size=6),
    max_size=25,
).map("".join)


@settings(max_examples=150)
@given(text=PIECES, more=PIECES, other=PIECES)
def test_the_place_is_where_they_part(text: str, more: str, other: str) -> None:
    a, b = text + more, text + other
    found = first.of_texts(a, b)
    assert (found is None) == (a == b)
    if found is None:
        return
    n = found.offset
    assert a[:n] == b[:n]
    assert a[n : n + 1] != b[n : n + 1]
    assert n >= len(text)
    turned = first.of_texts(b, a)
    assert turned is not None
    assert (turned.offset, turned.first.a, turned.first.b) == (n, found.first.b, found.first.a)
    place = found.first
    longer = b if len(b) > n else a
    if "\r" not in longer:  # read the place back
        before = sum(len(line) + 1 for line in longer.split("\n")[: place.line - 1])
        is_marked = place.line == 1 and longer.startswith("\ufeff") and n > 0
        assert before + place.column - 1 + is_marked == n
    assert place.line >= 1
    assert place.column >= 1


@settings(max_examples=40)
@given(text=PIECES.filter(str.strip), more=PIECES, tokenizer=st.sampled_from(["estimate", "tiny"]))
def test_shares_all_of_itself_and_as_much_both_ways(
    text: str, more: str, tokenizer: str, tmp_path_factory: pytest.TempPathFactory, tiny_gguf: Path
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    clean = [each.replace("\x00", "") for each in (text, text + more)]
    chosen = str(tiny_gguf) if tokenizer == "tiny" else None
    if not all(each.strip() for each in clean):
        return
    same = pair(folder, clean[0], clean[0], chosen)
    assert same.shared_tokens == same.a_tokens == same.b_tokens
    assert same.first_difference is None
    there, back = pair(folder, clean[0], clean[1], chosen), pair(folder, clean[1], clean[0], chosen)
    assert there.shared_tokens == back.shared_tokens
    assert (there.a_tokens, there.b_tokens) == (back.b_tokens, back.a_tokens)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no text"),
        (b" \n \n", "holds no text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "not text: it looks like a PNG image"),
        (b"PK\x03\x04\0\0\0\0", "not text"),
        (b"GGUF\0\0\0\0", "not text"),
    ],
)
def test_what_is_no_text(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        pair(tmp_path, "text", data)
    assert caught.value.hint


def test_one_is_not_enough(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(UsageError, match="a second is needed"):
        promptorder.diff(tmp_path / "a.txt")
    with pytest.raises(InputError, match="no such file"):
        promptorder.diff(tmp_path / "a.txt", tmp_path / "none.txt")


def test_large_texts_take_seconds(tmp_path: Path) -> None:
    line = (
        "Passengers of the ferry arrive twenty minutes before it leaves, and show their ticket at the gate.\n"
    )
    text = "".join(f"{number}: {line}" for number in range(200_000))
    found = pair(tmp_path, f"Time 09:26:53\n{text}", f"Time 10:02:11\n{text}")
    assert found.first_difference is not None
    assert found.first_difference.kind == "timestamp"
    assert found.lost_tokens > 0.99 * found.b_tokens - 100
    assert found.suggestion is None  # trying it would take as long again
    assert found.advice
