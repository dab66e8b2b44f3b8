"""The documentation says what the program does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from promptorder.layouts import PLACEHOLDERS, REGISTRY

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    return generate


def test_the_command_reference_is_what_help_prints() -> None:
    written = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert written == generator().reference(), "run: python docs/generate.py"


def test_the_pages_of_rules_are_their_docstrings() -> None:
    generate = generator()
    written = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert written == generate.rule_pages(), "run: python docs/generate.py"
    config = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
    assert config == generate.site(config), "run: python docs/generate.py"


def test_every_layout_and_placeholder_is_documented() -> None:
    page = (ROOT / "docs" / "layouts.md").read_text(encoding="utf-8")
    for name in (*REGISTRY.names(), *(f"{{{name}}}" for name in PLACEHOLDERS)):
        assert f"`{name}`" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_decision_and_page_is_in_the_site() -> None:
    config = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.relative_to(ROOT / "docs").as_posix() in config


def test_the_readme_has_one_command_to_try_and_one_to_test() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for marker in ("try", "test"):
        block = re.search(rf"<!-- {marker} -->\n```sh\n(.+)\n```", readme)
        assert block is not None
        assert "\n" not in block[1], "one line, so that it can be copied at once"


def test_every_release_note_is_a_list_item() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## Unreleased" in changelog
    assert re.search(r"^- ", changelog, re.MULTILINE)
