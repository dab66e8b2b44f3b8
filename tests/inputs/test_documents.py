from __future__ import annotations

import codecs
import io
import logging
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import make_pdfs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from promptorder.errors import InputError, UsageError
from promptorder.inputs._document import read_document
from promptorder.inputs._pages import LAST_PAGE, as_ranges, format_pages, parse_pages, within
from promptorder.inputs.html import visible_text
from promptorder.model.source import SourceText


def read(data: bytes, folder: Path, name: str = "in.txt") -> SourceText:
    path = folder / name
    path.write_bytes(data)
    return read_document(str(path))


# --- which form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("a.txt", b"words", "text"),
        ("a.TXT", b"words", "text"),
        ("a.md", b"# words", "markdown"),
        ("a.html", b"<p>words", "html"),
        ("a.txt", b"<!doctype html><p>words", "text"),  # the suffix comes first
        ("a.log", b"words", "text"),
        ("README", b"words", "text"),
        ("page", b"\n<!-- saved --><!DOCTYPE HTML><p>words", "html"),
        ("page", b'<?xml version="1.0"?><html><p>words</html>', "html"),
        ("readme", b"<h1>words</h1> as in Markdown", "text"),
    ],
)
def test_form_by_suffix_then_by_content(tmp_path: Path, name: str, data: bytes, form: str) -> None:
    document = read(data, tmp_path, name)
    assert (document.form, document.sha256) == (form, sha256(data).hexdigest())
    assert document.path == str(tmp_path / name)
    assert (document.pages, document.page_count, document.notes) == (None, None, ())


def test_standard_input(tmp_path: Path) -> None:
    data = make_pdfs.plain(tmp_path).read_bytes()
    document = read_document("-", pages="2", stdin=io.BytesIO(data))
    assert (document.path, document.form, document.text) == ("-", "pdf", make_pdfs.words_on(2))
    with pytest.raises(InputError, match="standard input holds no text"):
        read_document("-", stdin=io.BytesIO(b""))


def test_text_does_not_load_pypdf(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    code = (
        "import sys; from promptorder.inputs._document import read_document; "
        "read_document(sys.argv[1]); assert 'pypdf' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.txt")], check=True)


# --- files ----------------------------------------------------------------------------------------------


def test_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "Report-2024.txt").write_text("words")
    (tmp_path / "unlike").write_text("words")
    wanted = tmp_path / "report-2042.txt"
    with pytest.raises(InputError) as caught:
        read_document(str(wanted))
    assert str(caught.value) == f"no such file: {wanted}"
    assert caught.value.hint == f"did you mean {tmp_path / 'Report-2024.txt'}?"


