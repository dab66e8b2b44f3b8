"""A real browser, where there is one: what it draws and what it measures."""

from __future__ import annotations

import html as escaping
import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = (360, 800, 1440)


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


def first_pixel(png: bytes) -> tuple[int, ...]:
    """The colour of the corner: whatever filter the first row has, it has nothing beside or above it."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    return tuple(zlib.decompress(data)[1:4])


def widths(page: Path, folder: Path) -> str:
    """Of the page in frames of each of ``WIDTHS``, all opened: ``shown:needed:headings`` with spaces between."""
    # The page runs no script, so one around it measures: a frame's document of the same origin
    source = escaping.escape(page.read_text(encoding="utf-8"), quote=True)
    frames = "".join(
        f'<iframe width="{w}" height="900" style="border:0" srcdoc="{source}"></iframe>' for w in WIDTHS
    )
    script = """addEventListener("load", () => { document.body.innerHTML = [...document.querySelectorAll("iframe")].map(f =>
      { const e = f.contentDocument.documentElement;
        f.contentDocument.querySelectorAll("details").forEach(d => d.open = true);
        return e.clientWidth + ":" + e.scrollWidth + ":" + f.contentDocument.querySelectorAll("h1").length }).join(" ") })"""
    outer = folder / "outer.html"
    outer.write_text(f"<!DOCTYPE html><body>{frames}<script>{script}</script>", encoding="utf-8")
    return browse(folder, "--dump-dom", outer.as_uri())
