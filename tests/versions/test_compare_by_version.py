"""A comparison on each kind of version: the right method and verdict, or a refusal that says why.

The released versions that cannot be had are played by the fake server, which counts and times as each of them does.
"""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import servers
from fake_server import FakeOllama
from servers import OllamaServer

from promptorder.cli import run
from promptorder.model.ollama_versions import FACTS, Consequence, facts_of, parse_version

NS = 1_000_000
TELLS = ("reused", "not-reused")
TELLS_NOT = ("cannot-tell", "cannot-tell")


@dataclass(frozen=True)
class Case:
    """A server, and what a comparison says of static-first and question-first there."""

    version: str
    method: str
    verdicts: tuple[str, str] = TELLS
    caveat: str | None = None
    fake: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join(
            [self.version, *(str(value) for value in self.fake.values() if isinstance(value, str))]
        )


WAITING = "waiting for a free slot"
PARTS = "only a part of the reading"
CASES = [
    Case("0.1.30", "counted", fake={"counting": "new"}),
    Case("0.3.14", "inferred", caveat=WAITING),
    Case("0.5.4", "inferred", caveat=WAITING, fake={"durations": "milliseconds"}),
    Case("0.6.1", "inferred", caveat=WAITING),
    Case("0.6.5", "inferred", caveat=WAITING),
    Case("0.12.4", "inferred", caveat=WAITING, fake={"waits": {3: 600 * NS}}),
    Case("0.12.5", "unknown", TELLS_NOT, PARTS, {"durations": "last-batch"}),
    Case("0.12.6", "unknown", TELLS_NOT, PARTS, {"durations": "last-batch"}),
    Case("0.12.6", "inferred"),
    Case("0.12.7", "inferred"),
    Case("0.16.0", "counted", fake={"counting": "new", "durations": "last-token"}),
    Case("0.17.4", "inferred"),
    Case("0.24.0", "inferred"),
    Case("0.30.0", "counted"),
    Case("0.30.5", "inferred"),
    Case("0.33.2", "inferred"),
    Case("0.33.3", "counted"),
    Case("0.34.1", "counted"),
    # of no known version: by what they do
    Case("0.0.0", "counted", fake={"counting": "cached"}),
    Case("0.0.0", "counted", fake={"counting": "new"}),
    Case("0.0.0", "inferred", caveat="no release that is known", fake={"counting": "whole"}),
    Case("0.0.0", "inferred", fake={"counting": "whole", "answers_unread": False}),
    Case("0.0.0", "unknown", TELLS_NOT, PARTS, {"counting": "whole", "durations": "last-batch"}),
    Case("0.30.0-rc3", "counted", fake={"counting": "new"}),
    Case("0.30.0-rc3", "inferred", fake={"counting": "whole"}),
    Case("0.33.3-rc0", "inferred", fake={"counting": "whole"}),
    Case("0.33.3-rc1", "counted", fake={"counting": "cached"}),
    Case("harbour-build-7", "counted", fake={"counting": "cached"}),
]


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with a document and questions, out of reach of the settings of whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.chdir(tmp_path)
    lines = [f"Section {n}: in the year {1900 + n} the harbour took in {n * 37} ships.\n" for n in range(200)]
    (tmp_path / "harbour.txt").write_text("".join(lines[:66]))
    (tmp_path / "long.txt").write_text("".join(lines))
    (tmp_path / "questions.txt").write_text("How many ships?\nWhich year was it?\nWho paid?\n")
    return tmp_path


def compare(url: str, *arguments: str, document: str = "harbour.txt") -> dict[str, Any]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(
            [
                *(
                    "compare",
                    document,
                    "--questions",
                    "questions.txt",
                    "--host",
                    url,
                    "--engine",
                    "ollama",
                ),
                *("--layout", "static-first", "--layout", "question-first", "--num-predict", "2"),
                *("--format", "json", *arguments),
            ]
        )
    assert code == 0, err.getvalue()
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


def check(result: dict[str, Any], case: Case) -> None:
    said = [(each["reused_fraction"]["method"], each["verdict"]) for each in result["layouts"]]
    assert said == [(case.method, verdict) for verdict in case.verdicts]
    caveats = [caveat["message"] for caveat in result["caveats"]]
    if case.caveat is not None:
        assert any(case.caveat in message for message in caveats), caveats
    if case.method == "counted":
        assert not any(caveat["code"] == "inferred" for caveat in result["caveats"])


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.usefixtures("inputs")
def test_the_method_and_the_verdict(case: Case) -> None:
    with FakeOllama(version=case.version, new_token_ns=250_000, **case.fake) as fake:
        check(compare(fake.url), case)


def test_each_row_of_the_table_is_played() -> None:
    played = {
        fact for case in CASES if (version := parse_version(case.version)) for fact in facts_of(version)
    }
    # A cloud's model is refused without consent, and no call of ours sends what switches the cache off.
    not_played = {fact for fact in FACTS if fact.models == "cloud"}
    assert set(FACTS) - played <= not_played


@pytest.mark.usefixtures("inputs")
def test_no_call_sends_what_switches_the_cache_off() -> None:
    with FakeOllama(version="0.30.5") as fake:
        compare(fake.url)
        assert not any("shift" in request.body for request in fake.requests)


METHODS = {"0.33.3": "counted", "0.33.0": "inferred", "0.30.0": "counted", "0.6.5": "inferred"}


@pytest.mark.usefixtures("inputs")
def test_real_servers_are_as_the_table_says(any_server: OllamaServer) -> None:
    version = parse_version(any_server.version)
    assert version is not None
    consequences = {fact.consequence for fact in facts_of(version) if fact.field.startswith("prompt_eval_c")}
    method = "inferred" if Consequence.INFERRED in consequences - {Consequence.COUNTED} else "counted"
    if Consequence.COUNTED in consequences:
        method = "counted"
    assert METHODS[any_server.version] == method
    for attempt in range(3):  # a busy machine doubles a call's time, but not each time
        result = compare(any_server.url, "--model", "tiny", document="long.txt")
        if attempt == 2 or [each["verdict"] for each in result["layouts"]] == list(TELLS):
            break
    check(result, Case(any_server.version, method))


def test_all_real_servers_are_tried() -> None:
    assert set(METHODS) == set(servers.VERSIONS)