@pytest.mark.parametrize("name", ["nowhere/at/all.txt", "nul\0.txt", "x" * 5000])
def test_missing_file_without_neighbours(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read_document(str(tmp_path / name))
    assert "did you mean" not in caught.value.hint
    assert caught.value.hint


@pytest.mark.parametrize("path", ["", "."])
def test_folder(path: str) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_document(path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything is readable to this user")
def test_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words")
    path.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        read_document(str(path))


# --- text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        "naïve – 日本 😀".encode(),
        codecs.BOM_UTF8 + "naïve – 日本 😀".encode(),
        codecs.BOM_UTF16_LE + "naïve – 日本 😀".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "naïve – 日本 😀".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "naïve – 日本 😀".encode("utf-32-le"),
        codecs.BOM_UTF32_BE + "naïve – 日本 😀".encode("utf-32-be"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes) -> None:
    document = read(data, tmp_path)
    assert (document.text, document.notes) == ("naïve – 日本 😀", ())


def test_fallback_is_noted(tmp_path: Path) -> None:
    document = read("“naïve” €5".encode("cp1252") + b"\x81", tmp_path)
    assert document.text == "“naïve” €5\N{REPLACEMENT CHARACTER}"
    assert document.notes == ("read as cp1252, for it is not UTF-8",)


def test_newlines(tmp_path: Path) -> None:
    assert read(b"a\r\nb\rc\nd\xe2\x80\xa8e", tmp_path).text == "a\nb\nc\nd\u2028e"


def test_front_matter_stays(tmp_path: Path) -> None:
    data = b"---\ntitle: x\n---\n\n# Heading\n"
    assert read(data, tmp_path, "a.md").text == data.decode()


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a"])
@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", codecs.BOM_UTF8])
def test_no_text(tmp_path: Path, name: str, data: bytes) -> None:
    with pytest.raises(InputError, match="holds no text"):
        read(data, tmp_path, name)


def zipped(name: str, content: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "looks", "hint"),
    [
        (zipped("word/document.xml"), "Word document", "convert it to PDF or text first"),
        (zipped("xl/workbook.xml"), "Excel workbook", "convert it"),
        (zipped("mimetype", b"application/vnd.oasis.opendocument.text"), "OpenDocument", "convert it"),
        (zipped("notes.txt"), "a zip archive", "unpack it"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Office document", "convert it"),
        (b"{\\rtf1\\ansi words}", "RTF", "convert it"),
        (b"\x1f\x8b\x08\x08abc", "gzip", "unpack it"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG image", "OCR"),
        (b"%PDF-1.4\n%words", "a PDF", "ends in .pdf"),
        ("words".encode("utf-16-le"), "UTF-16LE", "iconv -f UTF-16LE"),
        ("words".encode("utf-16-be"), "UTF-16BE", "iconv -f UTF-16BE"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "a binary file", "text file"),
        (b"\x01\x02\xff\xfe\x03", "a binary file", "text file"),
    ],
)
def test_binary_says_what_it_looks_like(tmp_path: Path, data: bytes, looks: str, hint: str) -> None:
    with pytest.raises(InputError, match=looks) as caught:
        read(data, tmp_path)
    assert hint in caught.value.hint


@pytest.mark.parametrize("data", [b"GIF89a is a format", b"PK is a unit", b"say %PDF-1.7 to it"])
def test_text_that_only_mentions_a_format(tmp_path: Path, data: bytes) -> None:
    assert read(data, tmp_path, "no-suffix").text == data.decode()


def test_wrong_mark(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="marked as UTF-16-LE but is not"):
        read(codecs.BOM_UTF16_LE + b"odd", tmp_path)


# --- HTML -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("one &amp; <b>two</b>\n  three&nbsp;four", "one & two three four"),
        ("<head><title>T</title><style>x</style><meta name=a></head><p>P<script>x</script>", "T\n\nP"),
        ("a<!-- hidden --><template>x<p>y</template><noscript>z</noscript>b", "ab"),
        ("<p>a</p> <p>b</p><div>c</div><div><div>d</div></div>", "a\n\nb\n\nc\nd"),
        ("<h1>H</h1><ul><li>a<li>b</ul>c<br>d", "H\n\na\nb\n\nc\nd"),
        ("<pre>\nif x:\n    y\n\n\nz</pre>after", "if x:\n    y\n\nz\n\nafter"),
        (
            "<table><tr><th>A<th>B</tr><tr><td>1</td>\n<td>2</td></tr></table>",
            "A | B\n1 | 2",
        ),
        ("<table><tr><td><p>a</p></td><td><p>b</p><p>c</p></td></tr></table>d", "a | b\n\nc\n\nd"),
        ("a \n b<pre>c  d</pre>", "a b\n\nc  d"),
        ("<table><td>a<td>b</table><table><td>c", "a | b\n\nc"),
        ("<table><tr><td></td><td>x</td><td></td></tr></table>", "| x |"),
        ("<p>a<![if !IE]>b<![endif]>c<![nonsense", "abc<![nonsense"),
        ("&#" + "9" * 5000 + ";x", "\N{REPLACEMENT CHARACTER};x"),
        ("<p>&lt;b&gt; &euro; &#8364; &unknown;", "<b> € € &unknown;"),
        ("</p></div></table></pre></template>a<p", "a<p"),
        ("<script>never closed <p>x", ""),
    ],
)
def test_visible_text(markup: str, text: str) -> None:
    assert visible_text(markup) == text


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("windows-1251", "cp1251"),
        ("Shift_JIS", "shift_jis"),
        ("iso-8859-1", "cp1252"),
        ("nonsense", "cp1252"),
    ],
)
def test_declared_encoding(tmp_path: Path, declared: str, encoding: str) -> None:
    words = {"cp1251": "слова", "shift_jis": "言葉"}.get(encoding, "“naïve”")
    page = f'<html><head><meta http-equiv=x content="text/html; charset={declared}"></head><p>{words}'
    assert read(page.encode(encoding), tmp_path, "a.html").text == words


