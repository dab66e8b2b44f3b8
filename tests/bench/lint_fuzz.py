"""A coverage-guided fuzzer over the readers of lint: only FormError, places inside the text, and no file that takes seconds.

Run by hand, where atheris is installed: ``python tests/bench/lint_fuzz.py FORM [-max_total_time=60] [CORPUS]``. Without a
corpus it begins with small texts of its own. What it finds is written to ``crash-*`` in the working folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

with atheris.instrument_imports(include=["promptorder"]):
    from promptorder.forms import REGISTRY, FormError
    from promptorder.lint import engine
    from promptorder.lint.registry import Rules
    from promptorder.model.lint import Source

from robust_samples import PATHS, SAMPLES

_RULES = Rules()


def main() -> None:
    """Fuzz one form."""
    form, options = sys.argv[1], sys.argv[2:]
    module = REGISTRY.load(form)

    def one(data: bytes) -> None:
        text = data.decode("utf-8", "surrogatepass" if len(data) % 2 else "replace") if _decodes(data) else ""
        source = Source(PATHS[form], form, text)
        try:
            prompts = list(module.prompts(source))
        except FormError:
            return
        for prompt in prompts:
            for segment in prompt.segments:
                assert 0 <= segment.start <= segment.end <= len(text), segment
        for finding in engine.lint(source, prompts, _RULES):
            assert finding.line >= 1 and finding.column >= 1, finding

    with tempfile.TemporaryDirectory() as folder:
        for number, sample in enumerate(SAMPLES[form]):
            (Path(folder) / str(number)).write_text(sample, encoding="utf-8", newline="")
        atheris.Setup([sys.argv[0], "-timeout=10", "-max_len=4000", *options, folder], one)
        atheris.Fuzz()


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


if __name__ == "__main__":
    main()
