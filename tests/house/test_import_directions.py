"""The direction of the house: who may import whom, print, open a socket or read a file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import promptorder

ROOT = Path(promptorder.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# The ground floor: what each of these may import of ours, and nothing else.
GROUND: dict[str, set[str]] = {
    "_version": set(),
    "errors": set(),
    "model": {"model"},
    "plugins": {"errors"},
}
# The floors above, from the lowest: each may import its own floor, those below, and the ground.
FLOORS: list[tuple[str, set[str]]] = [
    (
        "pure parts",
        {
            "prefix",
            "providers",
            "layouts",
            "measure",
            "forms",
            "serverlog",
            "lint",
            "policies",
            "replay",
            "traces",
            "tracing",
            "doctor",
            "tokenizers",
            "difference",
        },
    ),
    (
        "adapters",
        {"inputs", "engines", "contracts", "store", "settings", "console", "reports", "vocabularies"},
    ),
    (
        "library",
        {
            "api",
            "lint_api",
            "doctor_api",
            "trace_api",
            "trace_passes",
            "trace_settings",
            "diff_api",
            "report_api",
            "compare_settings",
            "record",
            "evidence",
        },
    ),
    ("commands", {"commands"}),
    ("command line", {"cli"}),
    ("entrance", {"__init__", "__main__"}),
]
FLOOR_OF = {part: number for number, (_, parts) in enumerate(FLOORS) for part in parts}
# Inside one floor not everything is sensible: an adapter that others stand on must not lean on them.
NOT_EVEN_SO: dict[str, set[str]] = {
    "console": {"reports", "engines", "inputs", "store", "settings", "contracts"},
    "contracts": {"reports", "console", "engines", "inputs", "store", "settings"},
    "engines": {"reports", "console", "inputs", "store", "settings", "contracts"},
    "inputs": {"reports", "console", "engines", "store", "settings", "contracts"},
    "layouts": {"measure"},
    "reports": {"engines", "inputs", "store", "settings"},
    "settings": {"reports", "console", "engines", "inputs", "store", "contracts"},
    "store": {"reports", "console", "engines", "inputs", "settings"},
}

# A foreign package, and the only parts that may import it, even inside a function.
KEPT_TO: dict[str, set[str]] = {
    "rich": {"console"},
    "ollama": {"engines"},
    "httpx": {"engines"},
    "xllamacpp": {"engines"},
    "socket": {"engines"},
    "http.client": {"engines"},
    "urllib.request": {"engines"},
    "pypdf": {"inputs"},
    "click": {"commands", "cli"},
    "tiktoken": {"tokenizers"},
    "jinja2": {"reports"},
}
HEAVY = {"rich", "ollama", "httpx", "xllamacpp", "pandas", "numpy", "pypdf", "tiktoken", "jinja2", "pathspec"}

MAY_TOUCH_FILES = {
    "inputs": "documents, questions, layouts and rules",
    "store": "run files, and whatever is written",
    "settings": "pyproject.toml",
    "contracts": "the schemas that the package brings",
    "engines": "model files",
    "vocabularies": "the files of tokenizers",
    "reports": "the page and the style that the package brings",
    "cli": "the null device, when whoever read the output has left",
    "trace_passes": "nothing: what it opens are policies",
}
FILE_CALLS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "mkstemp", "fdopen"}
MAY_PRINT = {"commands", "console", "cli"}
# A child process: its standard output is the pipe to its parent.
CHILDREN = {"engines/_embedded_child.py"}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported_names(nodes: Iterator[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write imports with their full names"
            assert node.module is not None
            # The names may be modules: `from promptorder import cli`, `from http import client`
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_of(imported: str, package: str) -> bool:
    return f"{imported}.".startswith(f"{package}.")


def our_parts(path: Path) -> Iterator[str]:
    for name in imported_names(ast.walk(tree_of(path))):
        if is_of(name, "promptorder"):
            first = name.split(".")[1] if "." in name else ""
            inside = (ROOT / f"{first}.py").exists() or (ROOT / first / "__init__.py").exists()
            yield first if first and inside else "__init__"


def at_import(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Statements that run, or could run, when the module is imported."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from at_import(statement.orelse)
            continue
        yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from at_import(getattr(statement, field, []))
        for handler in getattr(statement, "handlers", []):
            yield from at_import(handler.body)


def direction_fault(part: str, imported: str) -> str | None:
    """Why ``part`` must not import ``imported``, or None where it may."""
    if part in GROUND:
        return None if imported in GROUND[part] else f"{part} is of the ground floor"
    if imported in GROUND or part == imported:
        return None
    if FLOOR_OF[imported] > FLOOR_OF[part]:
        return f"{part} ({FLOORS[FLOOR_OF[part]][0]}) is below {imported} ({FLOORS[FLOOR_OF[imported]][0]})"
    if imported in NOT_EVEN_SO.get(part, set()):
        return f"{part} and {imported} share a floor, but {part} must not lean on it"
    return None


def test_every_part_has_its_floor() -> None:
    unknown = {part_of(path) for path in MODULES} - set(GROUND) - set(FLOOR_OF)
    assert not unknown, f"{sorted(unknown)} is new: add it to a row of FLOORS in {Path(__file__).name}"


def test_walk_finds_the_house() -> None:
    assert {"model", "measure", "engines", "commands", "cli", "api"} <= {part_of(path) for path in MODULES}
    assert set(our_parts(ROOT / "store" / "run_file.py")) == {"contracts", "errors", "model", "store"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down(path: Path) -> None:
    faults = [fault for part in our_parts(path) if (fault := direction_fault(part_of(path), part))]
    assert not faults


def test_a_wrong_direction_would_be_told() -> None:
    assert direction_fault("measure", "engines")
    assert direction_fault("layouts", "measure")
    assert direction_fault("model", "errors")
    assert direction_fault("console", "reports")
    assert direction_fault("api", "commands")
    assert direction_fault("reports", "console") is None
    assert direction_fault("commands", "measure") is None


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if part_of(p) in {*GROUND, "layouts", "measure", "doctor", "serverlog"}],
    ids=name_of,
)
def test_ground_and_pure_parts_need_the_standard_library_only(path: Path) -> None:
    foreign = {name.split(".")[0] for name in imported_names(ast.walk(tree_of(path)))}
    assert foreign <= {*sys.stdlib_module_names, "promptorder"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_foreign_packages_stay_where_they_belong(path: Path) -> None:
    for name in imported_names(ast.walk(tree_of(path))):
        for package, parts in KEPT_TO.items():
            if is_of(name, package):
                assert part_of(path) in parts, f"{name} belongs in {sorted(parts)}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_heavy_is_imported_with_a_module(path: Path) -> None:
    loaded = {name.split(".")[0] for name in imported_names(at_import(tree_of(path).body))}
    assert not loaded & HEAVY


def test_what_counts_as_imported_with_a_module() -> None:
    source = """
import a
if TYPE_CHECKING:
    import b
else:
    import c
try:
    import d
except ImportError:
    import e
class C:
    import f
def g():
    import h
"""
    assert list(imported_names(at_import(ast.parse(source).body))) == ["a", "c", "d", "e", "f"]


def called_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_few_touch_files(path: Path) -> None:
    touches = set(called_names(tree_of(path))) & FILE_CALLS
    assert not touches or part_of(path) in MAY_TOUCH_FILES, f"{sorted(touches)}: hand it the text instead"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_few_print(path: Path) -> None:
    if part_of(path) in MAY_PRINT or name_of(path) in CHILDREN:
        return
    tree = tree_of(path)
    streams = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not streams & {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"}
    assert not set(called_names(tree)) & {"print", "echo", "secho"}
