"""Requests with marks and keys for the cache, files that keep prompts, and JSON that holds none."""

from __future__ import annotations

from request_building import HOUR, LONG, MARK, RULES, TOOLS, block, chat, claude, said
from request_cases import CLOCK, HAIKU, HANDBOOK, STATIC, RequestCase

CASES = [
    # Breakpoints
    RequestCase(
        "too short for haiku",
        claude([block("You name halls.", **MARK)], said("user", "Hi"), **HAIKU),
        [("breakpoint-below-minimum", "You name halls")],
    ),
    RequestCase("long enough for sonnet", claude([block(LONG + LONG, **MARK)], said("user", "Hi")), []),
    RequestCase(
        "long enough for sonnet is too short for haiku",
        claude([block(LONG + LONG, **MARK)], said("user", "Hi"), **HAIKU),
        [("breakpoint-below-minimum", "lending desk")],
    ),
    RequestCase(
        "short tools, marked",
        claude(
            RULES,
            said("user", "Hi"),
            tools=[STATIC, {**STATIC, "name": "sail", "description": "Sails.", **MARK}],
        ),
        [("breakpoint-below-minimum", "sail")],
    ),
    RequestCase(
        "the newest message is marked while the chat is short",
        claude("Be brief.", said("user", [block("Hi", **MARK)])),
        [],
    ),
    RequestCase(
        "a clock at the end of the marked block",
        claude([block(f"{LONG}{LONG}\n{CLOCK}", **MARK)], said("user", "Hi")),
        [("breakpoint-misplaced", "09:26:53")],
    ),
    RequestCase(
        "a clock in the marked block behind the rules",
        claude([block(LONG + LONG), block(CLOCK, **MARK)], said("user", "Hi")),
        [("breakpoint-misplaced", "09:26:53")],
    ),
    RequestCase(
        "a clock behind the marked block",
        claude([block(LONG + LONG, **MARK), block(CLOCK)], said("user", "Hi")),
        [],
    ),
    RequestCase(
        "a clock before the marked block",
        claude([block(CLOCK), block(LONG + LONG, **MARK)], said("user", "Hi")),
        [("timestamp", "09:26:53")],
    ),
    RequestCase(
        "the whole request is marked, a clock ends the system text",
        claude(f"{LONG}{LONG}\n{CLOCK}", said("user", "Hi"), **MARK),
        [("breakpoint-misplaced", "09:26:53")],
    ),
    RequestCase(
        "five marks",
        claude([block(f"Part {n}. {LONG}{LONG}", **MARK) for n in range(5)], said("user", "Hi")),
        [("breakpoint-misplaced", "Part 4.")],
    ),
    RequestCase(
        "an hour behind five minutes",
        claude(
            [block(f"Part 1. {LONG}{LONG}", **MARK), block(f"Part 2. {LONG}", **HOUR)], said("user", "Hi")
        ),
        [("breakpoint-misplaced", "Part 2.")],
    ),
    RequestCase(
        "five minutes behind an hour",
        claude(
            [block(f"Part 1. {LONG}{LONG}", **HOUR), block(f"Part 2. {LONG}", **MARK)], said("user", "Hi")
        ),
        [],
    ),
    # Cache keys
    RequestCase(
        "a key with a time",
        chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="desk-2026-03-14T09:26"),
        [("cache-key-random", "desk-2026")],
    ),
    RequestCase(
        "a key of the request",
        chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="req-8f31c2"),
        [("cache-key-random", "req-8f31c2")],
    ),
    RequestCase(
        "a key that may be a session's",
        chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f"),
        [],
    ),
    RequestCase(
        "a key with a version", chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="desk-v3"), []
    ),
    # Files that keep prompts
    RequestCase(
        "a list of messages",
        [said("system", "Now: {{current_time}}\n" + RULES), said("user", "{{question}}")],
        [("clock-variable", "current_time")],
    ),
    RequestCase(
        "a list of messages, well ordered",
        [said("system", RULES), said("user", "Now: {{now}}. {{question}}")],
        [],
    ),
    RequestCase(
        "a template",
        {"template": "Now: {current_time}\n" + RULES, "input_variables": ["current_time"]},
        [("clock-variable", "{current_time}")],
    ),
    RequestCase(
        "system and user apart",
        {"system_prompt": "Hi {user_name}.\n" + RULES, "user_prompt": "{question}"},
        [("user-data", "user_name")],
    ),
    RequestCase(
        "several prompts",
        {
            "prompts": ["{{question}}\n" + HANDBOOK, HANDBOOK + "\n{{question}}"],
            "providers": ["ollama:chat:qwen3"],
        },
        [("question-first", "{{question}}")],
    ),
    RequestCase(
        "prompts by name",
        {"prompts": {"good": RULES, "bad": {"template": "{current_time}\n" + RULES}}},
        [("clock-variable", "current_time")],
    ),
    RequestCase(
        "LangChain's own",
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "prompts", "chat", "ChatPromptTemplate"],
            "kwargs": {
                "messages": [
                    {
                        "lc": 1,
                        "id": ["langchain", "prompts", "chat", "SystemMessagePromptTemplate"],
                        "kwargs": {
                            "prompt": {
                                "lc": 1,
                                "id": ["PromptTemplate"],
                                "kwargs": {"template": "Now: {current_time}\n" + RULES},
                            }
                        },
                    }
                ]
            },
        },
        [("clock-variable", "{current_time}")],
    ),
    # Lists of requests are logs
    RequestCase(
        "a list of requests",
        [chat(f"Now 10:00:0{n}\n{RULES}", f"Boat {n}?", model="gpt-4o") for n in range(3)],
        [("prompt-head-changed", "Now 10:00:01")],
    ),
    # Other JSON holds no prompt
    RequestCase(
        "package.json",
        {"name": "x", "version": "1.0.0", "scripts": {"prompt": "node x.js"}, "dependencies": {}},
        [],
    ),
    RequestCase(
        "a notebook",
        {"nbformat": 4, "cells": [{"cell_type": "markdown", "source": [CLOCK, RULES]}], "metadata": {}},
        [],
    ),
    RequestCase(
        "a data set of chats",
        [{"messages": [said("system", f"{CLOCK}\n{RULES}"), said("user", "Hi"), said("assistant", "Hello.")]}]
        * 3,
        [],
    ),
    RequestCase(
        "a data set with tools",
        [
            {
                "messages": [
                    said("system", f"{CLOCK}\n{RULES}"),
                    said("user", "Hi"),
                    said("assistant", "Hello."),
                ],
                "tools": TOOLS,
            }
        ],
        [],
    ),
    RequestCase("a data set of prompts", [{"prompt": f"{CLOCK}\n{RULES}", "completion": "Hello."}] * 3, []),
    RequestCase(
        "one record of a data set", {"prompt": f"{CLOCK}\n{RULES}", "chosen": "a", "rejected": "b"}, []
    ),
    RequestCase(
        "a stored chat",
        {
            "id": "c1",
            "messages": [
                said("system", f"{CLOCK}\n{RULES}"),
                said("user", "Hi"),
                said("assistant", "Hello."),
            ],
        },
        [],
    ),
    RequestCase(
        "an interface's description",
        {"openapi": "3.1.0", "info": {"title": CLOCK}, "paths": {}, "prompt": RULES},
        [],
    ),
    RequestCase("words of an interface", {"messages": {"now": f"{CLOCK} {RULES}"}}, []),
    RequestCase(
        "a reply",
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1764400000,
            "choices": [{"message": said("assistant", CLOCK + RULES)}],
        },
        [],
    ),
    RequestCase("a number", 7, []),
    RequestCase("nothing", {}, []),
]
