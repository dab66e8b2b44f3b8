"""PDFs that readers meet in the wild, made when a test needs them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw
from pypdf import PdfWriter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

SECRET = "secret"
PAGE = (300, 200)  # points


def words_on(page: int) -> str:
    return f"These are the words on page {page}."


def plain(folder: Path, *, pages: int = 3, name: str = "plain.pdf") -> Path:
    """One line of text on each page."""
    return _write(folder / name, _plain_bytes(pages))


def long(folder: Path) -> Path:
    return plain(folder, pages=300, name="long.pdf")


def scanned(folder: Path) -> Path:
    """Two pages that are pictures of words."""
    picture = Image.new("L", PAGE, 255)
    ImageDraw.Draw(picture).text((20, 20), words_on(1), fill=0)
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=PAGE, invariant=1)
    for _ in range(2):
        canvas.drawImage(ImageReader(picture), 0, 0, *PAGE)
        canvas.showPage()
    canvas.save()
    return _write(folder / "scanned.pdf", buffer.getvalue())


def partly_scanned(folder: Path) -> Path:
    """Five pages, of which the second, third and fifth hold no text."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=PAGE, invariant=1)
    for page in range(1, 6):
        if page in {1, 4}:
            canvas.drawString(20, 100, words_on(page))
        else:
            canvas.rect(20, 20, 100, 100, fill=1)
        canvas.showPage()
    canvas.save()
    return _write(folder / "partly.pdf", buffer.getvalue())


def encrypted(folder: Path, *, algorithm: str = "AES-256") -> Path:
    """Needs the password ``SECRET``."""
    return _encrypted(folder / f"encrypted-{algorithm}.pdf", SECRET, algorithm)


def encrypted_without_user_password(folder: Path, *, algorithm: str = "AES-256") -> Path:
    """Opens for everybody, as a document does that may only be printed."""
    return _encrypted(folder / f"open-{algorithm}.pdf", "", algorithm)


def truncated(folder: Path) -> Path:
    """The first third of a PDF, as a broken download leaves it."""
    data = _plain_bytes(3)
    return _write(folder / "truncated.pdf", data[: len(data) // 3])


def garbage(folder: Path) -> Path:
    """Starts as a PDF does, and nothing of one follows."""
    return _write(folder / "garbage.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 20)


def looping(folder: Path) -> Path:
    """A tree of pages whose root is its own child."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>",
    ]
    body = b"%PDF-1.4\n" + b"".join(
        b"%d 0 obj\n%b\nendobj\n" % (number, content) for number, content in enumerate(objects, 1)
    )
    return _write(folder / "looping.pdf", body + b"trailer << /Root 1 0 R /Size 3 >>\nstartxref\n0\n%%EOF\n")


def blank(folder: Path) -> Path:
    """One page with nothing on it."""
    writer = PdfWriter()
    writer.add_blank_page(*PAGE)
    return _save(writer, folder / "blank.pdf")


def without_pages(folder: Path) -> Path:
    return _save(PdfWriter(), folder / "no-pages.pdf")


def _plain_bytes(pages: int) -> bytes:
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=PAGE, invariant=1)
    for page in range(1, pages + 1):
        canvas.drawString(20, 100, words_on(page))
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _encrypted(path: Path, password: str, algorithm: str) -> Path:
    writer = PdfWriter(clone_from=BytesIO(_plain_bytes(2)))
    writer.encrypt(password, owner_password="the owner's", algorithm=algorithm)
    return _save(writer, path)


def _save(writer: PdfWriter, path: Path) -> Path:
    buffer = BytesIO()
    writer.write(buffer)
    return _write(path, buffer.getvalue())


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
