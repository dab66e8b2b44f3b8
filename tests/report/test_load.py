"""Run files come back as they were, whatever their age; what is none is refused with what to do about it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import hand_made
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptorder
from promptorder.contracts import comparison as comparison_contract
from promptorder.contracts import run as run_contract
from promptorder.contracts._reading import upgraded
from promptorder.errors import InputError, PromptorderError
from promptorder.model.run import Run, SentPrompt
from promptorder.model.sample import Phase
from promptorder.reports._figures import figures
from promptorder.store.finished import load_run
from promptorder.store.run_file import RunFile

OLD = Path(__file__).with_name("run-1.json")


def a_run(**changes: Any) -> Run:
    comparison = hand_made.comparison()
    warm = hand_made.sample(Phase.WARM_REPEAT, 3, prefill_ns=9)
    calls = [result.sample for layout in comparison.layouts for result in layout.samples]
    run = Run(
        comparison=replace(comparison, control_samples=(warm,)),
        samples=(hand_made.sample(Phase.LOAD, 0, load_ns=5), *calls, warm),
        abandoned=(hand_made.sample(Phase.FIRST, 1, failure="x"),),
        prompts=(SentPrompt("static-first", 1, "0" * 64, 1000, 0),),
        machine={"processors": 2},
        templates={"static-first": "f" * 64},
        command=("promptorder", "compare", "report.pdf"),
        tool_version=promptorder.__version__,
    )
    return replace(run, **changes)


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def as_json(run: Run) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(run_contract.to_json(run)))
    return value


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", as_json(a_run()))
    assert load_run(path) == a_run(path=str(path))


def test_a_bare_comparison_is_read_too(tmp_path: Path) -> None:
    value = json.loads(json.dumps(comparison_contract.to_json(hand_made.comparison())))
    run = load_run(write(tmp_path / "comparison.json", value))
    assert comparison_contract.to_json(run.comparison) == comparison_contract.to_json(hand_made.comparison())
    assert run.samples == ()


def test_the_first_schema_loads_for_ever() -> None:
    run = load_run(OLD)
    assert [layout.name for layout in run.comparison.layouts] == ["static-first", "question-first"]
    best = figures(run.comparison)[0]
    assert (best.prompt_tokens, best.new_tokens, best.floor_method) == (2101, 22, "estimated")
    assert best.position is not None
    assert best.position.before is None, "the first files did not tell where the document stands"
    assert len(run.comparison.questions) == 4


def test_keys_of_later_versions_are_left_out(tmp_path: Path) -> None:
    value = as_json(a_run())

    def more(each: Any) -> Any:
        if isinstance(each, dict):
            return {**{key: more(part) for key, part in each.items()}, "news": {"a": [1]}}
        return [more(part) for part in each] if isinstance(each, list) else each

    loaded = load_run(write(tmp_path / "run.json", {**more(value), "machine": value["machine"]}))
    assert loaded.comparison.layouts == a_run().comparison.layouts


def test_an_older_version_is_upgraded_step_by_step() -> None:
    steps = {1: lambda v: {**v, "b": v["a"] + 1}, 2: lambda v: {**v, "c": v["b"] + 1}}
    assert upgraded({"schema": "promptorder.run/1", "a": 1}, "run", steps, 3)["c"] == 3
    assert upgraded({"schema": "promptorder.run/3"}, "run", steps, 3) == {"schema": "promptorder.run/3"}
    with pytest.raises(InputError, match="no version has written"):
        upgraded({"schema": "promptorder.run/0"}, "run", steps, 3)


def test_every_older_version_has_its_upgrade() -> None:
    for contract in (comparison_contract, run_contract):
        assert set(contract.UPGRADES) == set(range(1, contract.NEWEST))


@pytest.mark.parametrize("where", ["run", "comparison"])
def test_a_newer_major_version_is_refused(where: str, tmp_path: Path) -> None:
    value = as_json(a_run())
    (value if where == "run" else value["comparison"])["schema"] = f"promptorder.{where}/2"
    with pytest.raises(InputError, match=rf"newer schema promptorder\.{where}/2") as caught:
        load_run(write(tmp_path / "run.json", value))
    assert "newer promptorder" in caught.value.hint


def test_an_unfinished_run_says_how_to_finish_it(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    file = RunFile(out, resume=False)
    file.begin({"started_at": hand_made.AT}, 2)
    for written in (False, True):
        for path in (file.partial, out):
            with pytest.raises(InputError, match="not finished") as caught:
                load_run(path)
            assert f"--out {out} --resume" in caught.value.hint
        if not written:
            file.append(hand_made.sample(Phase.LOAD, 0, load_ns=5))
    file.close()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        '"x"',
        "{}",
        '{"schema": 1}',
        '{"schema": "promptorder.lint/1"}',
        "[" * 9999,
    ],
)
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json") as caught:
        load_run(path)
    assert caught.value.hint


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name in ("missing.json", ".", "bytes.json"):
        with pytest.raises(InputError) as caught:
            load_run(tmp_path / name)
        assert caught.value.hint


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("comparison.started_at", 7),
        ("comparison.layouts", {}),
        ("comparison.layouts.0.verdict", "perhaps"),
        ("comparison.layouts.0.first_prefill_ns", "fast"),
        ("comparison.layouts.0.first_prefill_ns", -1),
        ("comparison.layouts.0.first_prefill_ns", True),
        ("comparison.layouts.0.reused_fraction.method", "guessed"),
        ("comparison.layouts.0.samples.0.question", None),
        ("comparison.document.sha256", None),
        ("comparison.document.pages", [["a", "b"]]),
        ("comparison.engine", "ollama"),
        ("samples.1.reply.prefill_ns", "1"),
        ("samples.1.reply.answer", None),
        ("samples.1.phase", "later"),
        ("machine", []),
    ],
)
def test_a_damaged_run_is_refused_and_not_half_read(place: str, wrong: object, tmp_path: Path) -> None:
    value = as_json(a_run())
    *path, last = place.split(".")
    inner: Any = value
    for key in path:
        inner = inner[int(key)] if key.isdigit() else inner[key]
    inner[last] = wrong
    with pytest.raises(InputError, match="damaged"):
        load_run(write(tmp_path / "run.json", value))


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return [path, *(p for key, each in pairs for p in paths_of(each, (*path, key)))]
    return [path]


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just([]), st.just({}), st.just([[1]])
)
PATHS = paths_of(as_json(a_run()))[1:]


@given(st.sampled_from(PATHS), VALUES)
def test_whatever_stands_in_a_run_it_loads_and_renders_or_is_refused(
    path: tuple[Any, ...], wrong: Any
) -> None:
    value = as_json(a_run())
    inner: Any = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = wrong
    try:
        run = run_contract.from_json(value)
    except (PromptorderError, ValueError, KeyError, TypeError):
        return
    from promptorder.model.run import Runs
    from promptorder.reports import REGISTRY

    for module in REGISTRY.load_all().values():
        if module.__name__.endswith("csv"):
            continue  # some milliseconds each, and no shape of its own
        assert module.render_runs(Runs((run, a_run()), per_day=9), width=80, color=False)


def test_load_runs_is_tidy(tmp_path: Path) -> None:
    a, b = (write(tmp_path / f"{name}.json", as_json(a_run())) for name in "ab")
    frame = promptorder.load_runs([a, str(b)])
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 14
    assert list(frame["run_path"].unique()) == [str(a), str(b)]
    assert frame["run"].nunique() == 1, "the same run, in two files"
    first = frame.iloc[0]
    assert (first["model"], first["layout"], first["question"]) == ("smollm2:latest", "static-first", 1)
    assert (first["prefill_ns"], first["prompt_tokens"], first["reused_method"]) == (
        2_000_000_000,
        1000,
        "counted",
    )
    assert frame["prefill_ns"].dtype == "Int64"
    failed = frame[frame["failure"].notna()]
    assert len(failed) == 2
    assert failed["prefill_ns"].isna().all(), "unknown is missing, and not 0"
    for name, kind in frame.dtypes.items():
        assert str(kind) in ("Int64", "string"), name
        if kind == "Int64" and name not in ("repeat", "question"):
            assert str(name).endswith(("_ns", "_tokens")), "units stand in the names"


def test_load_runs_takes_one_path_and_none(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", as_json(a_run()))
    assert len(promptorder.load_runs(path)) == 7
    assert list(promptorder.load_runs([]).columns) == list(promptorder.load_runs(path).columns)


def test_a_run_is_known_by_its_id() -> None:
    assert a_run().id == a_run(path="elsewhere.json").id
    other = replace(a_run().comparison, started_at="2026-12-01T00:00:00Z")
    assert a_run().id != a_run(comparison=other).id
