"""What a start costs beside bare click, and reading a 300-page PDF beside bare pypdf.

Run by hand: ``python tests/bench/start_and_pdf.py``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import make_pdfs
from _processes import in_turn, show

_BARE_PDF = "import sys, pypdf; print(sum(len(p.extract_text()) for p in pypdf.PdfReader(sys.argv[1]).pages))"
_OUR_PDF = "import sys; from promptorder.inputs._document import read_document; print(len(read_document(sys.argv[1]).text))"


def main() -> None:
    """Print two tables."""
    python = sys.executable
    show(
        "start",
        in_turn(
            {
                "python -c 'import click'": [python, "-c", "import click"],
                "promptorder --help": [python, "-m", "promptorder", "--help"],
                "promptorder compare --help": [python, "-m", "promptorder", "compare", "--help"],
            }
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(make_pdfs.long(Path(folder)))
        show(
            "reading a PDF of 300 pages",
            in_turn(
                {
                    "bare pypdf": [python, "-c", _BARE_PDF, path],
                    "promptorder": [python, "-c", _OUR_PDF, path],
                },
                runs=3,
            ),
        )


if __name__ == "__main__":
    main()
