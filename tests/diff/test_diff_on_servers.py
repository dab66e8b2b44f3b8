"""What diff says is shared is what real servers reuse: sent one after the other, counted by the server itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sliding_window
import tiny_gguf as tiny
from servers import OllamaServer, ServersUnavailableError

import promptorder
from promptorder.difference.rendering import JOINED
from promptorder.engines import embedded
from promptorder.engines._gguf import read_vocabulary
from promptorder.engines.ollama import OllamaEngine
from promptorder.model.diff import Pair
from promptorder.model.engine import EngineOptions
from promptorder.tokenizers import of_vocabulary

GetServer = Callable[[str], OllamaServer]
RULES = "\n".join(f"Rule {n}: passengers of boat {n} arrive {n + 5} minutes early." for n in range(1, 13))
TURNS = [
    {"role": "user", "content": "May dogs come?"},
    {"role": "assistant", "content": "They may — on a lead."},
]


def request(*turns: dict[str, Any], system: str = RULES) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": system}, *(turns or TURNS[:1])]}


PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "clock": (request(system=f"Now: 09:26:53\n{RULES}"), request(system=f"Now: 10:02:11\n{RULES}")),
    "question": (request(), request({"role": "user", "content": "Is there wifi on the café deck? 日本"})),
    "grows": (request(), request(*TURNS, {"role": "user", "content": "And cats?"})),
    "same": (request(), request()),
    "within a word": (
        request({"role": "user", "content": "ferryman"}),
        request({"role": "user", "content": "ferryboat"}),
    ),
    "system": (request(system=f"Be kind.\n{RULES}"), request(system=f"Be brief.\n{RULES}")),
}


def compared(folder: Path, a: dict[str, Any], b: dict[str, Any], **settings: Any) -> Pair:
    for name, body in (("a.json", a), ("b.json", b)):
        (folder / name).write_text(json.dumps(body))
    [pair] = promptorder.diff(folder / "a.json", folder / "b.json", **settings).pairs
    return pair


def asked(server: OllamaServer, model: str, body: dict[str, Any]) -> dict[str, Any]:
    options = {"num_ctx": 2048, "num_predict": 1, "temperature": 0}
    call = {**body, "model": model, "stream": False, "options": options, "keep_alive": "5m"}
    reply: dict[str, Any] = server.post("/api/chat", call)[-1]
    return reply


@pytest.mark.server
@pytest.mark.parametrize("model", ["tiny", "smollm2"])
@pytest.mark.parametrize("name", PAIRS)
def test_the_server_reuses_what_is_shared(
    name: str, model: str, ollama_server: GetServer, tmp_path: Path
) -> None:
    server = ollama_server("0.33.3")
    a, b = PAIRS[name]
    pair = compared(tmp_path, a, b, model=model, host=server.url)
    assert pair.method == "counted"
    assert pair.rendering == f"by Ollama 0.33.3 for {model}:latest"
    server.unload_all()
    first, second = asked(server, model, a), asked(server, model, b)
    assert (pair.a_tokens, pair.b_tokens) == (first["prompt_eval_count"], second["prompt_eval_count"])
    # One token is always read: the model needs its scores to answer.
    assert second["prompt_eval_cached_count"] == min(pair.shared_tokens, pair.b_tokens - 1)


@pytest.mark.server
def test_a_suggestion_is_what_the_server_would_reuse(ollama_server: GetServer, tmp_path: Path) -> None:
    server = ollama_server("0.33.3")
    pair = compared(tmp_path, *PAIRS["clock"], model="smollm2", host=server.url)
    assert pair.suggestion is not None
    end = "{}\n\nNow: {}"
    moved = [
        request({"role": "user", "content": end.format("May dogs come?", clock)})
        for clock in ("09:26:53", "10:02:11")
    ]
    server.unload_all()
    asked(server, "smollm2", moved[0])
    assert asked(server, "smollm2", moved[1])["prompt_eval_cached_count"] == pair.suggestion.shared_tokens


@pytest.mark.server
def test_the_ids_are_those_of_the_servers_own_context(ollama_server: GetServer, smollm2_gguf: Path) -> None:
    server = ollama_server("0.33.3")
    body = {"model": "smollm2", "prompt": "May dogs come? — café, 日本", "system": RULES, "stream": False}
    reply = server.post("/api/generate", {**body, "options": {"num_predict": 1, "num_ctx": 2048}})[-1]
    rendered = server.post("/api/generate", {**body, "_debug_render_only": True})[-1]["_debug_info"][
        "rendered_template"
    ]
    ids = of_vocabulary(read_vocabulary(smollm2_gguf), "smollm2").encode(rendered)
    assert reply["context"][: len(ids)] == ids
    assert len(ids) == reply["prompt_eval_count"]


@pytest.mark.server
@pytest.mark.parametrize("version", ["0.33.3", "0.6.5"])
def test_the_server_tells_the_vocabulary_of_the_file(
    version: str, ollama_server: GetServer, tiny_gguf: Path
) -> None:
    server = ollama_server(version)
    engine = OllamaEngine(EngineOptions(model="tiny", host=server.url))
    try:
        told = engine.vocabulary()
    finally:
        engine.close()
    own = read_vocabulary(tiny_gguf)
    assert (list(told.tokens), list(told.merges), told.pre) == (list(own.tokens), list(own.merges), own.pre)
    assert of_vocabulary(told, "x").encode(RULES) == of_vocabulary(own, "x").encode(RULES)


GEMMA = "{{ range .Messages }}<start_of_turn>{{ .Role }}\n{{ .Content }}<end_of_turn>\n{{ end }}<start_of_turn>model\n"


@pytest.mark.server
def test_a_model_of_the_other_kind_with_bos(ollama_server: GetServer, tmp_path: Path) -> None:
    server = ollama_server("0.33.3")
    try:
        server.create_model("gemma3-270m", sliding_window.ensure_gemma3(), GEMMA)
    except ServersUnavailableError as error:
        pytest.skip(str(error))
    a, b = (
        {"messages": [{"role": "user", "content": f"When is ferry 3? — {word}\n\n  now"}]}
        for word in ("café", "cafe")
    )
    pair = compared(tmp_path, a, b, model="gemma3-270m", host=server.url)
    assert pair.method == "counted"
    replies = asked(server, "gemma3-270m", a), asked(server, "gemma3-270m", b)
    assert [reply["prompt_eval_count"] for reply in replies] == [pair.a_tokens, pair.b_tokens]


@pytest.mark.server
def test_an_older_server_does_not_render(ollama_server: GetServer, tmp_path: Path) -> None:
    server = ollama_server("0.6.5")
    pair = compared(tmp_path, *PAIRS["clock"], model="tiny", host=server.url)
    assert pair.rendering == JOINED
    assert pair.method == "estimated"
    assert pair.tokenizer == "tiny:latest"
    assert pair.suggestion is not None


@pytest.mark.server
def test_tools_that_a_model_does_not_know_are_left_out(ollama_server: GetServer, tmp_path: Path) -> None:
    server = ollama_server("0.33.3")
    tools = [
        {
            "type": "function",
            "function": {"name": "find", "description": "d", "parameters": {"type": "object"}},
        }
    ]
    a, b = ({**body, "tools": tools} for body in PAIRS["question"])
    pair = compared(tmp_path, a, b, model="tiny", host=server.url)
    assert pair.rendering == "by Ollama 0.33.3 for tiny:latest, without tools: the model takes none"


TOOLS_BEHIND = (
    "{{ if .System }}<|system|>{{ .System }}\n{{ end }}{{ range .Tools }}{{ . }}\n{{ end }}"
    '{{ range .Messages }}{{ if ne .Role "system" }}<|{{ .Role }}|>{{ .Content }}\n{{ end }}{{ end }}<|assistant|>'
)


@pytest.mark.server
def test_tools_stand_where_the_template_has_them(
    ollama_server: GetServer, tmp_path: Path, tiny_gguf: Path
) -> None:
    server = ollama_server("0.33.3")
    server.create_model("tiny-tools", tiny_gguf, TOOLS_BEHIND, tiny.PARAMETERS)
    function = {
        "name": "find_ferry",
        "description": "Looks up a ferry",
        "parameters": {"type": "object", "properties": {}},
    }
    a, b = ({**body, "tools": [{"type": "function", "function": function}]} for body in PAIRS["clock"])
    pair = compared(tmp_path, a, b, model="tiny-tools", host=server.url)
    assert pair.rendering == "by Ollama 0.33.3 for tiny-tools:latest"
    assert [block.what for block in pair.lost] == [
        "lines 2 to 13 of message 1 (system text)",
        "tool 1",
        "message 2 (user)",
    ]
    first = compared(tmp_path, a, b)
    assert [block.what for block in first.lost] == [
        "lines 2 to 13 of message 1 (system text)",
        "message 2 (user)",
    ]
    server.unload_all()
    asked(server, "tiny-tools", a)
    assert asked(server, "tiny-tools", b)["prompt_eval_cached_count"] == pair.shared_tokens


@pytest.mark.server
def test_the_model_is_left_as_it_was_found(ollama_server: GetServer, tmp_path: Path) -> None:
    server = ollama_server("0.33.3")
    server.unload_all()
    compared(tmp_path, *PAIRS["question"], model="tiny", host=server.url)
    assert server.loaded() == []


@pytest.mark.embedded
def test_the_embedded_engine_renders_and_counts(tmp_path: Path, smollm2_gguf: Path) -> None:
    options = EngineOptions(model=str(smollm2_gguf))
    reason = embedded.available(options)
    if reason is not None:
        pytest.skip(reason)
    pair = compared(tmp_path, *PAIRS["question"], model=str(smollm2_gguf))
    assert pair.rendering.startswith("by llama.cpp with the template of ")
    assert pair.method == "counted"
    engine = embedded.open_engine(options)
    assert isinstance(engine, embedded.EmbeddedEngine)
    try:
        texts = [engine.rendered(body) for body in PAIRS["question"]]
        ids, others = map(engine.tokenize, texts)
    finally:
        engine.close()
    shared = next(n for n, (x, y) in enumerate(zip(ids, others, strict=False)) if x != y)
    assert (pair.shared_tokens, pair.a_tokens, pair.b_tokens) == (shared, len(ids), len(others))
