"""`promptorder doctor` where a real server cannot be had: foreign versions and models, faults, no server."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema
import pytest
from examined import doctor
from fake_server import HOLD_S, FakeModel, FakeOllama, Fault

from promptorder.contracts import schema

CLOUD = FakeModel("big:cloud", remote_host="https://cloud.example")
EMBEDDING = FakeModel("embed:latest", capabilities=("embedding",))
NOBODY = "127.0.0.1:9"  # discards, and nobody serves it
RUNS = ("/api/chat", "/api/generate")


def left(server: FakeOllama) -> list[str]:
    """The models that stay loaded; one that is unloaded is listed a little longer."""
    time.sleep(2 * HOLD_S)
    return server.loaded()


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema("doctor-1"))
    assert schema("doctor-1")["$id"] == "promptorder.doctor/1"


def test_a_server_that_counts() -> None:
    with FakeOllama() as server:
        examined = doctor("--host", server.url)
        assert left(server) == []
    assert examined.code == 0, examined.problems()
    value = examined.json
    assert value["engine"]["name"] == "ollama"
    assert value["engine"]["counts"] == "cached"
    assert value["model"]["name"] == "tiny:latest"
    assert [each["kind"] for each in value["calls"]] == [
        "long",
        "short",
        "other-tail",
        "repeat",
        "between",
        "back",
    ]
    assert examined.status("reuse") == examined.status("tail") == examined.status("earlier") == "ok"
    # What answers here is a Python process, not Ollama's own: its variables are not read.
    assert value["environment"]["server"] is None
    assert examined.status("environment") == "unknown"
    assert value["engine"]["default_keep_alive_ns"] > 300e9, "it was tried out"


def test_all_that_is_said_stays_on_one_stream() -> None:
    with FakeOllama() as server:
        examined = doctor("--host", server.url)
        quiet = doctor("--host", server.url, "--quiet")
    assert "control call 6" in examined.err
    assert quiet.err == ""
    assert json.loads(quiet.out)["schema"] == "promptorder.doctor/1"


def test_no_calls_runs_nothing_and_loads_nothing() -> None:
    with FakeOllama() as server:
        examined = doctor("--host", server.url, "--no-calls")
        assert not set(server.paths()) & set(RUNS)
    assert examined.code == 0
    assert examined.json["calls"] is None
    assert examined.status("reuse") == "unknown"
    assert examined.status("counting") == "ok", "by its version"


def test_no_document_is_sent_and_each_text_is_new() -> None:
    with FakeOllama() as server:
        doctor("--host", server.url)
        doctor("--host", server.url)
        chats: list[Any] = [
            each.body["messages"][0]["content"] for each in server.requests if each.path == RUNS[0]
        ]
    assert len(chats) == 12
    assert chats[0][:200] != chats[6][:200]
    assert all(each.body["options"]["num_predict"] == 1 for each in server.requests if each.path == RUNS[0])


def test_an_unknown_version_is_tried_out() -> None:
    with FakeOllama(version="0.0.0") as server:
        examined = doctor("--host", server.url)
    assert examined.code == 0
    assert examined.json["engine"]["version"] is None
    assert examined.status("version") == "note"
    assert examined.json["engine"]["counts"] in ("cached", "nothing")


@pytest.mark.parametrize(
    ("version", "counts", "versions"),
    [("0.30.0", "read", ["note", "note"]), ("0.33.0", "nothing", ["ok"]), ("0.12.6", "nothing", ["problem"])],
)
def test_what_versions_count(version: str, counts: str, versions: list[str]) -> None:
    with FakeOllama(version=version) as server:
        examined = doctor("--host", server.url)
    assert examined.json["engine"]["counts"] == counts
    assert [status for status, _ in examined.found("version")] == versions
    assert examined.code == int("problem" in versions)


def test_a_cloud_model_is_not_asked() -> None:
    with FakeOllama(models=[CLOUD]) as server:
        examined = doctor("--host", server.url, "--model", "big:cloud")
        assert not set(server.paths()) & set(RUNS)
        allowed = doctor("--host", server.url, "--model", "big:cloud", "--allow-remote")
    assert examined.code == 1
    assert "cloud.example" in examined.problems()["model"]
    assert allowed.found("model")[0][0] == "note"
    assert allowed.status("reuse") == "ok"


def test_a_model_that_only_embeds() -> None:
    with FakeOllama(models=[EMBEDDING]) as server:
        examined = doctor("--host", server.url, "--model", "embed")
        assert not set(server.paths()) & set(RUNS)
    assert examined.code == 1
    assert "cannot complete text" in examined.problems()["model"]


def test_a_model_that_is_not_there() -> None:
    with FakeOllama() as server:
        examined = doctor("--host", server.url, "--model", "nowhere")
    assert examined.code == 4
    assert "does not have the model nowhere" in examined.problems()["model"]
    assert examined.status("server") == "ok"
    assert any("ollama pull nowhere" in (each["remedy"] or "") for each in examined.json["checks"])


def test_no_model_that_answers() -> None:
    with FakeOllama(models=[EMBEDDING, CLOUD]) as server:
        examined = doctor("--host", server.url)
    assert examined.code == 4
    assert list(examined.problems()) == ["model"]


def test_several_models_and_none_chosen() -> None:
    with FakeOllama(models=[FakeModel("a:latest"), FakeModel("b:latest")]) as server:
        examined = doctor("--host", server.url)
    assert examined.code == 0
    assert examined.status("model") == "unknown"
    assert "--model" in str(examined.json["checks"])


def test_nobody_answers() -> None:
    examined = doctor("--engine", "ollama", "--host", NOBODY)
    assert examined.code == 4
    assert list(examined.problems()) == ["server"]
    assert examined.json["model"] is examined.json["calls"] is None


def test_what_answers_is_not_ollama() -> None:
    with FakeOllama(required_header=("Authorization", "Bearer x")) as server:
        examined = doctor("--engine", "ollama", "--host", server.url)
        allowed = doctor("--host", server.url, "--header", "Authorization: Bearer x")
    assert examined.code == 4
    assert "refuses access" in examined.problems()["server"]
    assert allowed.code == 0


def test_wrong_usage() -> None:
    assert doctor("--engine", "olama").code == 2
    assert doctor("--host", "http://[").code == 2
    assert "'NAME: VALUE'" in doctor("--header", "x").err


@pytest.mark.parametrize("number", [1, 3, 6])
def test_a_call_that_breaks_off(number: int) -> None:
    with FakeOllama(faults={number: Fault.ERROR_500}) as server:
        examined = doctor("--host", server.url)
        assert left(server) == []
    assert examined.code == int(number < 6)
    assert examined.json["calls"][-1]["failure"]
    assert len(examined.json["calls"]) == number


def test_a_loaded_model_stays_as_it_was() -> None:
    with FakeOllama(loaded=["tiny"]) as server:
        examined = doctor("--host", server.url)
        assert server.loaded() == ["tiny:latest"]
        assert server.context_of("tiny:latest") == 4096
        assert all(each.body.get("keep_alive") not in (0, "0") for each in server.requests)
    assert examined.json["engine"]["loaded"][0]["examined"] is True


def test_other_models_are_told() -> None:
    with FakeOllama(models=[FakeModel("a:latest"), FakeModel("b:latest")], loaded=["b"]) as server:
        examined = doctor("--host", server.url, "--model", "a")
    assert examined.status("other-models") == "note"


def test_variables_of_this_shell_alone() -> None:
    with FakeOllama() as server:
        examined = doctor("--host", server.url, "--no-calls", env={"OLLAMA_KEEP_ALIVE": "0"})
    assert examined.json["environment"]["own"]["OLLAMA_KEEP_ALIVE"] == "0"
    assert "changes nothing" in examined.found("environment")[1][1]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_the_text_fits_its_columns(width: int) -> None:
    with FakeOllama(version="0.30.0") as server:
        examined = doctor("--host", server.url, json_format=False, env={"COLUMNS": str(width)})
    assert max(map(len, examined.out.splitlines())) <= width
    assert "\x1b" not in examined.out
    assert "No problem." in examined.out
