"""Logs in which the loss is not in the prompt, and who belongs to whom."""

from __future__ import annotations

from request_building import (
    ANSWER,
    HEAD,
    HOUR,
    LONG,
    LONG_ANSWER,
    MARK,
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
    # Around the prompt
    Case(
        "num_ctx by the length of the prompt",
        session(
            chat(RULES, "Hi", options={"num_ctx": 8192}),
            chat(RULES, "Hi", "Hello.", "Tea?", options={"num_ctx": 9216}),
        ),
        [(2, "model-reloaded")],
    ),
    Case(
        "one client without num_ctx",
        bare(chat(RULES, "Hi", options={"num_ctx": 8192}), chat(RULES, "Boats?", options={"temperature": 0})),
        [(2, "model-reloaded")],
    ),
    Case(
        "sampling options",
        session(
            chat(RULES, "Hi", options={"num_ctx": 8192, "seed": 1}),
            chat(RULES, "Hi", "Hello.", "Tea?", options={"num_ctx": 8192, "seed": 2, "num_predict": 9}),
        ),
        [],
    ),
    Case(
        "another model in the middle",
        session(
            chat(RULES, "Hi", ANSWER, "Tea?"),
            chat(RULES, "Hi", ANSWER, "Tea?", "No.", "Why?", model="llama3.2:3b"),
        ),
        [(2, "model-reloaded")],
    ),
    Case(
        "the same questions to several models",
        bare(
            *(
                chat(RULES, f"Where is boat {n}?", model=model)
                for n in range(3)
                for model in ("gpt-4o", "gpt-4.1", "gpt-5-mini")
            )
        ),
        [],
    ),
    Case(
        "keep_alive 0",
        session(chat(RULES, "Hi", keep_alive=0), chat(RULES, "Hi", "Hello.", "Tea?", keep_alive=0)),
        [(2, "model-reloaded")],
    ),
    Case(
        "a pause of nine minutes",
        session(chat(RULES, "Hi"), chat(RULES, "Hi", "Hello.", "Tea?"), step=540),
        [(2, "idle-gap")],
    ),
    Case(
        "a pause within keep_alive",
        session(
            chat(RULES, "Hi", keep_alive="30m"),
            chat(RULES, "Hi", "Hello.", "Tea?", keep_alive="30m"),
            step=540,
        ),
        [],
    ),
    Case(
        "a pause with the model kept for ever",
        session(
            chat(RULES, "Hi", keep_alive=-1), chat(RULES, "Hi", "Hello.", "Tea?", keep_alive=-1), step=540
        ),
        [],
    ),
    Case(
        "a pause that another session bridged",
        [
            *session(chat(RULES, "Hi")),
            *session(chat(RULES, "Boats?"), name="s2", start=240),
            *session(chat(RULES, "Hi", "Hello.", "Tea?"), start=480),
        ],
        [],
    ),
    Case(
        "a pause of seven minutes with five-minute marks",
        session(
            claude([block(LONG, **MARK)], said("user", "Hi")),
            claude(
                [block(LONG, **MARK)], said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?")
            ),
            step=420,
        ),
        [(2, "idle-gap")],
    ),
    Case(
        "a pause of seven minutes with one-hour marks",
        session(
            claude([block(LONG, **HOUR)], said("user", "Hi")),
            claude(
                [block(LONG, **HOUR)], said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?")
            ),
            step=420,
        ),
        [],
    ),
    Case(
        "a pause nobody knows the meaning of",
        session(
            chat(RULES, "Hi", model="local-model"),
            chat(RULES, "Hi", "Hello.", "Tea?", model="local-model"),
            step=540,
        ),
        [],
    ),
    Case(
        "a new cache key each time",
        session(
            chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="a1"),
            chat(RULES, "Hi", "Hello.", "Tea?", model="gpt-5-mini", prompt_cache_key="b2"),
        ),
        [(2, "cache-key-changed")],
    ),
    Case(
        "one cache key for each chat",
        [
            *session(
                chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="a1"),
                chat(RULES, "Hi", "Hello.", "Tea?", model="gpt-5-mini", prompt_cache_key="a1"),
            ),
            *session(chat(RULES, "Hi", model="gpt-5-mini", prompt_cache_key="b2"), name="s2"),
        ],
        [],
    ),
    Case(
        "a salt per request",
        bare(
            chat(RULES, "Hi", model="m", cache_salt="a1"),
            chat(RULES, "Hi", ANSWER, "Tea?", model="m", cache_salt="b2"),
        ),
        [(2, "cache-key-changed")],
    ),
    Case(
        "a countdown as a late system message",
        session(
            chat(RULES, "Run"),
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
        ),
        [(2, "late-system")],
    ),
    Case(
        "a late developer message at OpenAI",
        session(
            chat(RULES, "Run", model="gpt-5-mini"),
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
        ),
        [],
    ),
    # Who belongs to whom
    Case(
        "two chats in turn, both clean",
        bare(
            chat(RULES, "Hi", model="gpt-4o"),
            chat(RULES, "Boats?", model="gpt-4o"),
            chat(RULES, "Hi", ANSWER, "Tea?", model="gpt-4o"),
            chat(RULES, "Boats?", LONG_ANSWER, "Ropes?", model="gpt-4o"),
        ),
        [],
    ),
    Case(
        "two chats in turn, both with a clock",
        [
            line
            for n in range(3)
            for line in (
                *session(chat(f"Now 10:0{n}:01\n{RULES}", *["Hi", "Hello."] * n, "Tea?"), start=n * 60),
                *session(
                    chat(f"Now 10:0{n}:31\n{RULES}", *["Ahoy", "Hello."] * n, "Rum?"),
                    name="s2",
                    start=n * 60 + 30,
                ),
            )
        ],
        [(3, HEAD), (4, HEAD)],
    ),
    Case(
        "sessions with an id of their own",
        [
            *session(chat(f"Session 91ab2c77. {RULES}", "Hi")),
            *session(chat(f"Session 0f0f1e2d. {RULES}", "Hi"), name="s2"),
            *session(chat(f"Session 77c0e1d4. {RULES}", "Hi"), name="s3"),
        ],
        [(2, "prompt-head-changed")],
    ),
    Case(
        "a clock that stands still for a session",
        [
            *session(
                chat(f"It is 10:04:11. {RULES}", "Hi"), chat(f"It is 10:04:11. {RULES}", "Hi", ANSWER, "Why?")
            ),
            *session(chat(f"It is 11:31:20. {RULES}", "Hi"), name="s2"),
        ],
        [],
    ),
    Case(
        "a data set",
        [
            {
                "messages": [
                    said("system", f"Now 10:0{n}. {RULES}"),
                    said("user", "Hi"),
                    said("assistant", "Hello."),
                ]
            }
            for n in range(4)
        ],
        [],
    ),
    Case(
        "a data set of prompts",
        [{"prompt": f"Now 10:0{n}. {RULES}", "completion": "Hello."} for n in range(4)],
        [],
    ),
    Case(
        "a batch file",
        [
            {
                "custom_id": f"r{n}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": chat(f"Now 10:00:0{n}. {RULES}", f"Boat {n}?", model="gpt-4o"),
            }
            for n in range(3)
        ],
        [(2, HEAD)],
    ),
    Case(
        "marks of an hour that became marks of five minutes",
        session(
            claude([block(LONG, **HOUR)], said("user", "Hi")),
            claude(
                [block(LONG, **MARK)], said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?")
            ),
        ),
        [(2, "cache-key-changed")],
    ),
    Case(
        "a pause of a night",
        [
            *session(chat(RULES, "Hi")),
            {"ts": "2026-05-03T09:00:00Z", "session": "s1", "request": chat(RULES, "Hi", "Hello.", "Tea?")},
        ],
        [],
    ),
]
