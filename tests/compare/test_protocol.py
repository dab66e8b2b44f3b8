"""What `promptorder compare` says where the set-up, the server or another client spoils a comparison."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_server
import jsonschema
import pytest
from fake_server import FakeOllama, Fault, Json
from test_faults import STATIC, Ran, bodies, cli, compare, inputs, measured

from promptorder.contracts import schema
from promptorder.measure import controls

__all__ = ["inputs"]  # a fixture

BOTH = (*STATIC, "--layout", "question-first")
MS = 1_000_000


def kept(ran: Ran, folder: Path) -> list[Any]:
    """The samples of the run file, after it was held to its schema."""
    run = json.loads((folder / "run.json").read_text())
    jsonschema.validate(run, schema("run-1"))
    jsonschema.validate(ran.json, schema("comparison-1"))
    samples: list[Any] = run["samples"]
    return samples


def places(ran: Ran, code: str) -> list[tuple[int, int]]:
    return [(each["repeat"], each["question"]) for each in ran.caveats()[code]["samples"]]


# ---------------------------------------------------------------- control calls


def test_a_run_that_is_as_expected_needs_no_control(inputs: Path) -> None:
    with FakeOllama() as fake:
        ran = compare(fake, "--out", "run.json")
    assert {sample["phase"] for sample in kept(ran, inputs)} == {"load", "first", "follow-up"}
    assert ran.layout("static-first")["verdict"] == "reused"


@pytest.mark.parametrize(
    ("caching", "code"), [("nothing", "nothing-reused"), ("repeats", "only-repeats-reused")]
)
def test_a_server_that_cannot_reuse_is_found(caching: fake_server.Caching, code: str, inputs: Path) -> None:
    with FakeOllama(caching=caching) as fake:
        ran = compare(fake, *BOTH, "--out", "run.json")
        chats = [body for body in bodies(fake, "/api/chat") if measured(body)]
    assert ran.code == 0
    samples = kept(ran, inputs)
    control = [sample for sample in samples if sample["phase"] == "control"]
    assert [sample["control"]["kind"] for sample in control] == ["long", "short", "other-tail", "repeat"]
    # They come as soon as there is a doubt: behind the first layout.
    assert [sample["phase"] for sample in samples][5:9] == ["control"] * 4
    assert [body["options"]["num_predict"] for body in chats] == [4] * 4 + [1] * 4 + [4] * 4
    assert len({body["options"]["num_ctx"] for body in chats}) == 1, (
        "another context would load the model again"
    )
    assert "control" not in {s["phase"] for layout in ran.json["layouts"] for s in layout["samples"]}
    assert code in ran.caveats()
    assert ran.caveats()[code]["layout"] is None
    shown = " ".join(cli("report", "run.json", "--format", "table").out.split())
    assert "Build your prompts" not in shown
    assert "after the document" not in shown, "on this set-up no order helps"
    # The count is the truth, whatever its cause.
    assert [layout["verdict"] for layout in ran.json["layouts"]] == ["not-reused"] * 2
    assert "control calls: what can this server" in ran.err
    words = {"nothing": "nothing is reused", "repeats": "only an identical prompt is reused"}[caching]
    assert f"control calls: {words}\n" in ran.err, "so early, not only at the end"


@pytest.mark.parametrize("caching", ["nothing", "repeats"])
def test_where_nothing_is_counted_the_verdict_is_that_it_cannot_be_told(
    caching: fake_server.Caching, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controls, "_TELLING_NS", 30 * MS)  # a test must not take as long as a real model
    with FakeOllama(version="0.33.0", caching=caching, new_token_ns=100_000) as fake:
        ran = compare(fake, *STATIC, "--fail-under", "static-first=0.5")
    code = {"nothing": "nothing-reused", "repeats": "only-repeats-reused"}[caching]
    assert code in ran.caveats()
    assert ran.layout("static-first")["verdict"] == "cannot-tell"
    # Where an identical repeat is quick, the times of cold and warm calls bound what was reused.
    known = ran.layout("static-first")["reused_fraction"]["high"] is not None
    assert known is (caching == "repeats")
    assert ran.code in ((1, 5) if known else (5,))
    assert "no-contrast" not in ran.caveats()


def test_prompts_that_share_nothing_do_not_show_what_a_server_can(inputs: Path) -> None:
    with FakeOllama() as fake:
        ran = compare(fake, "--layout", "question-first", "--out", "run.json")
    assert [sample["phase"] for sample in kept(ran, inputs)][-4:] == ["control"] * 4
    assert ran.layout("question-first")["verdict"] == "not-reused"
    assert "do reuse a shared start" in ran.caveats()["set-up-can-reuse"]["message"]


def test_control_calls_are_cheap_beside_a_long_document(inputs: Path) -> None:
    lines = (
        f"Section {n}: in the year {1900 + n} the harbour took in {n * 37} ships.\n" for n in range(2000)
    )
    (inputs / "long.txt").write_text("".join(lines))
    with FakeOllama(caching="nothing") as fake:
        ran = compare(fake, *STATIC, "--out", "run.json", document="long.txt")
    samples = kept(ran, inputs)
    read = {
        phase: sum(s["reply"]["prompt_tokens"] for s in samples if s["phase"] == phase)
        for phase in ("first", "control")
    }
    assert read["control"] < 0.2 * read["first"], "all four, though each was read whole"


def test_a_control_call_that_breaks_off_is_told(inputs: Path) -> None:
    with FakeOllama(caching="nothing", faults={6: Fault.NO_DONE}, counts=measured) as fake:
        ran = compare(fake, *STATIC, "--out", "run.json")
    assert ran.code == 0
    assert [s["failure"] is None for s in kept(ran, inputs) if s["phase"] == "control"] == [True, False]
    assert "control-failed" in ran.caveats()


def test_control_calls_survive_a_break(inputs: Path) -> None:
    """They are a block of their own: made again where one is missing, and not where they are whole."""

    def breaks_at(number: int) -> Callable[[FakeOllama, Json], None]:
        def before(fake: FakeOllama, body: Json) -> None:
            if fake.chats == number:
                fake.required_header = ("X-Gone", "1")  # from the next call on, nothing works

        return before

    for number, again in ((6, 4), (9, 0)):
        out = ("--out", f"{number}.json", "--host")
        with FakeOllama(caching="nothing", before=breaks_at(number), counts=measured) as fake:
            broken = compare(fake, *BOTH, *out, fake.url)
            assert broken.code == 4
            fake.required_header = None
            fake.before = lambda fake, body: None
            fake.requests.clear()
            ran = compare(fake, *BOTH, *out, fake.url, "--resume")
            assert ran.code == 0, ran.err
            chats = [b for b in bodies(fake, "/api/chat") if measured(b)]
        assert sum(body["options"]["num_predict"] == 1 for body in chats) == again
        run = json.loads((inputs / f"{number}.json").read_text())
        jsonschema.validate(run, schema("run-1"))
        assert sum(sample["phase"] == "control" for sample in run["samples"]) == 4
        assert "nothing-reused" in ran.caveats()


# ---------------------------------------------------------------- who else is there


def test_another_client_in_between_is_told(inputs: Path) -> None:
    def push_out(fake: FakeOllama, body: Json) -> None:
        if fake.chats == 3:
            fake.drop_cache()

    with FakeOllama(before=push_out, counts=measured) as fake:
        ran = compare(fake, *STATIC)
    assert places(ran, "second-client") == [(1, 3)]
    assert "reuse-not-as-expected" not in ran.caveats()
    assert ran.layout("static-first")["verdict"] == "cannot-tell"


def test_a_model_that_somebody_else_loads_is_told(inputs: Path) -> None:
    other = fake_server.FakeModel("other:latest")

    def load(fake: FakeOllama, body: Json) -> None:
        fake.load("other:latest", 4096)

    with FakeOllama(models=[fake_server.FakeModel(), other], before=load, counts=measured) as fake:
        ran = compare(fake, *BOTH, "--model", "tiny")
    assert "other:latest" in ran.caveats()["other-models"]["message"]
    with FakeOllama(models=[fake_server.FakeModel(), other], loaded=["other:latest"]) as fake:
        ran = compare(fake, *BOTH, "--model", "tiny")
    assert "other-models" not in ran.caveats(), "it was there before, and a note says so"


@pytest.mark.parametrize("version", ["0.33.3", "0.33.0"])
def test_a_queue_is_told(version: str, inputs: Path) -> None:
    with FakeOllama(version=version, waits={3: 700 * MS}, counts=measured) as fake:
        ran = compare(fake, *STATIC)
    assert places(ran, "busy-server") == [(1, 3)]
    assert ran.layout("static-first")["verdict"] == "reused"


def test_answers_that_were_cut_are_told(inputs: Path) -> None:
    with FakeOllama() as fake:
        cut = compare(fake, *STATIC)
        whole = compare(fake, *STATIC, "--num-predict", "50")
    assert places(cut, "answer-cut") == [(1, question) for question in (1, 2, 3, 4)]
    assert "answer-cut" not in whole.caveats()


# ---------------------------------------------------------------- repeats


def test_repeats_are_shuffled_and_the_order_is_kept(inputs: Path) -> None:
    orders: dict[str, Any] = {}
    for seed in ("7", "7", "8"):
        with FakeOllama() as fake:
            ran = compare(fake, "--repeats", "4", "--seed", seed, "--out", "run.json")
        samples = kept(ran, inputs)
        order = ran.json["options"]["order"]
        blocks = [(s["layout"], s["repeat"]) for s in samples if s["phase"] == "load"]
        assert blocks == [(name, repeat) for repeat, names in enumerate(order, 1) for name in names]
        assert orders.setdefault(seed, order) == order
    assert orders["7"] != orders["8"]
    layout = ran.layout("static-first")
    for figure in ("first_prefill", "follow_up_prefill", "follow_up_total"):
        low, high = layout[f"{figure}_spread_ns"]
        assert low <= layout[f"{figure}_ns"] <= high


# ---------------------------------------------------------------- answers asked again


def words(reused: int) -> list[str]:
    """Other words where much was reused, as rounding may make them."""
    return ["It", "opened", "in", "1907" if reused > 100 else "1970", "."]


@pytest.mark.parametrize("cold", ["unload", "nonce"])
def test_answers_that_reuse_changes_are_found(cold: str, inputs: Path) -> None:
    with FakeOllama(answer=words) as fake:
        ran = compare(fake, *BOTH, "--check-answers", "--cold", cold, "--out", "run.json")
    assert ran.code == 0, ran.err
    static, question = ran.json["answers_checked"]
    assert (static["layout"], static["repeat"], static["question"]) == ("static-first", 1, 4)
    assert static["reused_tokens"] > 1000
    assert static["difference"] == {"character": len("It opened in 19"), "token": 3}
    assert (static["answer"], static["cold_answer"]) == ("It opened in 1907", "It opened in 1970")
    assert (question["layout"], question["difference"], question["failure"]) == ("question-first", None, None)
    checks = [sample for sample in kept(ran, inputs) if sample["phase"] == "check"]
    assert [sample["check"]["difference"] for sample in checks] == [static["difference"], None]
    assert all(sample["reply"]["cached_tokens"] < 10 for sample in checks), "they were cold"
    assert all(len(layout["samples"]) == 4 for layout in ran.json["layouts"])
    assert "question 4 again, cold: another answer" in ran.err
    for format_ in ("table", "markdown", "html"):
        shown = cli("report", "run.json", "--format", format_)
        assert shown.code == 0, shown.err
        text = " ".join(shown.out.split())
        assert "nswers asked again cold" in text
        assert "from character 16 (token 4) on" in text.replace("\\", "")
        assert "is the same as the cold one" in text


def test_without_the_option_nothing_is_asked_again(inputs: Path) -> None:
    with FakeOllama() as fake:
        ran = compare(fake, *STATIC, "--out", "run.json")
    assert ran.json["answers_checked"] == []
    assert "nswers asked again" not in cli("report", "run.json", "--format", "table").out


def test_a_second_answer_that_breaks_off_is_told(inputs: Path) -> None:
    with FakeOllama(faults={5: Fault.NO_DONE}, counts=measured) as fake:
        ran = compare(fake, *STATIC, "--check-answers", "--out", "run.json")
    [check] = ran.json["answers_checked"]
    assert check["difference"] is None
    assert "ended before it was done" in check["failure"]
    assert ran.layout("static-first")["verdict"] == "reused"
    text = cli("report", "run.json", "--format", "table").out
    assert "so nothing was compared" in " ".join(text.split())


def test_a_block_is_not_whole_without_its_second_answer(inputs: Path) -> None:
    def leave(fake: FakeOllama, body: Json) -> None:
        if fake.chats == 4:
            fake.required_header = ("X-Gone", "1")

    arguments = (*STATIC, "--check-answers", "--out", "run.json")
    with FakeOllama(before=leave, counts=measured) as fake:
        assert compare(fake, *arguments).code == 4
        fake.required_header, fake.before = None, lambda fake, body: None
        assert compare(fake, *STATIC, "--out", "run.json", "--resume").code == 2, "another run"
        ran = compare(fake, *arguments, "--resume")
    assert ran.code == 0, ran.err
    assert len(ran.json["answers_checked"]) == 1


def test_the_dry_run_counts_what_is_asked_again(inputs: Path) -> None:
    with FakeOllama() as fake:
        ran = compare(fake, *BOTH, "--check-answers", "--repeats", "2", "--dry-run")
    text = " ".join(ran.out.split())
    assert "16 questions would go to tiny:latest" in text
    assert "2 more ask again cold" in text


# ---------------------------------------------------------------- what only calls itself Ollama


def test_a_server_that_counts_otherwise_than_its_version_says(inputs: Path) -> None:
    """It calls itself 0.30.0, which counts what it read, and counts whole prompts: taken at its word, nothing is reused."""
    with FakeOllama(version="0.30.0", counting="whole") as fake:
        ran = compare(fake, *BOTH)
    assert [layout["verdict"] for layout in ran.json["layouts"]] == ["reused", "not-reused"]
    assert ran.layout("static-first")["reused_fraction"]["method"] == "inferred"


def test_a_server_that_refuses_no_prompt_is_asked_to_once(inputs: Path) -> None:
    """What it does not refuse it reads: counting that way would read each prompt."""
    with FakeOllama(version="0.33.0", answers_unread=False) as fake:
        ran = compare(fake, *BOTH)
        unread = [b for b in bodies(fake, "/api/chat") if not measured(b) and len(str(b["messages"])) > 4000]
    assert ran.code == 0, ran.err
    assert len([body for body in unread if not body.get("_debug_render_only")]) <= 1
    assert ran.layout("static-first")["verdict"] == "reused"


@pytest.mark.parametrize("lacks", [["/api/ps"], ["/api/show"], ["/api/ps", "/api/show"]])
def test_a_server_without_some_calls_is_measured_all_the_same(lacks: list[str], inputs: Path) -> None:
    with FakeOllama(lacks=lacks) as fake:
        ran = compare(fake, *BOTH)
        unloads = [r for r in fake.requests if r.body.get("keep_alive") in (0, "0", "0s")]
    assert ran.code == 0, ran.err
    assert [layout["verdict"] for layout in ran.json["layouts"]] == ["reused", "not-reused"]
    # Whether a model is gone cannot be seen without the list: then a nonce makes it cold.
    assert ran.json["options"]["cold"] == ("nonce" if "/api/ps" in lacks else "unload")
    assert bool(unloads) is ("/api/ps" not in lacks)


def test_a_server_that_does_not_list_cannot_be_unloaded(inputs: Path) -> None:
    with FakeOllama(lacks=["/api/ps"]) as fake:
        ran = compare(fake, *STATIC, "--cold", "unload")
    assert ran.code == 4
    assert "--cold nonce" in ran.err


TIMES = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"]


def test_without_times_of_the_server_our_clock_stands_for_them(inputs: Path) -> None:
    with FakeOllama(version="0.33.0", leaves_out=TIMES, new_token_ns=100_000) as fake:
        ran = compare(fake, *BOTH)
    assert ran.code == 0, ran.err
    assert "by our clock" in ran.caveats()["duration-meaning"]["message"]
    for layout, wrong in (("static-first", "not-reused"), ("question-first", "reused")):
        assert ran.layout(layout)["verdict"] != wrong
        for sample in ran.layout(layout)["samples"]:
            assert sample["prefill_ns"] == sample["first_token_ns"] > 0
            assert sample["total_ns"] is None


def test_without_any_figures_it_cannot_be_told(inputs: Path) -> None:
    with FakeOllama(version="0.33.0", leaves_out=[*TIMES, "prompt_eval_count", "eval_count"]) as fake:
        ran = compare(fake, *BOTH, "--fail-under", "static-first=0.5")
    assert ran.code == 5
    assert [layout["verdict"] for layout in ran.json["layouts"]] == ["cannot-tell"] * 2


def test_a_count_that_is_always_nought_is_not_believed(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that fills a field which the server behind it does not have."""
    original = FakeOllama.counts_of

    def nought(self: FakeOllama, prefill: Any) -> Json:
        return {**original(self, prefill), "prompt_eval_cached_count": 0}

    monkeypatch.setattr(FakeOllama, "counts_of", nought)
    with FakeOllama(new_token_ns=200_000) as fake:
        ran = compare(fake, *STATIC)
    assert places(ran, "count-contradicts-time") == [(1, 2), (1, 3), (1, 4)]
    assert ran.layout("static-first")["verdict"] == "cannot-tell"


