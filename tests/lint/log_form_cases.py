"""Logs whose tools change, and logs in which the same words come in another form."""

from __future__ import annotations

from request_building import (
    ANSWER,
    LONG,
    LONG_ANSWER,
    MARK,
    RULES,
    SHOTS,
    TOOLS,
    Case,
    bare,
    chat,
    claude,
    said,
    session,
    tool,
)

CASES = [
    # Tools
    Case(
        "tools in another order",
        session(
            chat(RULES, "Hi", tools=TOOLS),
            chat(RULES, "Hi", "Hello.", "Tea?", tools=[TOOLS[2], TOOLS[0], TOOLS[1]]),
        ),
        [(2, "tool-order")],
    ),
    Case(
        "the tools move around each time",
        bare(
            *(
                chat(RULES, f"Where is boat {n}?", tools=order, model="gpt-4o")
                for n, order in enumerate((TOOLS, TOOLS[::-1], [TOOLS[1], TOOLS[0], TOOLS[2]]))
            )
        ),
        [(2, "tool-order")],
    ),
    Case(
        "a tool more in the middle of a chat",
        session(
            chat(RULES, "Hi", ANSWER, "Tea?", tools=TOOLS),
            chat(RULES, "Hi", ANSWER, "Tea?", "No.", "Why?", tools=[*TOOLS, tool("row")]),
        ),
        [(2, "tool-changed")],
    ),
    Case(
        "a clock in a tool's description",
        session(
            chat(RULES, "Hi", tools=[tool("row", "Rows. Time 10:00:01.")]),
            chat(RULES, "Hi", "Hello.", "Tea?", tools=[tool("row", "Rows. Time 10:00:44.")]),
        ),
        [(2, "tool-changed")],
    ),
    Case(
        "keys of a tool's schema in another order",
        session(
            chat(RULES, "Hi", tools=[tool("row", a={"type": "string"}, b={"type": "integer"})]),
            chat(
                RULES,
                "Hi",
                "Hello.",
                "Tea?",
                tools=[tool("row", b={"type": "integer"}, a={"type": "string"})],
            ),
        ),
        [(2, "json-order")],
    ),
    Case(
        "a marked tool is the same tool",
        session(
            claude(LONG, said("user", "Hi"), tools=[{"name": "row", "input_schema": {}}]),
            claude(
                LONG,
                said("user", "Hi"),
                said("assistant", "Hello."),
                said("user", "Tea?"),
                tools=[{"name": "row", "input_schema": {}, **MARK}],
            ),
        ),
        [],
    ),
    Case(
        "another schema for the answer",
        session(
            chat(RULES, "Hi", ANSWER, "Tea?", model="gpt-4o", response_format={"json_schema": {"a": {}}}),
            chat(
                RULES,
                "Hi",
                ANSWER,
                "Tea?",
                "No.",
                "Why?",
                model="gpt-4o",
                response_format={"json_schema": {"b": {}}},
            ),
        ),
        [(2, "tool-changed")],
    ),
    Case(
        "another schema for the answer, of which Ollama makes a grammar",
        session(
            chat(RULES, "Hi", ANSWER, "Tea?", format={"type": "object", "properties": {"a": {}}}),
            chat(
                RULES, "Hi", ANSWER, "Tea?", "No.", "Why?", format={"type": "object", "properties": {"b": {}}}
            ),
        ),
        [],
    ),
    # Form
    Case(
        "facts as JSON in another order",
        bare(
            *(
                chat(f"Facts: {facts}\n{RULES}", f"Where is boat {n}?")
                for n, facts in enumerate(
                    ('{"oars": 4, "hall": 2}', '{"hall": 2, "oars": 4}', '{"oars": 4, "hall": 2}')
                )
            )
        ),
        [(2, "json-order")],
    ),
    Case(
        "Windows line ends",
        session(chat(RULES, "Hi"), chat(RULES.replace("\n", "\r\n"), "Hi", "Hello.", "Tea?")),
        [(2, "whitespace-drift")],
    ),
    Case(
        "trailing space in the history",
        session(
            chat(RULES, "Hi", LONG_ANSWER, "Tea?"),
            chat(RULES, "Hi", LONG_ANSWER + " ", "Tea?", "No.", "Why?"),
        ),
        [(2, "whitespace-drift")],
    ),
    Case(
        "composed and decomposed letters",
        session(
            chat(f"Café am Kai. {RULES}", "Hi"), chat(f"Cafe\u0301 am Kai. {RULES}", "Hi", "Hello.", "Tea?")
        ),
        [(2, "encoding-drift")],
    ),
    Case(
        "HTML escapes",
        session(
            chat(f"Boats & ropes. {RULES}", "Hi"), chat(f"Boats &amp; ropes. {RULES}", "Hi", "Hello.", "Tea?")
        ),
        [(2, "encoding-drift")],
    ),
    Case(
        "typographic quotes in the history",
        session(
            chat(RULES, 'What\'s "dory"?', ANSWER, "Tea?"),
            chat(RULES, "What’s “dory”?", ANSWER, "Tea?", "No.", "Why?"),
        ),
        [(2, "encoding-drift")],
    ),
    Case(
        "the same file with escapes in the JSON only",
        session(chat(f"Café. {RULES}", "Hi"), chat(f"Café. {RULES}", "Hi", "Hello.", "Tea?")),
        [],
    ),
    Case(
        "memory by score",
        session(
            chat(f"{RULES}\nKnown:\n- rows\n- has a dog\n- sings", "Hi"),
            chat(f"{RULES}\nKnown:\n- sings\n- rows\n- has a dog", "Hi", "Hello.", "Tea?"),
        ),
        [(2, "lines-reordered")],
    ),
    Case(
        "examples shuffled",
        bare(
            *(
                chat("\n".join(shots) + "\n" + RULES, f"Where is boat {n}?")
                for n, shots in enumerate((SHOTS, SHOTS[::-1], [SHOTS[1], *SHOTS[::2]]))
            )
        ),
        [(2, "fewshot-order")],
    ),
    Case(
        "examples as messages, shuffled",
        bare(
            chat(RULES, "Boat?", "dory", "Ship?", "brig", "Raft?", "log", "Punt?"),
            chat(RULES, "Raft?", "log", "Boat?", "dory", "Ship?", "brig", "Skiff?"),
        ),
        [(2, "fewshot-order")],
    ),
    Case(
        "a list of tools that grows from request to request",
        bare(
            *(
                chat(RULES, f"Question {n}?", tools=[*TOOLS, tool("row")][: n + 1], model="gpt-4o")
                for n in range(4)
            )
        ),
        [(2, "tool-changed")],
    ),
]
