"""What every form of document must keep to; a new one is tested as soon as its file is there."""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import make_pdfs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptorder.errors import PromptorderError
from promptorder.inputs._document import Source, readers
from promptorder.model.source import SourceText

READERS = readers()


@cache
def pdf_bytes() -> bytes:
    with TemporaryDirectory() as folder:
        return make_pdfs.plain(Path(folder)).read_bytes()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A PDF in which some bytes were overwritten, and perhaps its end cut off."""
    data = bytearray(pdf_bytes())
    for _ in range(draw(st.integers(1, 8))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)) | st.just(len(data)))])


ANY_BYTES = (
    st.binary()
    | st.binary().map(b"%PDF-1.4\n".__add__)
    | st.binary().map(b"<!doctype html>".__add__)
    | st.sampled_from([b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\xef\xbb\xbf"]).flatmap(
        lambda mark: st.binary().map(mark.__add__)
    )
    | damaged()
)


def test_there_are_readers() -> None:
    assert {"text", "markdown", "html", "pdf"} <= set(READERS)


@pytest.mark.parametrize("name", READERS)
def test_what_a_reader_defines(name: str) -> None:
    reader = READERS[name]
    assert reader.__doc__
    assert isinstance(reader.SUFFIXES, tuple)
    assert all(re.fullmatch(r"\.[a-z0-9]+", suffix) for suffix in reader.SUFFIXES)
    for function in (reader.read, reader.sniff):
        assert function.__doc__


def test_a_suffix_has_one_reader() -> None:
    suffixes = [suffix for reader in READERS.values() for suffix in reader.SUFFIXES]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize("name", READERS)
@given(data=ANY_BYTES)
def test_any_bytes(name: str, data: bytes) -> None:
    reader = READERS[name]
    assert isinstance(reader.sniff(data), bool)
    try:
        document = reader.read(data, Source("some file"))
    except PromptorderError as error:
        assert "some file" in str(error)
        assert "\n" not in str(error)
        return
    assert isinstance(document, SourceText)
    assert (document.path, document.form) == ("some file", name)
    assert document.sha256 == sha256(data).hexdigest()
    assert document.text.strip()
    assert "\0" not in document.text
    assert "\r" not in document.text
    document.text.encode()  # raises where a lone surrogate is left


@given(ANY_BYTES)
def test_at_most_one_form_is_plain(data: bytes) -> None:
    assert sum(reader.sniff(data) for name, reader in READERS.items() if name != "text") <= 1
