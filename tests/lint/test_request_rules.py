"""Single requests, and files that keep prompts as JSON: what is found in them, and where."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from log_cases import ANSWER, HOUR, LONG, MARK, RULES, TOOLS, block, chat, claude, raw, said, tool

from promptorder.forms import json as json_form
from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.lint.rules.breakpoint_below_minimum import minimum
from promptorder.model.lint import Finding, Source


class Case(NamedTuple):
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
    Case("ollama chat, clock first", chat(f"{CLOCK}\n{RULES}", "Hi"), [("timestamp", "09:26:53")]),
    Case("ollama chat, clock last", chat(f"{RULES}\n{CLOCK}", "Hi"), []),
    Case("clock last, but a history behind it", chat(f"{RULES}\n{CLOCK}", "Hi", ANSWER, "Tea?"), [("timestamp", "09:26:53")]),
    Case("clock in the newest message", chat(RULES, "Hi", ANSWER, f"{CLOCK}\nTea?"), []),
    Case("clocks in earlier messages are history", chat(RULES, f"{CLOCK} {LONG}", ANSWER, "Tea?"), []),
    Case("ollama generate", raw(f"{CLOCK}\n{RULES}\nTicket: oars"), [("timestamp", "09:26:53")]),
    Case("ollama generate, system apart", raw("Ticket 20260314-0041: oars", system=RULES), []),
    Case("llama-server", {"prompt": f"{CLOCK}\n{RULES}", "n_predict": 64, "cache_prompt": True}, [("timestamp", "09:26:53")]),
    Case("responses", {"model": "gpt-5-mini", "instructions": f"{CLOCK}\n{RULES}", "input": "Hi"}, [("timestamp", "09:26:53")]),
    Case("responses with a list", {"model": "gpt-5-mini", "input": [said("developer", f"{CLOCK}\n{RULES}"), said("user", "Hi")]},
         [("timestamp", "09:26:53")]),
    Case("content in blocks", {"model": "gpt-5-mini", "messages": [said("system", [block(CLOCK), block(RULES)]), said("user", "Hi")]},
         [("timestamp", "09:26:53")]),
    Case("one turn with the handbook", {"model": "gpt-5-mini", "messages": [said("user", f"{CLOCK}\n{HANDBOOK}")]}, [("timestamp", "09:26:53")]),
    Case("the question before the handbook", {"model": "gpt-5-mini", "messages": [said("user", f"Question: may I film?\n\n{HANDBOOK}")]},
         [("question-first", "may I film")]),
    Case("the question before the handbook, under a system text", chat("Be brief.", f"Question: may I film?\n\n{HANDBOOK}"),
         [("question-first", "may I film")]),
    Case("the handbook before the question", {"model": "gpt-5-mini", "messages": [said("user", f"{HANDBOOK}\n\nQuestion: may I film?")]}, []),
    Case("an id before the rules", chat(f"Request 7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f\n{RULES}", "Hi"), [("request-id", "7d0f2f7e")]),
    Case("ids outside the prompt", chat(RULES, "Hi", model="gpt-5-mini", user="u-8841", seed=1764400000,
         metadata={"trace": "7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f", "at": "2026-03-14T09:26:53Z"}), []),
    Case("ids of calls", {"model": "gpt-5-mini", "messages": [
        said("system", RULES), said("user", "Find"), said("assistant", "", tool_calls=[{"id": "call_9f8e7d6c5b4a", "type": "function",
        "function": {"name": "find_model", "arguments": "{}"}}]), said("tool", "Now: 09:26:53", tool_call_id="call_9f8e7d6c5b4a"),
        said("assistant", "There."), said("user", "Tea?")]}, []),
    Case("a clock in a tool's description", chat(RULES, "Hi", tools=[tool("row", "Rows a boat. Current time: 2026-03-14 09:26:53.")]),
         [("timestamp", "09:26:53")]),
    Case("hours in a tool's schema", chat(RULES, "Hi", tools=[tool("row", at={"type": "string", "description": "Start time, 09:30:00"})]), []),
    Case("an envelope", {"ts": "2026-03-14T09:26:53Z", "session": "s", "request": chat(f"{CLOCK}\n{RULES}", "Hi")}, [("timestamp", "Now:")]),
    Case("placeholders in a request", chat("Now: {{current_time}}\n" + RULES, "{{question}}"), [("clock-variable", "current_time")]),
    Case("braces in a request are text", chat("Write dates as {date} in JSON.\n" + RULES, "Hi"), []),
    # Late system messages
    Case("a countdown", {"model": "qwen3:8b", "messages": [
        said("system", RULES), said("user", "Run"), said("assistant", "Done."), said("system", "47,000 tokens left."), said("user", "Again")]},
        [("late-system", "47,000")]),
    Case("plan mode, at an unknown server", {"model": "m", "messages": [
        said("system", RULES), said("user", "Run"), said("assistant", "Done."), said("user", "Plan"), said("system", "Plan mode is on.")]},
        [("late-system", "Plan mode is on")]),
    Case("a late developer message at OpenAI", {"model": "gpt-5-mini", "messages": [
        said("system", RULES), said("user", "Run"), said("assistant", "Done."), said("developer", "Be brief."), said("user", "Again")]}, []),
    Case("two system messages at the front", {"model": "qwen3:8b", "messages": [
        said("system", RULES), said("system", "Be brief."), said("user", "Run"), said("assistant", "Done."), said("user", "Again")]}, []),
    Case("a reminder as a user message", {"model": "qwen3:8b", "messages": [
        said("system", RULES), said("user", "Run"), said("assistant", "Done."), said("user", "47,000 tokens left."), said("user", "Again")]}, []),
    # Breakpoints
    Case("too short for haiku", claude([block("You name halls.", **MARK)], said("user", "Hi"), **HAIKU), [("breakpoint-below-minimum", "You name halls")]),
    Case("long enough for sonnet", claude([block(LONG + LONG, **MARK)], said("user", "Hi")), []),
    Case("long enough for sonnet is too short for haiku", claude([block(LONG + LONG, **MARK)], said("user", "Hi"), **HAIKU),
         [("breakpoint-below-minimum", "lending desk")]),
    Case("short tools, marked", claude(RULES, said("user", "Hi"), tools=[STATIC, {**STATIC, "name": "sail", "description": "Sails.", **MARK}]),
         [("breakpoint-below-minimum", "sail")]),
    Case("the newest message is marked while the chat is short", claude("Be brief.", said("user", [block("Hi", **MARK)])), []),
    Case("a clock at the end of the marked block", claude([block(f"{LONG}{LONG}\n{CLOCK}", **MARK)], said("user", "Hi")),
         [("breakpoint-misplaced", "09:26:53")]),
    Case("a clock in the marked block behind the rules", claude([block(LONG + LONG), block(CLOCK, **MARK)], said("user", "Hi")),
         [("breakpoint-misplaced", "09:26:53")]),
    Case("a clock behind the marked block", claude([block(LONG + LONG, **MARK), block(CLOCK)], said("user", "Hi")), []),
    Case("a clock before the marked block", claude([block(CLOCK), block(LONG + LONG, **MARK)], said("user", "Hi")), [("timestamp", "09:26:53")]),
    Case("the whole request is marked, a clock ends the system text", claude(f"{LONG}{LONG}\n{CLOCK}", said("user", "Hi"), **MARK),
         [("breakpoint-misplaced", "09:26:53")]),
    Case("five marks", claude([block(f"Part {n}. {LONG}{LONG}", **MARK) for n in range(5)], said("user", "Hi")), [("breakpoint-misplaced", "Part 4.")]),
    Case("an hour behind five minutes", claude([block(f"Part 1. {LONG}{LONG}", **MARK), block(f"Part 2. {LONG}", **HOUR)], said("user", "Hi")),
         [("breakpoint-misplaced", "Part 2.")]),
    Case("five minutes behind an hour", claude([block(f"Part 1. {LONG}{LONG}", **HOUR), block(f"Part 2. {LONG}", **MARK)], said("user", "Hi")), []),
    # Cache keys
    Case("a key with a time", chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="desk-2026-03-14T09:26"), [("cache-key-random", "desk-2026")]),
    Case("a key of the request", chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="req-8f31c2"), [("cache-key-random", "req-8f31c2")]),
    Case("a key that may be a session's", chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f"), []),
    Case("a key with a version", chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="desk-v3"), []),
    # Files that keep prompts
    Case("a list of messages", [said("system", "Now: {{current_time}}\n" + RULES), said("user", "{{question}}")], [("clock-variable", "current_time")]),
    Case("a list of messages, well ordered", [said("system", RULES), said("user", "Now: {{now}}. {{question}}")], []),
    Case("a template", {"template": "Now: {current_time}\n" + RULES, "input_variables": ["current_time"]}, [("clock-variable", "{current_time}")]),
    Case("system and user apart", {"system_prompt": "Hi {user_name}.\n" + RULES, "user_prompt": "{question}"}, [("user-data", "user_name")]),
    Case("several prompts", {"prompts": ["{{question}}\n" + HANDBOOK, HANDBOOK + "\n{{question}}"], "providers": ["ollama:chat:qwen3"]},
         [("question-first", "{{question}}")]),
    Case("prompts by name", {"prompts": {"good": RULES, "bad": {"template": "{current_time}\n" + RULES}}}, [("clock-variable", "current_time")]),
    Case("LangChain's own", {"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "chat", "ChatPromptTemplate"], "kwargs": {"messages": [
        {"lc": 1, "id": ["langchain", "prompts", "chat", "SystemMessagePromptTemplate"], "kwargs": {"prompt": {"lc": 1, "id": ["PromptTemplate"],
         "kwargs": {"template": "Now: {current_time}\n" + RULES}}}}]}}, [("clock-variable", "{current_time}")]),
    # Lists of requests are logs
    Case("a list of requests", [chat(f"Now 10:00:0{n}\n{RULES}", f"Boat {n}?", model="gpt-4o") for n in range(3)], [("prompt-head-changed", "Now 10:00:01")]),
    # Other JSON holds no prompt
    Case("package.json", {"name": "x", "version": "1.0.0", "scripts": {"prompt": "node x.js"}, "dependencies": {}}, []),
    Case("a notebook", {"nbformat": 4, "cells": [{"cell_type": "markdown", "source": [CLOCK, RULES]}], "metadata": {}}, []),
    Case("a data set of chats", [{"messages": [said("system", f"{CLOCK}\n{RULES}"), said("user", "Hi"), said("assistant", "Hello.")]}] * 3, []),
    Case("a data set with tools", [{"messages": [said("system", f"{CLOCK}\n{RULES}"), said("user", "Hi"), said("assistant", "Hello.")], "tools": TOOLS}], []),
    Case("a data set of prompts", [{"prompt": f"{CLOCK}\n{RULES}", "completion": "Hello."}] * 3, []),
    Case("one record of a data set", {"prompt": f"{CLOCK}\n{RULES}", "chosen": "a", "rejected": "b"}, []),
    Case("a stored chat", {"id": "c1", "messages": [said("system", f"{CLOCK}\n{RULES}"), said("user", "Hi"), said("assistant", "Hello.")]}, []),
    Case("an interface's description", {"openapi": "3.1.0", "info": {"title": CLOCK}, "paths": {}, "prompt": RULES}, []),
    Case("words of an interface", {"messages": {"now": f"{CLOCK} {RULES}"}}, []),
    Case("a reply", {"id": "x", "object": "chat.completion", "created": 1764400000, "choices": [{"message": said("assistant", CLOCK + RULES)}]}, []),
    Case("a number", 7, []),
    Case("nothing", {}, []),
]  # fmt: skip


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


def found(content: str, rules: Rules) -> list[Finding]:
    source = Source("request.json", "json", content)
    return list(lint(source, json_form.prompts(source), rules))


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_request_holds(case: Case, indent: int | None, rules: Rules) -> None:
    content = json.dumps(case.value, indent=indent)
    findings = [each for each in found(content, rules) if each.severity != "info"]
    lines = content.split("\n")
    assert [each.name for each in findings] == [rule for rule, _ in case.wanted]
    for each, (_, words) in zip(findings, case.wanted, strict=True):
        assert words in lines[each.line - 1]


def test_a_finding_points_at_the_value_behind_escapes(rules: Rules) -> None:
    content = '{"model": "qwen3:8b",\n "messages": [{"role": "system", "content": "\\u2693 \\"Boats\\"\\n\\ud83d\\udea2 Now: 2026-03-14 09:26:53\\n%s"}]}'
    content %= RULES.replace("\n", "\\n")
    finding = found(content, rules)[0]
    line = content.split("\n")[finding.line - 1]
    assert line[finding.column - 1 : finding.end_column - 1] == "2026-03-14 09:26:53"


def test_the_minimum_is_the_models() -> None:
    assert minimum("claude-haiku-4-5-20251001") == minimum("claude-opus-4-6") == 4096
    assert minimum("anthropic.claude-3-5-haiku-20241022-v1:0") == minimum("claude-opus-4-7") == 2048
    assert minimum("claude-sonnet-4-5") == minimum("claude-opus-4-8") == minimum("claude-opus-4-1") == 1024
    assert minimum("claude-opus-5") == 512
