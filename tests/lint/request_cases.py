"""Single requests with something that changes, and requests that only look so."""

from __future__ import annotations

from typing import Any, NamedTuple

from request_building import ANSWER, LONG, RULES, block, chat, raw, said, tool


class RequestCase(NamedTuple):
    """A file, and the findings of warning or error that it must have: the rule, and words that stand on its line."""

    name: str
    value: Any
    wanted: list[tuple[str, str]]


CLOCK = "Now: 2026-03-14 09:26:53."
HANDBOOK = f"Use this handbook:\n{LONG}"
HAIKU = {"model": "claude-haiku-4-5"}
STATIC = {"name": "row", "description": "Rows.", "input_schema": {}}

CASES = [
    # What changes in front of what stays
    RequestCase("ollama chat, clock first", chat(f"{CLOCK}\n{RULES}", "Hi"), [("timestamp", "09:26:53")]),
    RequestCase("ollama chat, clock last", chat(f"{RULES}\n{CLOCK}", "Hi"), []),
    RequestCase(
        "clock last, but a history behind it",
        chat(f"{RULES}\n{CLOCK}", "Hi", ANSWER, "Tea?"),
        [("timestamp", "09:26:53")],
    ),
    RequestCase("clock in the newest message", chat(RULES, "Hi", ANSWER, f"{CLOCK}\nTea?"), []),
    RequestCase("clocks in earlier messages are history", chat(RULES, f"{CLOCK} {LONG}", ANSWER, "Tea?"), []),
    RequestCase("ollama generate", raw(f"{CLOCK}\n{RULES}\nTicket: oars"), [("timestamp", "09:26:53")]),
    RequestCase("ollama generate, system apart", raw("Ticket 20260314-0041: oars", system=RULES), []),
    RequestCase(
        "llama-server",
        {"prompt": f"{CLOCK}\n{RULES}", "n_predict": 64, "cache_prompt": True},
        [("timestamp", "09:26:53")],
    ),
    RequestCase(
        "responses",
        {"model": "gpt-5-mini", "instructions": f"{CLOCK}\n{RULES}", "input": "Hi"},
        [("timestamp", "09:26:53")],
    ),
    RequestCase(
        "responses with a list",
        {"model": "gpt-5-mini", "input": [said("developer", f"{CLOCK}\n{RULES}"), said("user", "Hi")]},
        [("timestamp", "09:26:53")],
    ),
    RequestCase(
        "content in blocks",
        {
            "model": "gpt-5-mini",
            "messages": [said("system", [block(CLOCK), block(RULES)]), said("user", "Hi")],
        },
        [("timestamp", "09:26:53")],
    ),
    RequestCase(
        "one turn with the handbook",
        {"model": "gpt-5-mini", "messages": [said("user", f"{CLOCK}\n{HANDBOOK}")]},
        [("timestamp", "09:26:53")],
    ),
    RequestCase(
        "the question before the handbook",
        {"model": "gpt-5-mini", "messages": [said("user", f"Question: may I film?\n\n{HANDBOOK}")]},
        [("question-first", "may I film")],
    ),
    RequestCase(
        "the question before the handbook, under a system text",
        chat("Be brief.", f"Question: may I film?\n\n{HANDBOOK}"),
        [("question-first", "may I film")],
    ),
    RequestCase(
        "the handbook before the question",
        {"model": "gpt-5-mini", "messages": [said("user", f"{HANDBOOK}\n\nQuestion: may I film?")]},
        [],
    ),
    RequestCase(
        "an id before the rules",
        chat(f"Request 7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f\n{RULES}", "Hi"),
        [("request-id", "7d0f2f7e")],
    ),
    RequestCase(
        "ids outside the prompt",
        chat(
            RULES,
            "Hi",
            model="gpt-5-mini",
            user="u-8841",
            seed=1764400000,
            metadata={"trace": "7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f", "at": "2026-03-14T09:26:53Z"},
        ),
        [],
    ),
    RequestCase(
        "ids of calls",
        {
            "model": "gpt-5-mini",
            "messages": [
                said("system", RULES),
                said("user", "Find"),
                said(
                    "assistant",
                    "",
                    tool_calls=[
                        {
                            "id": "call_9f8e7d6c5b4a",
                            "type": "function",
                            "function": {"name": "find_model", "arguments": "{}"},
                        }
                    ],
                ),
                said("tool", "Now: 09:26:53", tool_call_id="call_9f8e7d6c5b4a"),
                said("assistant", "There."),
                said("user", "Tea?"),
            ],
        },
        [],
    ),
    RequestCase(
        "a clock in a tool's description",
        chat(RULES, "Hi", tools=[tool("row", "Rows a boat. Current time: 2026-03-14 09:26:53.")]),
        [("timestamp", "09:26:53")],
    ),
    RequestCase(
        "hours in a tool's schema",
        chat(RULES, "Hi", tools=[tool("row", at={"type": "string", "description": "Start time, 09:30:00"})]),
        [],
    ),
    RequestCase(
        "an envelope",
        {"ts": "2026-03-14T09:26:53Z", "session": "s", "request": chat(f"{CLOCK}\n{RULES}", "Hi")},
        [("timestamp", "Now:")],
    ),
    RequestCase(
        "placeholders in a request",
        chat("Now: {{current_time}}\n" + RULES, "{{question}}"),
        [("clock-variable", "current_time")],
    ),
    RequestCase("braces in a request are text", chat("Write dates as {date} in JSON.\n" + RULES, "Hi"), []),
    # Late system messages
    RequestCase(
        "a countdown",
        {
            "model": "qwen3:8b",
            "messages": [
                said("system", RULES),
                said("user", "Run"),
                said("assistant", "Done."),
                said("system", "47,000 tokens left."),
                said("user", "Again"),
            ],
        },
        [("late-system", "47,000")],
    ),
    RequestCase(
        "plan mode, at an unknown server",
        {
            "model": "m",
            "messages": [
                said("system", RULES),
                said("user", "Run"),
                said("assistant", "Done."),
                said("user", "Plan"),
                said("system", "Plan mode is on."),
            ],
        },
        [("late-system", "Plan mode is on")],
    ),
    RequestCase(
        "a late developer message at OpenAI",
        {
            "model": "gpt-5-mini",
            "messages": [
                said("system", RULES),
                said("user", "Run"),
                said("assistant", "Done."),
                said("developer", "Be brief."),
                said("user", "Again"),
            ],
        },
        [],
    ),
    RequestCase(
        "two system messages at the front",
        {
            "model": "qwen3:8b",
            "messages": [
                said("system", RULES),
                said("system", "Be brief."),
                said("user", "Run"),
                said("assistant", "Done."),
                said("user", "Again"),
            ],
        },
        [],
    ),
    RequestCase(
        "a reminder as a user message",
        {
            "model": "qwen3:8b",
            "messages": [
                said("system", RULES),
                said("user", "Run"),
                said("assistant", "Done."),
                said("user", "47,000 tokens left."),
                said("user", "Again"),
            ],
        },
        [],
    ),
]
