"""What every plug-in of a package must define; a new one is tested as soon as its file is there."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import click
import hand_made
import pytest

from promptorder.cli import COMMANDS
from promptorder.engines import REGISTRY as ENGINES
from promptorder.errors import UsageError
from promptorder.layouts import REGISTRY as LAYOUTS
from promptorder.layouts import Layout, default_layouts
from promptorder.model.engine import EngineOptions
from promptorder.model.run import Run, Runs
from promptorder.plugins import Registry
from promptorder.reports import REGISTRY as REPORTS

REGISTRIES = {"engines": ENGINES, "layouts": LAYOUTS, "reports": REPORTS, "commands": COMMANDS}
EVERY = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry.names()]


def parameters(module: ModuleType, function: str) -> list[str]:
    return list(inspect.signature(getattr(module, function)).parameters)


def test_what_is_there() -> None:
    assert {"ollama", "embedded"} <= set(ENGINES.names())
    assert {"static-first", "question-first", "clock-first"} <= set(LAYOUTS.names())
    assert {"table", "json", "csv", "markdown", "html"} <= set(REPORTS.names())
    assert {"compare", "completion", "report"} <= set(COMMANDS.names())


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_plug_in_is_named_and_told_about(kind: str, name: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)
    assert REGISTRIES[kind].load(name).__doc__


@pytest.mark.parametrize("name", ENGINES.names())
def test_what_an_engine_defines(name: str) -> None:
    module = ENGINES.load(name)
    assert isinstance(module.SUMMARY, str)
    assert module.SUMMARY
    assert isinstance(module.AUTO_RANK, int)
    assert isinstance(module.INSTALL_HINT, str)
    assert module.INSTALL_HINT
    assert parameters(module, "available") == ["options"]
    assert parameters(module, "open_engine") == ["options"]


def test_engines_are_tried_in_one_order() -> None:
    ranks = [module.AUTO_RANK for module in ENGINES.load_all().values()]
    assert len(set(ranks)) == len(ranks)


def test_an_engine_that_cannot_be_used_says_why() -> None:
    # Port 9 discards, and nobody serves it
    reason = ENGINES.load("ollama").available(EngineOptions(host="127.0.0.1:9"))
    assert isinstance(reason, str)
    assert "\n" not in reason.strip()


@pytest.mark.parametrize("name", LAYOUTS.names())
def test_what_a_layout_defines(name: str) -> None:
    module = LAYOUTS.load(name)
    layout = module.LAYOUT
    assert isinstance(layout, Layout)
    assert layout.name == name
    assert layout.summary
    assert layout.advice
    layout.check()
    assert module.DEFAULT_RANK is None or isinstance(module.DEFAULT_RANK, int)


def test_default_layouts_have_an_order_of_their_own() -> None:
    ranks = [module.DEFAULT_RANK for module in LAYOUTS.load_all().values() if module.DEFAULT_RANK is not None]
    assert len(set(ranks)) == len(ranks)
    assert default_layouts() == ["static-first", "question-first", "clock-first"]


@pytest.mark.parametrize("name", REPORTS.names())
def test_what_a_report_defines(name: str) -> None:
    module = REPORTS.load(name)
    assert isinstance(module.SUMMARY, str)
    assert module.SUMMARY
    signature = inspect.signature(module.render)
    assert list(signature.parameters) == ["run", "width", "color"]
    assert all(
        signature.parameters[each].kind is inspect.Parameter.KEYWORD_ONLY for each in ("width", "color")
    )
    assert list(inspect.signature(module.render_runs).parameters) == ["runs", "width", "color"]
    assert module.SUFFIXES
    assert all(suffix.startswith(".") for suffix in module.SUFFIXES)
    run = Run(hand_made.comparison())
    for text in (
        module.render(run, width=80, color=False),
        module.render_runs(Runs((run, run), per_day=10), width=80, color=False),
    ):
        assert isinstance(text, str)
        assert text.endswith("\n")


def test_a_file_name_asks_for_one_format() -> None:
    suffixes = [suffix for module in REPORTS.load_all().values() for suffix in module.SUFFIXES]
    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.parametrize("name", COMMANDS.names())
def test_what_a_command_defines(name: str) -> None:
    command = COMMANDS.load(name).command
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    assert command.short_help
    assert command.short_help.endswith(".")


@pytest.mark.parametrize("name", COMMANDS.names())
def test_every_option_has_help(name: str) -> None:
    options = [param for param in COMMANDS.load(name).command.params if isinstance(param, click.Option)]
    silent = [option.name for option in options if not (option.help or "").strip().endswith((".", ")"))]
    assert not silent


def test_names_come_without_imports() -> None:
    assert Registry("promptorder.layouts", "layout").names() == sorted(LAYOUTS.names())
    assert not any(name.startswith(("-", "_")) for name in LAYOUTS.names())


def test_an_unknown_plug_in_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="no layout named 'static-frist'") as caught:
        LAYOUTS.load("static-frist")
    assert "did you mean static-first?" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        LAYOUTS.load("zzz")
    assert "did you mean" not in caught.value.hint
    assert "question-first" in caught.value.hint


@pytest.mark.parametrize("name", ["_template", "../store", "layouts.static_first", "", "static_first"])
def test_only_names_that_are_listed_load(name: str) -> None:
    with pytest.raises(UsageError):
        LAYOUTS.load(name)