SIGNS = ["<", ">", "</", "<!", "<![", "]]>", "<!--", "-->", "<?", "&", "&#", ";", '"', "=", "/", " ", "\n"]
TAGS = ["<td>", "<tr>", "</table>", "<p>", "</p>", "<pre>", "</pre>", "<script>", "</script>", "<br/>"]
WORDS = ["CDATA[", "DOCTYPE", "if", "x", "9", "&#xd800;", "&#0;"]
MARKUP = st.lists(st.sampled_from([*SIGNS, *TAGS, *WORDS]), max_size=30).map("".join)


@given(MARKUP)
@example("<![x")
@example("<!DOCTYPE [<!ELEMENT")
def test_broken_html_never_crashes(markup: str) -> None:
    text = visible_text(markup)
    assert text == text.strip("\n")
    assert "\n\n\n" not in text


# --- pages ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "pages"),
    [
        ("20-31,40", ((20, 31), (40, 40))),
        ("7", ((7, 7),)),
        (" 1 - 2 , 4 ", ((1, 2), (4, 4))),
        ("5-", ((5, LAST_PAGE),)),
        ("-3", ((1, 3),)),
        ("3,1,3", ((3, 3), (1, 1), (3, 3))),
    ],
)
def test_parse_pages(spec: str, pages: tuple[tuple[int, int], ...]) -> None:
    assert parse_pages(spec) == pages


@pytest.mark.parametrize(
    "spec",
    [
        "",
        " ",
        "-",
        ",",
        "1,",
        "a",
        "1-a",
        "1--2",
        "1-2-3",
        "1.5",
        "0",
        "0-2",
        "-0",
        "5-3",
        "１",
        "1 2",
        "9" * 5000,
    ],
)
def test_malformed_pages(spec: str) -> None:
    with pytest.raises(UsageError, match="--pages") as caught:
        parse_pages(spec)
    assert caught.value.exit_code == 2
    assert caught.value.hint


RANGES = st.lists(
    st.tuples(st.integers(1, 99999), st.integers(0, 99999) | st.just(LAST_PAGE)).map(
        lambda pair: (pair[0], LAST_PAGE if pair[1] == LAST_PAGE else pair[0] + pair[1])
    ),
    min_size=1,
).map(tuple)


@given(RANGES)
def test_pages_round_trip(ranges: tuple[tuple[int, int], ...]) -> None:
    assert parse_pages(format_pages(ranges)) == ranges


@given(st.lists(st.integers(1, 20)))
def test_as_ranges_keeps_every_page(pages: list[int]) -> None:
    ranges = as_ranges(pages)
    assert [page for first, last in ranges for page in range(first, last + 1)] == pages


