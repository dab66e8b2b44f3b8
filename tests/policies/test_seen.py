"""What was ever read, and runs of tokens compared."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st
from slot_asking import held

from promptorder.policies._held import shared_tokens
from promptorder.policies._seen import SeenStarts

texts = st.text("ab", max_size=12)


@given(st.lists(texts, max_size=12), texts)
def test_the_longest_start_ever_read(earlier: list[str], prompt: str) -> None:
    seen = SeenStarts(1)
    for each in earlier:
        seen.read(each.encode())
    longest = max(
        (length for length in range(len(prompt) + 1) if any(e.startswith(prompt[:length]) for e in earlier)),
        default=0,
    )
    assert seen.read(prompt.encode(), note=False) == (longest, longest)
    assert seen.read(prompt.encode()) == (longest, longest)
    assert seen.read(prompt.encode()) == (len(prompt), len(prompt))


def test_whole_chunks_count() -> None:
    seen = SeenStarts(4)
    assert seen.read(b"aaaabbbbcc") == (0, 0)
    assert seen.read(b"aaaabbbbcc") == (8, 8)
    assert seen.read(b"aaaabbbX") == (4, 4)
    assert seen.read(b"Xaaabbbb") == (0, 0)


def test_what_follows_the_prompt_is_noted_and_does_not_count() -> None:
    seen = SeenStarts(4)
    seen.read(b"aaaabbbb")
    assert seen.read(b"aaaabbbbcccc", 6) == (4, 4)
    assert seen.read(b"aaaabbbbcccc") == (12, 12)


def test_lives_and_what_is_kept_apart() -> None:
    seen = SeenStarts(4)
    seen.read(b"aaaabbbb", apart="model", life=0)
    assert seen.read(b"aaaacccc", apart="model", life=1) == (4, 0)
    assert seen.read(b"aaaabbbb", apart="model", life=1) == (8, 4)
    assert seen.read(b"aaaabbbb", apart="other", life=1) == (0, 0)


def test_memory_is_bounded_and_what_is_in_use_is_remembered() -> None:
    seen = SeenStarts(1, most_chunks=100)
    seen.read(b"used")
    for number in range(5000):
        seen.read(array("H", [number]).tobytes())
        if number % 20 == 0:
            assert seen.read(b"used") == (4, 4)
    assert len(seen._young) + len(seen._old) <= 2 * 100 + 8
    assert seen.read(array("H", [0x1234]).tobytes()) == (0, 0)


@given(st.text("ab", max_size=300), st.text("ab", max_size=300), st.text("ab", max_size=300))
def test_shared_tokens(start: str, a: str, b: str) -> None:
    first, second = start + a, start + b
    expected = next(
        (n for n, (x, y) in enumerate(zip(first, second, strict=False)) if x != y),
        min(len(first), len(second)),
    )
    assert shared_tokens(held(first), held(second)) == expected
