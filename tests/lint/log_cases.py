"""Logs in our own words: requests as programs send them, what is wrong with them, and on which line it shows."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

RULES = (
    "You answer for the lending desk of a boat museum.\n"
    "Models may be touched only with gloves; say so before anything else.\n"
    "Tours start at the slipway and take three quarters of an hour.\n"
    "Children under six ride the harbour launch for nothing.\n"
    "The rope workshop is closed while the tide is out.\n"
    "Never promise a seat in the launch; the crew decides.\n"
    "Lost gloves are kept in the blue chest for two weeks.\n"
    "Answer in at most five sentences and name the hall."
)
LONG = "\n".join(f"{number}. {RULES}" for number in range(12))
ANSWER = "The tour begins at the slipway beside hall two, and gloves are handed out at the door of the rope workshop."
LONG_ANSWER = " ".join([ANSWER] * 4)


class Case(NamedTuple):
    """A log, and the findings of warning or error that it must have: (line, rule)."""

    name: str
    lines: list[Any]
    wanted: list[tuple[int, str]]


def chat(system: str, *turns: str, model: str = "qwen3:8b", **more: Any) -> dict[str, Any]:
    """A request with a system text and turns, the user's first."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]
    return {"model": model, **more, "messages": [{"role": "system", "content": system}, *messages]}


def session(*requests: dict[str, Any], name: str = "s1", step: int = 40, start: int = 0) -> list[dict[str, Any]]:
    """The requests in envelopes, ``step`` seconds apart."""
    return [
        {"ts": f"2026-05-02T10:{(start + n * step) // 60:02d}:{(start + n * step) % 60:02d}Z", "session": name, "request": request}
        for n, request in enumerate(requests)
    ]


def bare(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    return list(requests)


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {"q": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "description": description or f"Does {name}", "parameters": schema}}


def raw(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "llama3.2:3b", "prompt": text, "stream": False, **more}


def claude(system: list[Any] | str, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 300, "system": system, "messages": list(messages), **more}


