"""HTML, as the words a browser would show."""

from __future__ import annotations

import re
from hashlib import sha256
from html.parser import HTMLParser

from promptorder.errors import InputError
from promptorder.inputs._decode import decode
from promptorder.inputs._document import Source
from promptorder.inputs._files import shown
from promptorder.model.source import SourceText

SUFFIXES = (".html", ".htm", ".xhtml")

_START = re.compile(
    rb"""(?:\xef\xbb\xbf)? \s* (?:<\?xml[^>]*>\s*)? (?:<!--(?:(?!-->).)*-->\s*)*
         <(?:!doctype\s+html|html|head|body)\b""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_CHARSET = re.compile(rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_HEAD_BYTES = 4096

# Nothing else in a head holds text but its title, so the head itself needs no keeping track of
_HIDDEN = frozenset({"script", "style", "template", "noscript"})
_PARAGRAPHS = frozenset(
    {"article", "aside", "blockquote", "body", "details", "dl", "fieldset", "figure", "footer", "form", "h1"}
    | {"h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "main", "nav", "ol", "p", "pre"}
    | {"section", "table", "title", "ul"}
)
_LINES = frozenset(
    {"address", "br", "caption", "dd", "div", "dt", "figcaption", "legend", "li", "option", "select"}
    | {"summary", "tr"}
)
_CELLS = frozenset({"td", "th"})
_ROWS = frozenset({"tr", "table"})
_CELL_SEPARATOR = " | "

# Python refuses to read a number of thousands of digits, and html.parser does not expect that
_ENDLESS_REFERENCE = re.compile(r"&#[0-9]{100,}")


def sniff(data: bytes) -> bool:
    """Whether ``data`` starts as an HTML page does."""
    return _START.match(data[:_HEAD_BYTES]) is not None


def read(data: bytes, source: Source) -> SourceText:
    """Take the visible text of ``data``, however broken its markup is.

    A block is a line, a paragraph stands between blank lines, the cells of a table are separated by
    ``|``. Raises InputError for a binary file and for a page that shows no text.
    """
    markup, notes = decode(data, source.path, declared=_declared(data))
    text = visible_text(markup)
    if not text:
        raise InputError(
            f"{shown(source.path)} holds no text that a browser would show",
            hint="a page that scripts fill in can be saved from the browser, as text or PDF",
        )
    return SourceText(source.path, "html", sha256(data).hexdigest(), text, notes=notes)


def visible_text(markup: str) -> str:
    """Take the text that ``markup`` shows; empty where it shows none."""
    page = _Page()
    page.feed(_ENDLESS_REFERENCE.sub("\N{REPLACEMENT CHARACTER}", markup))
    page.close()
    page.end_line()
    return "\n".join(page.lines).strip("\n")


def _declared(data: bytes) -> str | None:
    """Find the encoding that the page names, unless browsers would not believe it."""
    match = _CHARSET.search(data[:_HEAD_BYTES])
    name = match[1].decode("ascii", "replace").lower() if match else ""
    # Pages that name ASCII or Latin-1 are cp1252, and UTF-16 cannot be named in the single bytes of a tag
    return (
        None if name in {"", "ascii", "us-ascii", "iso-8859-1", "latin1"} or name.startswith("utf") else name
    )


class _Page(HTMLParser):
    """Collects lines of text; a break waits until text follows it, so that breaks do not add up."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line: list[str] = []
        self._break = 0  # line feeds that are due before the next text
        self._hidden = 0
        self._pre = 0
        self._cells = 0  # in this row so far
        self._at_cell_start = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif self._hidden:
            return
        elif tag in _CELLS:
            self._start_cell()
        else:
            if tag in _ROWS:
                self._cells = 0
                self._at_cell_start = False
            self._block(tag)
            if tag == "pre":
                self._settle()
                self._pre += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag not in _CELLS and not self._hidden:
            if tag in _ROWS:
                self._at_cell_start = False
            self._block(tag)
            if tag == "pre" and self._pre:
                self.end_line()
                self._pre -= 1

    def handle_data(self, data: str) -> None:
        if self._hidden or not (data.strip() or self._pre):
            # White space between words counts, between blocks it does not
            if self._line and not self._break and not self._hidden:
                self._line.append(" ")
            return
        self._settle()
        if not self._pre:
            self._line.append(data)
            return
        for number, piece in enumerate(data.split("\n")):
            if number:
                self.end_line(keep_blank=True)
            self._line.append(piece)

    def parse_html_declaration(self, i: int) -> int:
        # To a browser <![anything]> is a comment; html.parser gives up on what it does not know there
        if self.rawdata.startswith("<![", i):
            return self.parse_bogus_comment(i)
        return super().parse_html_declaration(i)

    def end_line(self, *, keep_blank: bool = False) -> None:
        """Close the line that is being written; a blank one is dropped, or kept where it is the first."""
        text = "".join(self._line)
        text = text.rstrip() if self._pre else " ".join(text.split())
        self._line.clear()
        if text or (keep_blank and self.lines and self.lines[-1]):
            self.lines.append(text)

    def _block(self, tag: str) -> None:
        """Break the line at the start or end of a block, but not before the first word of a cell."""
        if not self._at_cell_start:
            self._break = max(self._break, 2 if tag in _PARAGRAPHS else tag in _LINES)

    def _start_cell(self) -> None:
        if self._cells:
            self._break = 0  # a block that ended in the cell before does not end the row
            self._line.append(_CELL_SEPARATOR)
        else:
            self._settle()
        self._cells += 1
        self._at_cell_start = True

    def _settle(self) -> None:
        """Make the break that is due."""
        self._at_cell_start = False
        if self._break:
            self.end_line()
            if self._break > 1 and self.lines and self.lines[-1]:
                self.lines.append("")
            self._break = 0
