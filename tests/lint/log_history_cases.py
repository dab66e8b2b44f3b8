"""Logs whose earlier turns are sent again other than they were, and logs in which a person did it."""

from __future__ import annotations

from request_building import (
    ANSWER,
    CALL,
    CALL_AGAIN,
    LONG,
    LONG_ANSWER,
    NOTES,
    RULES,
    Case,
    bare,
    block,
    chat,
    claude,
    said,
    session,
)

CASES = [
    # The history
    Case(
        "a window that slides",
        session(
            chat(RULES, "Hi", ANSWER, "Tea?", "No.", "Why?"),
            chat(RULES, "Tea?", "No.", "Why?", "The urn broke.", "When?"),
        ),
        [(2, "history-dropped")],
    ),
    Case(
        "one big cut",
        session(
            chat(RULES, *(f"{ANSWER} {n}" for n in range(15))),
            chat(RULES, *(f"{ANSWER} {n}" for n in range(12, 17))),
        ),
        [],
    ),
    Case(
        "a result of a tool that was cut",
        session(
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said("user", "Find"),
                    said("assistant", "", tool_calls=[CALL]),
                    said("tool", "Dory. " * 80),
                    said("assistant", LONG_ANSWER),
                    said("user", "Tea?"),
                ],
            },
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said("user", "Find"),
                    said("assistant", "", tool_calls=[CALL]),
                    said("tool", "[cleared]"),
                    said("assistant", LONG_ANSWER),
                    said("user", "Tea?"),
                    said("assistant", "No."),
                    said("user", "Why?"),
                ],
            },
        ),
        [(2, "history-rewritten")],
    ),
    Case(
        "arguments of a call in another order",
        session(
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said("user", "Find"),
                    said("assistant", "", tool_calls=[CALL]),
                    said("tool", "Hall two."),
                ],
            },
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said("user", "Find"),
                    said("assistant", "", tool_calls=[CALL_AGAIN]),
                    said("tool", "Hall two."),
                    said("assistant", "There."),
                    said("user", "Why?"),
                ],
            },
        ),
        [(2, "json-order")],
    ),
    Case(
        "ids of calls made anew",
        session(
            {
                "model": "m",
                "messages": [
                    said("system", RULES),
                    said("user", "Find"),
                    said("assistant", "", tool_calls=[{**CALL, "id": "call_1a2b"}]),
                    said("tool", "Hall two.", tool_call_id="call_1a2b"),
                    said("assistant", "There."),
                    said("user", "Tea?"),
                ],
            },
            {
                "model": "m",
                "messages": [
                    said("system", RULES),
                    said("user", "Find"),
                    said("assistant", "", tool_calls=[{**CALL, "id": "call_9f8e"}]),
                    said("tool", "Hall two.", tool_call_id="call_9f8e"),
                    said("assistant", "There."),
                    said("user", "Tea?"),
                    said("assistant", "No."),
                    said("user", "Why?"),
                ],
            },
        ),
        [(2, "history-rewritten")],
    ),
    Case(
        "old messages stamped anew",
        session(
            chat(RULES, "[10:00] Hi", ANSWER, "[10:00] Tea?"),
            chat(RULES, "[10:01] Hi", ANSWER, "[10:01] Tea?", "No.", "[10:01] Why?"),
        ),
        [(2, "history-rewritten")],
    ),
    Case(
        "the document moves with the newest message",
        session(chat(RULES, f"{LONG}\n\nHi"), chat(RULES, "Hi", "Hello.", f"{LONG}\n\nTea?")),
        [(2, "history-rewritten")],
    ),
    Case(
        "a reminder that always comes last",
        session(
            {
                "model": "gpt-5-mini",
                "messages": [said("system", RULES), said("user", "Hi"), said("user", NOTES[0] * 6)],
            },
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said("user", "Hi"),
                    said("assistant", "Hello."),
                    said("user", "Tea?"),
                    said("user", NOTES[0] * 6),
                ],
            },
        ),
        [],
    ),
    Case(
        "a clock as the last message",
        session(
            {
                "model": "gpt-5-mini",
                "messages": [said("system", RULES), said("user", "Hi"), said("user", "It is 10:00.")],
            },
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said("user", "Hi"),
                    said("assistant", "Hello."),
                    said("user", "Tea?"),
                    said("user", "It is 10:01."),
                ],
            },
        ),
        [],
    ),
    Case(
        "lore that stands two turns from the end",
        session(
            {
                "model": "m",
                "messages": [
                    said("system", RULES),
                    said("user", "Hi"),
                    said("assistant", "Hello."),
                    said("system", LONG[:900]),
                    said("user", "Tea?" * 60),
                ],
            },
            {
                "model": "m",
                "messages": [
                    said("system", RULES),
                    said("user", "Hi"),
                    said("assistant", "Hello."),
                    said("user", "Tea?" * 60),
                    said("assistant", "No."),
                    said("system", LONG[:900]),
                    said("user", "Why?"),
                ],
            },
        ),
        [(2, "history-rewritten")],
    ),
    Case(
        "a person edits an earlier question",
        session(
            chat(RULES, "Boats of Norway?", "Hall two.", "Thanks"),
            chat(RULES, "Boats of Sweden?", "Hall two.", "Thanks"),
        ),
        [],
    ),
    Case(
        "a person edits the last question",
        session(
            chat(RULES, "Hi", "Hello.", "Boats of Norway?"),
            chat(RULES, "Hi", "Hello.", "Boats of Sweden, please?"),
        ),
        [],
    ),
    Case(
        "the last answer is made again",
        session(chat(RULES, "Hi", "Hello.", "Tea?"), chat(RULES, "Hi", "Good morning.", "Coffee?")),
        [],
    ),
    Case("the same request twice", session(chat(RULES, "Hi"), chat(RULES, "Hi")), []),
    Case(
        "a title is asked for in between",
        session(
            chat(RULES, "Hi"),
            chat("Give a title of three words to the chat.", "Hi / Hello."),
            chat(RULES, "Hi", "Hello.", "Tea?"),
        ),
        [],
    ),
    Case(
        "one summary",
        session(
            chat(RULES, *(f"{ANSWER} {n}" for n in range(9))),
            chat(RULES, "Summary: we spoke of gloves.", "Good.", *(f"{ANSWER} {n}" for n in range(6, 11))),
        ),
        [],
    ),
    Case(
        "thoughts in the text",
        session(
            chat(RULES, "Hi", "<think>greet</think>\nHello.", "Tea?"),
            chat(RULES, "Hi", "Hello.", "Tea?", "<think>urn</think>No.", "Why?"),
        ),
        [(2, "reasoning-stripped")],
    ),
    Case(
        "thoughts in the text, from the first turn on",
        session(
            chat(RULES, "Hi"),
            chat(RULES, "Hi", "<think>greet</think>Hello.", "Tea?"),
            chat(RULES, "Hi", "Hello.", "Tea?", "<think>urn</think>No.", "Why?"),
            chat(RULES, "Hi", "Hello.", "Tea?", "No.", "Why?", "<think>hm</think>So.", "Oh?"),
        ),
        [(3, "reasoning-stripped")],
    ),
    Case(
        "thoughts in a field",
        session(
            {
                "model": "deepseek-r1",
                "messages": [
                    said("system", RULES),
                    said("user", "Hi"),
                    said("assistant", "Hello.", reasoning_content="greet"),
                    said("user", "Tea?"),
                ],
            },
            {
                "model": "deepseek-r1",
                "messages": [
                    said("system", RULES),
                    said("user", "Hi"),
                    said("assistant", "Hello."),
                    said("user", "Tea?"),
                    said("assistant", "No.", reasoning_content="urn"),
                    said("user", "Why?"),
                ],
            },
        ),
        [(2, "reasoning-stripped")],
    ),
    Case(
        "thinking blocks",
        session(
            claude(
                LONG,
                said("user", "Hi"),
                said("assistant", [{"type": "thinking", "thinking": "greet"}, block("Hello.")]),
                said("user", "Tea?"),
            ),
            claude(
                LONG,
                said("user", "Hi"),
                said("assistant", [block("Hello.")]),
                said("user", "Tea?"),
                said("assistant", "No."),
                said("user", "Why?"),
            ),
        ),
        [(2, "reasoning-stripped")],
    ),
    Case(
        "thoughts kept",
        session(
            chat(RULES, "Hi", "<think>greet</think>Hello.", "Tea?"),
            chat(RULES, "Hi", "<think>greet</think>Hello.", "Tea?", "<think>urn</think>No.", "Why?"),
        ),
        [],
    ),
    Case(
        "a picture as a data link, encoded anew",
        session(
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said(
                        "user",
                        [
                            block("What?"),
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                        ],
                    ),
                ],
            },
            {
                "model": "gpt-5-mini",
                "messages": [
                    said("system", RULES),
                    said(
                        "user",
                        [
                            block("What?"),
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,BBBB"}},
                        ],
                    ),
                    said("assistant", "A boat."),
                    said("user", "Sure?"),
                ],
            },
        ),
        [(2, "image-reencoded")],
    ),
    Case(
        "another picture in another chat",
        bare(
            {
                "model": "gpt-5-mini",
                "messages": [said("system", RULES), said("user", "What?", images=["AAAA"])],
            },
            {
                "model": "gpt-5-mini",
                "messages": [said("system", RULES), said("user", "What?", images=["BBBB"])],
            },
        ),
        [],
    ),
    Case(
        "the server keeps the history",
        session(
            {"model": "gpt-5-mini", "instructions": RULES, "input": [said("user", "Hi")]},
            {
                "model": "gpt-5-mini",
                "instructions": RULES,
                "previous_response_id": "r1",
                "input": [said("user", "Tea?")],
            },
        ),
        [],
    ),
    Case(
        "a line end that was trimmed from a short message",
        session(chat(RULES, "Hi\n"), chat(RULES, "Hi", "Hello.", "Tea?")),
        [],
    ),
    Case(
        "the last answer is begun for the model", session(chat(RULES, "Hi"), chat(RULES, "Hi", "Sure, ")), []
    ),
]
