"""A start pays only for what it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"rich", "ollama", "httpx", "pandas", "numpy", "pypdf", "tiktoken", "xllamacpp", "jinja2", "asyncio"}

RUN = "from promptorder.cli import run; assert run({!r}) == 0"
STARTS = {
    "import": "import promptorder; assert promptorder.__version__",
    "version": RUN.format(["--version"]),
    "help": RUN.format(["--help"]),
    "help of compare": RUN.format(["compare", "--help"]),
    "help of diff": RUN.format(["diff", "--help"]),
    "help of report": RUN.format(["report", "--help"]),
    "help of trace": RUN.format(["trace", "--help"]),
    "completion": RUN.format(["completion", "zsh"]),
}


def modules_after(code: str) -> set[str]:
    code += "; import sys; print('modules:', *sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8")
    return set(done.stdout.rpartition("modules:")[2].split())


@pytest.mark.parametrize("start", STARTS)
def test_start_loads_nothing_heavy(start: str) -> None:
    loaded = modules_after(STARTS[start])
    assert "promptorder" in loaded
    assert not loaded & HEAVY


def test_import_alone_loads_its_version_and_no_more() -> None:
    loaded = {name for name in modules_after("import promptorder") if name.startswith("promptorder")}
    assert loaded == {"promptorder", "promptorder._version"}


def test_names_of_the_package_load_when_used() -> None:
    loaded = modules_after("import promptorder; promptorder.Comparison, promptorder.PromptorderError")
    assert "promptorder.model.comparison" in loaded
    assert "promptorder.api" not in loaded
    assert "promptorder.api" in modules_after("import promptorder; promptorder.compare")


def test_an_error_loads_nothing_heavy() -> None:
    code = "from promptorder.cli import run; assert run(['compare', 'x']) == 2"
    assert not modules_after(code) & HEAVY
