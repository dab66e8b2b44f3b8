"""The page in a real browser, where there is one: at three widths, light and dark, and on paper."""

from __future__ import annotations

import html as escaping
import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from promptorder.model.run import Runs
from promptorder.reports import html
from promptorder.store import load_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = (360, 800, 1440)
OLD = Path(__file__).with_name("run-1.json")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


def browse(folder: Path, *arguments: str) -> str:
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"),
            *("--no-first-run", f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000"),
            # Chromium's own sandbox does not run as root, as in containers
            *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
            *arguments,
        ],
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.stdout


@pytest.fixture(scope="module", params=[1, 2], ids=["one run", "two runs"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of one run, and one of two."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    runs = Runs((load_run(OLD),) * request.param, per_day=500)
    path.write_text(html.render_runs(runs, width=80, color=False), encoding="utf-8")
    return path


def first_pixel(png: bytes) -> tuple[int, ...]:
    """The colour of the corner: whatever filter the first row has, it has nothing beside or above it."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    return tuple(zlib.decompress(data)[1:4])


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
    # The page runs no script, so one around it measures: a frame's document of the same origin
    source = escaping.escape(page.read_text(encoding="utf-8"), quote=True)
    frames = "".join(
        f'<iframe width="{w}" height="900" style="border:0" srcdoc="{source}"></iframe>' for w in WIDTHS
    )
    script = """addEventListener("load", () => { document.body.innerHTML = [...document.querySelectorAll("iframe")].map(f =>
      { const e = f.contentDocument.documentElement;
        f.contentDocument.querySelectorAll("details").forEach(d => d.open = true);
        return e.clientWidth + ":" + e.scrollWidth + ":" + f.contentDocument.querySelectorAll("h1").length }).join(" ") })"""
    outer = tmp_path / "outer.html"
    outer.write_text(f"<!DOCTYPE html><body>{frames}<script>{script}</script>", encoding="utf-8")
    told = browse(tmp_path, "--dump-dom", outer.as_uri())
    for width in WIDTHS:
        assert f"{width}:{width}:1" in told


def test_it_prints(page: Path, tmp_path: Path) -> None:
    from pypdf import PdfReader

    browse(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", "--no-pdf-header-footer", page.as_uri())
    pages = PdfReader(tmp_path / "page.pdf").pages
    assert 2 <= len(pages) <= 14
    text = " ".join("".join(each.extract_text() for each in pages).split())
    assert "The order book was 2,140." in text, "what is folded on the screen is open on paper"