def block(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def text(case: Case) -> str:
    """The log as a file."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in case.lines)


TOOLS = [tool("find_model"), tool("open_chest"), tool("ring_bell")]
HEAD = "prompt-head-changed"
MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
CALL = {"type": "function", "function": {"name": "find_model", "arguments": '{"name": "dory", "hall": 2}'}}
CALL_AGAIN = {"type": "function", "function": {"name": "find_model", "arguments": '{"hall": 2, "name": "dory"}'}}
SHOTS = ["Q: Are there toilets?\nA: In hall one.", "Q: May I film?\nA: Yes, without a lamp.", "Q: Is there tea?\nA: By the pier."]
NOTES = ["The dory was built in 1911 and has four oars.", "The launch carries nine people.", "Hall three smells of tar."]

CASES = [
    # The head of the prompt changes
    Case("a clock at the head, a chat that grows", session(
        chat(f"It is 10:00:01. {RULES}", "Hi"), chat(f"It is 10:00:44. {RULES}", "Hi", "Hello.", "Gloves?"),
        chat(f"It is 10:01:20. {RULES}", "Hi", "Hello.", "Gloves?", "At the door.", "Tea?")), [(2, HEAD)]),
    Case("a clock at the end of the system text, before the history", session(
        chat(f"{RULES}\nNow: 10:00:01", "Hi", ANSWER, "Tea?"), chat(f"{RULES}\nNow: 10:00:44", "Hi", ANSWER, "Tea?", "No.", "Why?")),
        [(2, HEAD)]),
    Case("a clock at the end of the system text, other questions", bare(
        *(chat(f"{RULES}\nNow: 10:0{n}:01", f"Question number {n} about boats?", model="gpt-4o") for n in range(4))), []),
    Case("a clock in the newest message only", session(
        chat(RULES, "[10:00:01] Hi"), chat(RULES, "[10:00:01] Hi", "Hello.", "[10:00:44] Gloves?")), []),
    Case("an epoch", bare(*(raw(f"ts={1764400000 + n}\n{RULES}\nTicket: boat {n}") for n in range(3))), [(2, HEAD)]),
    Case("the day changes", session(
        chat(f"Today is 2 May 2026. {RULES}", "Hi", ANSWER, "Tea?"), chat(f"Today is 3 May 2026. {RULES}", "Hi", ANSWER, "Tea?", "No.", "Why?")),
        [(2, HEAD)]),
    Case("a 12-hour clock", bare(*(chat(f"Time: 9:1{n} AM\n{RULES}", f"Where is boat {n}?") for n in range(3))), [(2, HEAD)]),
    Case("Japanese time", bare(*(chat(f"現在 10時1{n}分。{RULES}", f"Where is boat {n}?") for n in range(3))), [(2, HEAD)]),
    Case("a nonce in a block of its own", session(
        claude([block("x-usage: n=91ab2c"), block(LONG, **MARK)], said("user", "Hi")),
        claude([block("x-usage: n=77fe01"), block(LONG, **MARK)], said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?"))),
        [(2, HEAD)]),
    Case("a scratch folder with an id", bare(*(
        chat(f"Scratch: /tmp/work-{ident}/pad\n{RULES}", "List the boats.", model="local-model")
        for ident in ("3f2a9c1e", "b81d4470", "09ce55d1"))), [(2, HEAD)]),
    Case("git state", session(
        chat(f"branch: fix/oars, 2 files dirty\n{RULES}", "Run", "Done.", "Again"),
        chat(f"branch: fix/oars, 3 files dirty\n{RULES}", "Run", "Done.", "Again", "Done.", "More")), [(2, HEAD)]),
    Case("a counter", session(
        chat(f"48,100 tokens left.\n{RULES}", "Run"), chat(f"47,022 tokens left.\n{RULES}", "Run", "Done.", "Again")), [(2, HEAD)]),
    Case("notes per question before the rules", bare(*(
        chat(f"Notes: {note}\n{RULES}", f"Question {n}?", model="gpt-4o") for n, note in enumerate(NOTES))), [(2, HEAD)]),
    Case("notes before the history of a session", session(
        chat(f"{RULES}\nKnown: {NOTES[0]}", "Hi"), chat(f"{RULES}\nKnown: {NOTES[1]}", "Hi", "Hello.", "Tea?")), [(2, HEAD)]),
    Case("notes in the newest message", session(
        chat(RULES, f"{NOTES[0]}\n\nHi"), chat(RULES, f"{NOTES[0]}\n\nHi", "Hello.", f"{NOTES[1]}\n\nTea?")), []),
    Case("the question first, then the handbook", bare(*(
        raw(f"Question: {q}\n\nAnswer from this handbook:\n{LONG}") for q in ("Where is the dory?", "May I film?", "Is there tea?"))),
        [(2, HEAD)]),
    Case("the question first in a chat message", session(
        {"model": "gpt-5-mini", "messages": [said("user", f"Question: Where is the dory?\n\n{LONG}")]},
        {"model": "gpt-5-mini", "messages": [said("user", f"Question: May I film?\n\n{LONG}")]}), [(2, HEAD)]),
    Case("the handbook first", bare(*(raw(f"{LONG}\n\nQuestion: {q}") for q in ("Where is the dory?", "May I film?", "Is there tea?"))), []),
    Case("one new version of the rules", bare(
        *(chat(RULES, f"Is boat {n} open?", model="gpt-4o") for n in range(5)),
        *(chat(RULES.replace("five sentences", "four sentences").replace("boat museum", "ship museum"), f"Is boat {n} shut?", model="gpt-4o")
          for n in range(5))), []),
    Case("several agents with the same rules behind their names", bare(*(
        chat(f"You are the {who} agent.\n{RULES}", f"Task {n} for you?", model="gpt-4o")
        for n in range(4) for who in ("billing", "tour", "rope"))), []),
    Case("two programs side by side", bare(*(
        request for n in range(4) for request in (
            chat(RULES, f"Where is boat {n}?", model="gpt-4o"),
            chat("Translate into Danish and keep names. " * 8, f"Sentence {n} of the leaflet.", model="gpt-4o")))), []),
    Case("responses interface with instructions", session(
        {"model": "gpt-5-mini", "instructions": f"Now 10:00:01\n{RULES}", "input": [said("user", "Hi")]},
        {"model": "gpt-5-mini", "instructions": f"Now 10:00:44\n{RULES}",
         "input": [said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?")]}), [(2, HEAD)]),
    Case("an injected memory message before the history", session(
        chat(RULES, "Hi", ANSWER, "Tea?"),
        {"model": "qwen3:8b", "messages": [said("system", RULES), said("system", "Memory: likes boats."), said("user", "Hi"),
                                           said("assistant", ANSWER), said("user", "Tea?"), said("assistant", "No."), said("user", "Why?")]}),
        [(2, HEAD)]),
    # Tools
    Case("tools in another order", session(
        chat(RULES, "Hi", tools=TOOLS), chat(RULES, "Hi", "Hello.", "Tea?", tools=[TOOLS[2], TOOLS[0], TOOLS[1]])), [(2, "tool-order")]),
    Case("the tools move around each time", bare(*(
        chat(RULES, f"Where is boat {n}?", tools=order, model="gpt-4o")
        for n, order in enumerate((TOOLS, TOOLS[::-1], [TOOLS[1], TOOLS[0], TOOLS[2]])))), [(2, "tool-order")]),
    Case("a tool more in the middle of a chat", session(
        chat(RULES, "Hi", ANSWER, "Tea?", tools=TOOLS), chat(RULES, "Hi", ANSWER, "Tea?", "No.", "Why?", tools=[*TOOLS, tool("row")])),
        [(2, "tool-changed")]),
    Case("a clock in a tool's description", session(
        chat(RULES, "Hi", tools=[tool("row", "Rows. Time 10:00:01.")]),
        chat(RULES, "Hi", "Hello.", "Tea?", tools=[tool("row", "Rows. Time 10:00:44.")])), [(2, "tool-changed")]),
    Case("keys of a tool's schema in another order", session(
        chat(RULES, "Hi", tools=[tool("row", a={"type": "string"}, b={"type": "integer"})]),
        chat(RULES, "Hi", "Hello.", "Tea?", tools=[tool("row", b={"type": "integer"}, a={"type": "string"})])), [(2, "json-order")]),
    Case("a marked tool is the same tool", session(
        claude(LONG, said("user", "Hi"), tools=[{"name": "row", "input_schema": {}}]),
        claude(LONG, said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?"), tools=[{"name": "row", "input_schema": {}, **MARK}])),
        []),
    Case("another schema for the answer", session(
        chat(RULES, "Hi", ANSWER, "Tea?", format={"type": "object", "properties": {"a": {}}}),
        chat(RULES, "Hi", ANSWER, "Tea?", "No.", "Why?", format={"type": "object", "properties": {"b": {}}})), [(2, "tool-changed")]),
    # Form
    Case("facts as JSON in another order", bare(*(
        chat(f"Facts: {facts}\n{RULES}", f"Where is boat {n}?") for n, facts in enumerate(
            ('{"oars": 4, "hall": 2}', '{"hall": 2, "oars": 4}', '{"oars": 4, "hall": 2}')))), [(2, "json-order")]),
    Case("Windows line ends", session(
        chat(RULES, "Hi"), chat(RULES.replace("\n", "\r\n"), "Hi", "Hello.", "Tea?")), [(2, "whitespace-drift")]),
    Case("trailing space in the history", session(
        chat(RULES, "Hi", LONG_ANSWER, "Tea?"), chat(RULES, "Hi", LONG_ANSWER + " ", "Tea?", "No.", "Why?")), [(2, "whitespace-drift")]),
    Case("composed and decomposed letters", session(
        chat(f"Café am Kai. {RULES}", "Hi"), chat(f"Cafe\u0301 am Kai. {RULES}", "Hi", "Hello.", "Tea?")), [(2, "encoding-drift")]),
    Case("HTML escapes", session(
        chat(f"Boats & ropes. {RULES}", "Hi"), chat(f"Boats &amp; ropes. {RULES}", "Hi", "Hello.", "Tea?")), [(2, "encoding-drift")]),
    Case("typographic quotes in the history", session(
        chat(RULES, "What's \"dory\"?", ANSWER, "Tea?"), chat(RULES, "What’s “dory”?", ANSWER, "Tea?", "No.", "Why?")), [(2, "encoding-drift")]),
    Case("the same file with escapes in the JSON only", session(
        chat(f"Café. {RULES}", "Hi"), chat(f"Café. {RULES}", "Hi", "Hello.", "Tea?")), []),
    Case("memory by score", session(
        chat(f"{RULES}\nKnown:\n- rows\n- has a dog\n- sings", "Hi"), chat(f"{RULES}\nKnown:\n- sings\n- rows\n- has a dog", "Hi", "Hello.", "Tea?")),
        [(2, "lines-reordered")]),
    Case("examples shuffled", bare(*(
        chat("\n".join(shots) + "\n" + RULES, f"Where is boat {n}?") for n, shots in enumerate((SHOTS, SHOTS[::-1], [SHOTS[1], *SHOTS[::2]])))),
        [(2, "fewshot-order")]),
    Case("examples as messages, shuffled", bare(
        chat(RULES, "Boat?", "dory", "Ship?", "brig", "Raft?", "log", "Punt?"), chat(RULES, "Raft?", "log", "Boat?", "dory", "Ship?", "brig", "Skiff?")),
        [(2, "fewshot-order")]),
    # The history
    Case("a window that slides", session(
        chat(RULES, "Hi", ANSWER, "Tea?", "No.", "Why?"), chat(RULES, "Tea?", "No.", "Why?", "The urn broke.", "When?")), [(2, "history-dropped")]),
    Case("one big cut", session(
        chat(RULES, *(f"{ANSWER} {n}" for n in range(15))), chat(RULES, *(f"{ANSWER} {n}" for n in range(12, 17)))), []),
    Case("a result of a tool that was cut", session(
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Find"), said("assistant", "", tool_calls=[CALL]),
         said("tool", "Dory. " * 80), said("assistant", LONG_ANSWER), said("user", "Tea?")]},
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Find"), said("assistant", "", tool_calls=[CALL]),
         said("tool", "[cleared]"), said("assistant", LONG_ANSWER), said("user", "Tea?"), said("assistant", "No."), said("user", "Why?")]}),
        [(2, "history-rewritten")]),
    Case("arguments of a call in another order", session(
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Find"), said("assistant", "", tool_calls=[CALL]),
         said("tool", "Hall two.")]},
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Find"), said("assistant", "", tool_calls=[CALL_AGAIN]),
         said("tool", "Hall two."), said("assistant", "There."), said("user", "Why?")]}), [(2, "json-order")]),
    Case("ids of calls made anew", session(
        {"model": "m", "messages": [said("system", RULES), said("user", "Find"), said("assistant", "", tool_calls=[{**CALL, "id": "call_1a2b"}]),
         said("tool", "Hall two.", tool_call_id="call_1a2b"), said("assistant", "There."), said("user", "Tea?")]},
        {"model": "m", "messages": [said("system", RULES), said("user", "Find"), said("assistant", "", tool_calls=[{**CALL, "id": "call_9f8e"}]),
         said("tool", "Hall two.", tool_call_id="call_9f8e"), said("assistant", "There."), said("user", "Tea?"), said("assistant", "No."),
         said("user", "Why?")]}), [(2, "history-rewritten")]),
    Case("old messages stamped anew", session(
        chat(RULES, "[10:00] Hi", ANSWER, "[10:00] Tea?"), chat(RULES, "[10:01] Hi", ANSWER, "[10:01] Tea?", "No.", "[10:01] Why?")),
        [(2, "history-rewritten")]),
    Case("the document moves with the newest message", session(
        chat(RULES, f"{LONG}\n\nHi"), chat(RULES, "Hi", "Hello.", f"{LONG}\n\nTea?")), [(2, "history-rewritten")]),
    Case("a reminder that always comes last", session(
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Hi"), said("user", NOTES[0] * 6)]},
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?"),
                                             said("user", NOTES[0] * 6)]}), []),
    Case("a clock as the last message", session(
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Hi"), said("user", "It is 10:00.")]},
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?"),
                                             said("user", "It is 10:01.")]}), []),
    Case("lore that stands two turns from the end", session(
        {"model": "m", "messages": [said("system", RULES), said("user", "Hi"), said("assistant", "Hello."), said("system", LONG[:900]),
                                    said("user", "Tea?" * 60)]},
        {"model": "m", "messages": [said("system", RULES), said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?" * 60),
                                    said("assistant", "No."), said("system", LONG[:900]), said("user", "Why?")]}), [(2, "history-rewritten")]),
    Case("a person edits an earlier question", session(
        chat(RULES, "Boats of Norway?", "Hall two.", "Thanks"), chat(RULES, "Boats of Sweden?", "Hall two.", "Thanks")), []),
    Case("a person edits the last question", session(
        chat(RULES, "Hi", "Hello.", "Boats of Norway?"), chat(RULES, "Hi", "Hello.", "Boats of Sweden, please?")), []),
    Case("the last answer is made again", session(
        chat(RULES, "Hi", "Hello.", "Tea?"), chat(RULES, "Hi", "Good morning.", "Coffee?")), []),
    Case("the same request twice", session(chat(RULES, "Hi"), chat(RULES, "Hi")), []),
    Case("a title is asked for in between", session(
        chat(RULES, "Hi"), chat("Give a title of three words to the chat.", "Hi / Hello."), chat(RULES, "Hi", "Hello.", "Tea?")), []),
    Case("one summary", session(
        chat(RULES, *(f"{ANSWER} {n}" for n in range(9))),
        chat(RULES, "Summary: we spoke of gloves.", "Good.", *(f"{ANSWER} {n}" for n in range(6, 11)))), []),
    Case("thoughts in the text", session(
        chat(RULES, "Hi", "<think>greet</think>\nHello.", "Tea?"), chat(RULES, "Hi", "Hello.", "Tea?", "<think>urn</think>No.", "Why?")),
        [(2, "reasoning-stripped")]),
    Case("thoughts in the text, from the first turn on", session(
        chat(RULES, "Hi"), chat(RULES, "Hi", "<think>greet</think>Hello.", "Tea?"),
        chat(RULES, "Hi", "Hello.", "Tea?", "<think>urn</think>No.", "Why?"),
        chat(RULES, "Hi", "Hello.", "Tea?", "No.", "Why?", "<think>hm</think>So.", "Oh?")), [(3, "reasoning-stripped")]),
    Case("thoughts in a field", session(
        {"model": "deepseek-r1", "messages": [said("system", RULES), said("user", "Hi"),
                                              said("assistant", "Hello.", reasoning_content="greet"), said("user", "Tea?")]},
        {"model": "deepseek-r1", "messages": [said("system", RULES), said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?"),
                                              said("assistant", "No.", reasoning_content="urn"), said("user", "Why?")]}),
        [(2, "reasoning-stripped")]),
    Case("thinking blocks", session(
        claude(LONG, said("user", "Hi"), said("assistant", [{"type": "thinking", "thinking": "greet"}, block("Hello.")]), said("user", "Tea?")),
        claude(LONG, said("user", "Hi"), said("assistant", [block("Hello.")]), said("user", "Tea?"), said("assistant", "No."), said("user", "Why?"))),
        [(2, "reasoning-stripped")]),
    Case("thoughts kept", session(
        chat(RULES, "Hi", "<think>greet</think>Hello.", "Tea?"),
        chat(RULES, "Hi", "<think>greet</think>Hello.", "Tea?", "<think>urn</think>No.", "Why?")), []),
    Case("a picture as a data link, encoded anew", session(
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", [block("What?"), {"type": "image_url", "image_url": {
            "url": "data:image/png;base64,AAAA"}}])]},
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", [block("What?"), {"type": "image_url", "image_url": {
            "url": "data:image/png;base64,BBBB"}}]), said("assistant", "A boat."), said("user", "Sure?")]}), [(2, "image-reencoded")]),
    Case("another picture in another chat", bare(
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "What?", images=["AAAA"])]},
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "What?", images=["BBBB"])]}), []),
    # Around the prompt
    Case("num_ctx by the length of the prompt", session(
        chat(RULES, "Hi", options={"num_ctx": 8192}), chat(RULES, "Hi", "Hello.", "Tea?", options={"num_ctx": 9216})), [(2, "model-reloaded")]),
    Case("one client without num_ctx", bare(
        chat(RULES, "Hi", options={"num_ctx": 8192}), chat(RULES, "Boats?", options={"temperature": 0})), [(2, "model-reloaded")]),
    Case("sampling options", session(
        chat(RULES, "Hi", options={"num_ctx": 8192, "seed": 1}), chat(RULES, "Hi", "Hello.", "Tea?", options={"num_ctx": 8192, "seed": 2, "num_predict": 9})),
        []),
    Case("another model in the middle", session(
        chat(RULES, "Hi", ANSWER, "Tea?"), chat(RULES, "Hi", ANSWER, "Tea?", "No.", "Why?", model="llama3.2:3b")), [(2, "model-reloaded")]),
    Case("the same questions to several models", bare(*(
        chat(RULES, f"Where is boat {n}?", model=model) for n in range(3) for model in ("gpt-4o", "gpt-4.1", "gpt-5-mini"))), []),
    Case("keep_alive 0", session(
        chat(RULES, "Hi", keep_alive=0), chat(RULES, "Hi", "Hello.", "Tea?", keep_alive=0)), [(2, "model-reloaded")]),
    Case("a pause of nine minutes", session(chat(RULES, "Hi"), chat(RULES, "Hi", "Hello.", "Tea?"), step=540), [(2, "idle-gap")]),
    Case("a pause within keep_alive", session(
        chat(RULES, "Hi", keep_alive="30m"), chat(RULES, "Hi", "Hello.", "Tea?", keep_alive="30m"), step=540), []),
    Case("a pause with the model kept for ever", session(
        chat(RULES, "Hi", keep_alive=-1), chat(RULES, "Hi", "Hello.", "Tea?", keep_alive=-1), step=540), []),
    Case("a pause that another session bridged", [
        *session(chat(RULES, "Hi")), *session(chat(RULES, "Boats?"), name="s2", start=240),
        *session(chat(RULES, "Hi", "Hello.", "Tea?"), start=480)], []),
    Case("a pause of seven minutes with five-minute marks", session(
        claude([block(LONG, **MARK)], said("user", "Hi")), claude([block(LONG, **MARK)], said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?")),
        step=420), [(2, "idle-gap")]),
    Case("a pause of seven minutes with one-hour marks", session(
        claude([block(LONG, **HOUR)], said("user", "Hi")), claude([block(LONG, **HOUR)], said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?")),
        step=420), []),
    Case("a pause nobody knows the meaning of", session(
        chat(RULES, "Hi", model="local-model"), chat(RULES, "Hi", "Hello.", "Tea?", model="local-model"), step=540), []),
    Case("a new cache key each time", session(
        chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="a1"), chat(RULES, "Hi", "Hello.", "Tea?", model="gpt-5-mini", prompt_cache_key="b2")),
        [(2, "cache-key-changed")]),
    Case("one cache key for each chat", [
        *session(chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="a1"), chat(RULES, "Hi", "Hello.", "Tea?", model="gpt-5-mini", prompt_cache_key="a1")),
        *session(chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="b2"), name="s2")], []),
    Case("a salt per request", bare(
        chat(RULES, "Hi", model="m", cache_salt="a1"), chat(RULES, "Hi", ANSWER, "Tea?", model="m", cache_salt="b2")), [(2, "cache-key-changed")]),
    Case("a countdown as a late system message", session(
        chat(RULES, "Run"),
        {"model": "qwen3:8b", "messages": [said("system", RULES), said("user", "Run"), said("assistant", "Done."), said("system", "47,000 tokens left."),
                                           said("user", "Again")]}), [(2, "late-system")]),
    Case("a late developer message at OpenAI", session(
        chat(RULES, "Run", model="gpt-5-mini"),
        {"model": "gpt-5-mini", "messages": [said("system", RULES), said("user", "Run"), said("assistant", "Done."), said("developer", "Be brief."),
                                             said("user", "Again")]}), []),
    # Who belongs to whom
    Case("two chats in turn, both clean", bare(
        chat(RULES, "Hi", model="gpt-4o"), chat(RULES, "Boats?", model="gpt-4o"), chat(RULES, "Hi", ANSWER, "Tea?", model="gpt-4o"),
        chat(RULES, "Boats?", LONG_ANSWER, "Ropes?", model="gpt-4o")), []),
    Case("two chats in turn, both with a clock", [
        line for n in range(3) for line in (
            *session(chat(f"Now 10:0{n}:01\n{RULES}", *["Hi", "Hello."] * n, "Tea?"), start=n * 60),
            *session(chat(f"Now 10:0{n}:31\n{RULES}", *["Ahoy", "Hello."] * n, "Rum?"), name="s2", start=n * 60 + 30))],
        [(3, HEAD), (4, HEAD)]),
    Case("sessions of their own", [
        *session(chat(f"Session 91ab2c77. {RULES}", "Hi")), *session(chat(f"Session 0f0f1e2d. {RULES}", "Hi"), name="s2")], []),
    Case("a data set", [{"messages": [said("system", f"Now 10:0{n}. {RULES}"), said("user", "Hi"), said("assistant", "Hello.")]} for n in range(4)], []),
    Case("a data set of prompts", [{"prompt": f"Now 10:0{n}. {RULES}", "completion": "Hello."} for n in range(4)], []),
    Case("a batch file", [
        {"custom_id": f"r{n}", "method": "POST", "url": "/v1/chat/completions", "body": chat(f"Now 10:00:0{n}. {RULES}", f"Boat {n}?", model="gpt-4o")}
        for n in range(3)], [(2, HEAD)]),
]  # fmt: skip
