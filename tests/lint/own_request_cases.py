"""Cases of requests and logs."""

from __future__ import annotations

from typing import Any

from own_cases import FORGE, GARDEN, OwnCase, as_json, log, said

ASKED = "ask: which finish do you want for the two hinges?"
THOUGHT = "The customer wants two hinges. The finish is missing, so I assume oil black, but ask first."
TURNS = [
    text
    for n in range(8)
    for text in (
        f"question {n} about hinges and latches",
        f"answer {n} about hinges and latches, rather long",
    )
]
IDS = ("3b241101-e2bb-4255-8caf-4136c566a962", "7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f")


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": f"Does {name}.", "parameters": properties},
    }


def called(number: str, arguments: str) -> list[dict[str, Any]]:
    """A call of a tool, its result, and the next question."""
    call = {"id": number, "type": "function", "function": {"name": "find", "arguments": arguments}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": number, "content": "two hinges, 140 mm, oil black, shelf nine"},
        {"role": "user", "content": "and?"},
    ]


CASES = [
    OwnCase(
        "a clock in a system message",
        "r.json",
        as_json(said("Current time 08:41:09\n" + GARDEN, "Is it open?"), "08:41:09"),
    ),
    OwnCase(
        "a clock in the question",
        "r.json",
        as_json(
            said(GARDEN, "It is 2031-06-03 08:41:09. Is it open?", stream=False, options={"seed": 1938481669})
        ),
    ),
    OwnCase("an id", "r.json", as_json(said(f"Session {IDS[0]}\n" + FORGE, "Hi"), IDS[0])),
    OwnCase(
        "ids outside",
        "r.json",
        as_json(said(FORGE, "Hi", user=IDS[0], metadata={"at": "2031-06-03T08:41:09Z"})),
    ),
    OwnCase(
        "instructions",
        "r.json",
        as_json(
            {"model": "gpt-5", "instructions": "2031-06-03T08:41:09Z\n" + FORGE, "input": "Two hinges"},
            "instructions",
        ),
    ),
    OwnCase(
        "a clock at the end of the system text, behind which the chat stands",
        "r.json",
        as_json(
            said(FORGE + "\nCurrent time: 2031-06-03 08:41:09", "Two hinges", ASKED, "oil black"), "08:41:09"
        ),
    ),
    OwnCase(
        "a late system message",
        "r.json",
        as_json(said(FORGE, "Hi", ASKED, {"role": "system", "content": "38211 tokens left"}, "Go"), "38211"),
    ),
    OwnCase(
        "a question above the rules",
        "r.json",
        as_json(
            {
                "model": "gpt-4.1",
                "messages": [{"role": "user", "content": f"Question: how heavy?\n\n{FORGE}\n{GARDEN}"}],
            },
            "how heavy",
        ),
    ),
    OwnCase(
        "a file that is no request",
        "package.json",
        as_json({"name": "forge", "time": "2031-06-03T08:41:09Z", "description": FORGE}),
    ),
    OwnCase(
        "a clock in a log",
        "l.jsonl",
        log(*[said(f"Time: 08:4{n}:09\n" + FORGE, "Two hinges") for n in range(3)], lost=2),
    ),
    OwnCase(
        "a log that grows",
        "l.jsonl",
        log(
            said(FORGE, "Hi"),
            said(FORGE, "Hi", ASKED, "oil"),
            said(FORGE, "Hi", ASKED, "oil", "accept", "thanks"),
        ),
    ),
    OwnCase(
        "a scratch folder for each session",
        "l.jsonl",
        log(*[said(f"Folder /tmp/kiln/{each}/pad\n" + FORGE, "Hi") for each in IDS], lost=2, sessions="ab"),
    ),
    OwnCase(
        "sessions that share all but the question",
        "l.jsonl",
        log(*[said(FORGE, f"{n} hinges") for n in range(3)], sessions="abc"),
    ),
    OwnCase(
        "tools in another order",
        "l.jsonl",
        log(
            said(FORGE, "Hi", tools=[tool("a"), tool("b")]),
            said(FORGE, "Hi", ASKED, "go", tools=[tool("b"), tool("a")]),
            lost=2,
        ),
    ),
    OwnCase(
        "keys in another order",
        "l.jsonl",
        log(
            said(FORGE, "find", *called("c1", '{"a": 1, "b": "x"}')),
            said(
                FORGE,
                "find",
                *called("c1", '{"b": "x", "a": 1}'),
                {"role": "assistant", "content": ASKED},
                {"role": "user", "content": "oil"},
            ),
            lost=2,
        ),
    ),
    OwnCase(
        "ids of calls made anew",
        "l.jsonl",
        log(
            said(FORGE, "find", *called("call_91f0", "{}")),
            said(
                FORGE,
                "find",
                *called("call_bb27", "{}"),
                {"role": "assistant", "content": ASKED},
                {"role": "user", "content": "oil"},
            ),
            lost=2,
        ),
    ),
    OwnCase(
        "reasoning that is dropped",
        "l.jsonl",
        log(
            said(
                FORGE,
                "Hi",
                {"role": "assistant", "content": ASKED, "thinking": THOUGHT},
                {"role": "user", "content": "oil"},
            ),
            said(FORGE, "Hi", ASKED, "oil", "accept", "thanks"),
            lost=2,
        ),
    ),
    OwnCase(
        "the oldest turns dropped",
        "l.jsonl",
        log(
            said(FORGE, *TURNS[:8], "a"),
            said(FORGE, *TURNS[2:10], "b"),
            said(FORGE, *TURNS[4:12], "c"),
            lost=2,
        ),
    ),
    OwnCase(
        "a space in front of an answer",
        "l.jsonl",
        log(said(FORGE, "Hi", ASKED, "oil"), said(FORGE, "Hi", " " + ASKED, "oil", "accept", "ok"), lost=2),
    ),
    OwnCase(
        "another context size",
        "l.jsonl",
        log(
            said(FORGE, "Hi", options={"num_ctx": 8192}),
            said(FORGE, "Hi", ASKED, "go", options={"num_ctx": 9216}),
            lost=2,
        ),
    ),
    OwnCase(
        "another temperature",
        "l.jsonl",
        log(
            said(FORGE, "Hi", options={"temperature": 0}),
            said(FORGE, "Hi", ASKED, "go", options={"temperature": 1}),
        ),
    ),
    OwnCase(
        "a long pause", "l.jsonl", log(said(FORGE, "Hi"), said(FORGE, "Hi", ASKED, "go"), lost=2, minutes=21)
    ),
    OwnCase(
        "a long pause that was asked for",
        "l.jsonl",
        log(*[said(FORGE, *turns, keep_alive="1h") for turns in (["Hi"], ["Hi", ASKED, "go"])], minutes=21),
    ),
    OwnCase(
        "another schema, which Ollama makes a grammar of",
        "l.jsonl",
        log(
            said(FORGE, "Hi", format={"type": "object"}),
            said(FORGE, "Hi", ASKED, "go", format={"type": "array"}),
        ),
    ),
]
