"""The table of what each version of Ollama tells: its looks-up, and the docs page that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.model import ollama_versions
from promptorder.model.ollama_versions import COUNT, DURATION, FACTS, Consequence, Version

PAGE = Path(__file__).parents[2] / "docs/inference.md"


@pytest.mark.parametrize(
    "text", ["", "0.0.0", "0.33.3-rc1", "0.30.0-rc3", "0.33.3-dirty", "0.33.3.1", "main", "v1"]
)
def test_what_is_no_release_is_tried_out(text: str) -> None:
    assert ollama_versions.parse_version(text) is None


@pytest.mark.parametrize("text", ["0.33.3", "v0.33.3", " 0.33.3\n"])
def test_a_release(text: str) -> None:
    assert ollama_versions.parse_version(text) == (0, 33, 3)


@pytest.mark.parametrize(
    ("version", "meaning"),
    [
        ((0, 1, 49), "read"),
        ((0, 2, 0), "whole"),
        ((0, 24, 0), "whole"),
        ((0, 26, 0), None),  # was never released
        ((0, 16, 0), None),  # another for MLX models
        ((0, 17, 4), None),
        ((0, 17, 5), "whole"),
        ((0, 30, 0), "read"),
        ((0, 30, 1), "whole"),
        ((0, 33, 2), "whole"),
        ((0, 33, 3), "whole"),
        ((1, 0, 0), "whole"),
        (None, None),
    ],
)
def test_what_is_counted(version: Version | None, meaning: str | None) -> None:
    assert ollama_versions.count_meaning(version) == meaning


def test_reuse_is_counted_from_one_version_on() -> None:
    assert not ollama_versions.counts_reuse((0, 33, 2))
    assert ollama_versions.counts_reuse((0, 33, 3))
    assert ollama_versions.counts_reuse((0, 34, 0))


@pytest.mark.parametrize(
    ("version", "doubtful"),
    [
        ((0, 12, 4), False),
        ((0, 12, 5), True),
        ((0, 12, 6), True),
        ((0, 12, 7), False),
        ((0, 16, 0), True),
        ((0, 17, 5), False),
        (None, True),
    ],
)
def test_durations_that_may_cover_a_part_of_the_reading(version: Version | None, doubtful: bool) -> None:
    assert ollama_versions.duration_is_doubtful(version) is doubtful


VERSIONS = st.tuples(st.integers(0, 1), st.integers(0, 40), st.integers(0, 60))


@given(VERSIONS)
def test_the_table_says_one_thing_of_a_figure_and_a_kind_of_model(version: Version) -> None:
    kinds = [(fact.field, fact.models) for fact in ollama_versions.facts_of(version) if fact.field == COUNT]
    assert len(kinds) == len(set(kinds))


@given(VERSIONS, VERSIONS)
def test_what_counts_today_counts_later(one: Version, other: Version) -> None:
    older, newer = sorted((one, other))
    assert ollama_versions.counts_reuse(older) <= ollama_versions.counts_reuse(newer)


def test_every_row_has_its_source_and_every_trap_its_sentence() -> None:
    for fact in FACTS:
        assert fact.source
        assert fact.before is None or fact.since < fact.before
        if fact.consequence in (Consequence.CANNOT_TELL, Consequence.AT_LEAST, Consequence.NOTHING_CACHED):
            assert fact.warning
        if fact.warning:
            assert not fact.warning.endswith(".")
    assert any(fact.field == DURATION for fact in FACTS)


def test_the_page_shows_the_table() -> None:
    assert ollama_versions.table() in PAGE.read_text(encoding="utf-8")