def test_within() -> None:
    assert within(((2, LAST_PAGE), (1, 3)), 3, "a.pdf") == ((2, 3), (1, 3))
    with pytest.raises(InputError, match=r"a\.pdf has 3 pages, so there is no page 4") as caught:
        within(((2, 9),), 3, "a.pdf")
    assert (caught.value.exit_code, caught.value.hint) == (3, "for example: --pages 1-3")
    with pytest.raises(InputError, match="has 1 page, so there is no page 5"):
        within(((5, LAST_PAGE),), 1, "a.pdf")


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_pages_of_a_form_without_pages(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("words")
    with pytest.raises(UsageError, match="documents that have pages"):
        read_document(str(tmp_path / name), pages="1")


# --- PDF ------------------------------------------------------------------------------------------------


def test_pdf(tmp_path: Path) -> None:
    path = make_pdfs.plain(tmp_path)
    document = read_document(str(path))
    assert document.text == "\n\n".join(make_pdfs.words_on(page) for page in (1, 2, 3))
    assert (document.form, document.pages, document.page_count, document.notes) == ("pdf", None, 3, ())
    assert document.sha256 == sha256(path.read_bytes()).hexdigest()


def test_pdf_pages_as_asked(tmp_path: Path) -> None:
    document = read_document(str(make_pdfs.plain(tmp_path)), pages="3,1-")
    assert document.pages == ((3, 3), (1, 3))
    assert document.text == "\n\n".join(make_pdfs.words_on(page) for page in (3, 1, 2, 3))
    with pytest.raises(InputError, match="has 3 pages, so there is no page 4"):
        read_document(str(make_pdfs.plain(tmp_path)), pages="2-5")


def test_only_requested_pages_are_extracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pypdf import PageObject

    extract: Callable[[PageObject], str] = PageObject.extract_text
    extracted: list[str] = []

    def spy(page: PageObject) -> str:
        extracted.append(extract(page))
        return extracted[-1]

    monkeypatch.setattr(PageObject, "extract_text", spy)
    document = read_document(str(make_pdfs.long(tmp_path)), pages="1-2,299-")
    assert (document.page_count, len(extracted)) == (300, 4)


@pytest.mark.parametrize("algorithm", ["AES-256", "AES-128", "RC4-128"])
def test_encrypted(tmp_path: Path, algorithm: str) -> None:
    path = str(make_pdfs.encrypted(tmp_path, algorithm=algorithm))
    assert read_document(path, password=make_pdfs.SECRET).text.startswith(make_pdfs.words_on(1))
    with pytest.raises(InputError, match="it needs a password") as caught:
        read_document(path)
    assert "--password" in caught.value.hint
    for wrong in ("wrong", "żółć"):
        with pytest.raises(InputError, match="the password does not open it") as caught:
            read_document(path, password=wrong)
        assert "--password" in caught.value.hint


@pytest.mark.parametrize("algorithm", ["AES-256", "AES-128", "RC4-40"])
@pytest.mark.parametrize("password", [None, "", "not needed", "żółć"])
def test_empty_user_password_opens(tmp_path: Path, algorithm: str, password: str | None) -> None:
    path = make_pdfs.encrypted_without_user_password(tmp_path, algorithm=algorithm)
    assert read_document(str(path), password=password).text.startswith(make_pdfs.words_on(1))


def test_password_of_an_open_pdf_is_not_needed(tmp_path: Path) -> None:
    assert read_document(str(make_pdfs.plain(tmp_path)), password="x").page_count == 3


@pytest.mark.parametrize("make", [make_pdfs.scanned, make_pdfs.blank])
def test_pdf_without_text(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    with pytest.raises(InputError, match=r"the pages are images .* \(OCR\)") as caught:
        read_document(str(path))
    assert caught.value.hint == f"ocrmypdf {path} out.pdf"


def test_pdf_partly_without_text(tmp_path: Path) -> None:
    path = str(make_pdfs.partly_scanned(tmp_path))
    document = read_document(path)
    assert document.notes == ("pages 2-3, 5 without text: an image or blank",)
    assert document.text == f"{make_pdfs.words_on(1)}\n\n{make_pdfs.words_on(4)}"
    assert read_document(path, pages="4-").notes == ("page 5 without text: an image or blank",)
    assert read_document(path, pages="1,4").notes == ()
    with pytest.raises(InputError, match=r"pages 2-3 of .*images"):
        read_document(path, pages="2-3")


@pytest.mark.parametrize("make", [make_pdfs.truncated, make_pdfs.garbage, make_pdfs.looping])
def test_broken_pdf(tmp_path: Path, make: Callable[[Path], Path], caplog: pytest.LogCaptureFixture) -> None:
    path = make(tmp_path)
    with pytest.raises(InputError) as caught:
        read_document(str(path))
    assert str(path) in str(caught.value)
    assert not caplog.records
    assert logging.getLogger("pypdf").level == logging.NOTSET


def test_no_pdf_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a PDF without pages"):
        read_document(str(make_pdfs.without_pages(tmp_path)))
    with pytest.raises(InputError, match="is empty"):
        read(b"", tmp_path, "a.pdf")
    with pytest.raises(InputError, match="is not a PDF"):
        read(b"<!doctype html>log in first", tmp_path, "a.pdf")


@pytest.mark.parametrize("error", [RecursionError("deep"), KeyError("/Root"), ValueError(), MemoryError()])
def test_whatever_pypdf_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(page: object) -> str:
        raise error

    monkeypatch.setattr("pypdf.PageObject.extract_text", fail)
    with pytest.raises(InputError, match=r"page 1 of .* cannot be read: \S+"):
        read_document(str(make_pdfs.plain(tmp_path)))


def test_text_of_a_pdf_can_be_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pypdf.PageObject.extract_text", lambda _: "a\0b\ud800c\ud83d\ude00")
    assert read_document(str(make_pdfs.plain(tmp_path)), pages="1").text == "abc😀"