def test_times_in_another_unit_are_not_believed(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = fake_server._Handler._answer

    def in_ms(self: Any, lines: list[Json], fault: Fault | None, kind: str) -> None:
        changed = [{k: v // MS if k.endswith("_duration") else v for k, v in line.items()} for line in lines]
        original(self, changed, fault, kind)

    monkeypatch.setattr(fake_server._Handler, "_answer", in_ms)
    with FakeOllama(new_token_ns=100_000) as fake:
        ran = compare(fake, *STATIC)
    assert (1, 1) in places(ran, "durations-not-believable")


# ---------------------------------------------------------------- a line that others add


def test_a_line_that_changes_in_front_of_the_document_is_named(
    inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat template that writes the time, or a proxy: our prompts do not show it."""
    original = fake_server._rendered
    number = iter(range(10**6, 10**7))

    def with_time(messages: list[Json]) -> str:
        first = {**messages[0], "content": f"Answer well. It is {next(number)}.\n{messages[0]['content']}"}
        return original([first, *messages[1:]])

    def rendered(messages: list[Json]) -> str:
        return with_time(messages) if streamed[-1] else original(messages)

    streamed = [False]
    chat = fake_server._Handler._chat

    def watched(self: Any, fake: FakeOllama, body: Json) -> None:
        streamed.append(measured(body))
        chat(self, fake, body)

    monkeypatch.setattr(fake_server, "_rendered", rendered)
    monkeypatch.setattr(fake_server._Handler, "_chat", watched)
    with FakeOllama() as fake:
        ran = compare(fake, *STATIC)
    assert ran.layout("static-first")["verdict"] == "not-reused"
    # It changes the control calls just as much, so they say what such a set-up can.
    assert "nothing-reused" in ran.caveats()
    assert "proxy" in ran.caveats()["reuse-not-as-expected"]["message"]
