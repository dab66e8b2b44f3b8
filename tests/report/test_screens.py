"""The page in a real browser, where there is one: at three widths, light and dark, and on paper."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from browser import CHROMIUM, WIDTHS, browse, first_pixel, widths

from promptorder.model.run import Runs
from promptorder.reports import html
from promptorder.store.finished import load_run

OLD = Path(__file__).with_name("run-1.json")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(scope="module", params=[1, 2], ids=["one run", "two runs"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of one run, and one of two."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    runs = Runs((load_run(OLD),) * request.param, per_day=500)
    path.write_text(html.render_runs(runs, width=80, color=False), encoding="utf-8")
    return path


@pytest.mark.parametrize(("scheme", "ground"), [("light", "#ffffff"), ("dark", "#15181c")])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_drawn(page: Path, width: int, scheme: str, ground: str, tmp_path: Path) -> None:
    shot = tmp_path / "shot.png"
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    browse(tmp_path, f"--screenshot={shot}", f"--window-size={width},2400", *dark, page.as_uri())
    data = shot.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (width, 2400)
    assert first_pixel(data) == tuple(bytes.fromhex(ground[1:])), "the style is let in by the policy"
    assert len(data) > 20_000, "an empty page is smaller"


def test_nothing_is_wider_than_the_window(page: Path, tmp_path: Path) -> None:
    told = widths(page, tmp_path)
    for width in WIDTHS:
        assert f"{width}:{width}:1" in told


def test_it_prints(page: Path, tmp_path: Path) -> None:
    from pypdf import PdfReader

    browse(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", "--no-pdf-header-footer", page.as_uri())
    pages = PdfReader(tmp_path / "page.pdf").pages
    assert 2 <= len(pages) <= 14
    text = " ".join("".join(each.extract_text() for each in pages).split())
    assert "The order book was 2,140." in text, "what is folded on the screen is open on paper"
