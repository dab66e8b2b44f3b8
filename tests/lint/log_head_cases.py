"""Logs whose prompts begin with something that changes, and logs that only look so."""

from __future__ import annotations

from request_building import (
    ANSWER,
    HEAD,
    LONG,
    MARK,
    NOTES,
    RULES,
    Case,
    bare,
    block,
    chat,
    claude,
    raw,
    said,
    session,
)

CASES = [
    # The head of the prompt changes
    Case(
        "a clock at the head, a chat that grows",
        session(
            chat(f"It is 10:00:01. {RULES}", "Hi"),
            chat(f"It is 10:00:44. {RULES}", "Hi", "Hello.", "Gloves?"),
            chat(f"It is 10:01:20. {RULES}", "Hi", "Hello.", "Gloves?", "At the door.", "Tea?"),
        ),
        [(2, HEAD)],
    ),
    Case(
        "a clock at the end of the system text, before the history",
        session(
            chat(f"{RULES}\nNow: 10:00:01", "Hi", ANSWER, "Tea?"),
            chat(f"{RULES}\nNow: 10:00:44", "Hi", ANSWER, "Tea?", "No.", "Why?"),
        ),
        [(2, HEAD)],
    ),
    Case(
        "a clock at the end of the system text, other questions",
        bare(
            *(
                chat(f"{RULES}\nNow: 10:0{n}:01", f"Question number {n} about boats?", model="gpt-4o")
                for n in range(4)
            )
        ),
        [],
    ),
    Case(
        "a clock in the newest message only",
        session(chat(RULES, "[10:00:01] Hi"), chat(RULES, "[10:00:01] Hi", "Hello.", "[10:00:44] Gloves?")),
        [],
    ),
    Case(
        "an epoch",
        bare(*(raw(f"ts={1764400000 + n}\n{RULES}\nTicket: boat {n}") for n in range(3))),
        [(2, HEAD)],
    ),
    Case(
        "the day changes",
        session(
            chat(f"Today is 2 May 2026. {RULES}", "Hi", ANSWER, "Tea?"),
            chat(f"Today is 3 May 2026. {RULES}", "Hi", ANSWER, "Tea?", "No.", "Why?"),
        ),
        [(2, HEAD)],
    ),
    Case(
        "a 12-hour clock",
        bare(*(chat(f"Time: 9:1{n} AM\n{RULES}", f"Where is boat {n}?") for n in range(3))),
        [(2, HEAD)],
    ),
    Case(
        "Japanese time",
        bare(*(chat(f"現在 10時1{n}分。{RULES}", f"Where is boat {n}?") for n in range(3))),
        [(2, HEAD)],
    ),
    Case(
        "a nonce in a block of its own",
        session(
            claude([block("x-usage: n=91ab2c"), block(LONG, **MARK)], said("user", "Hi")),
            claude(
                [block("x-usage: n=77fe01"), block(LONG, **MARK)],
                said("user", "Hi"),
                said("assistant", "Hello."),
                said("user", "Tea?"),
            ),
        ),
        [(2, HEAD)],
    ),
    Case(
        "a scratch folder with an id",
        bare(
            *(
                chat(f"Scratch: /tmp/work-{ident}/pad\n{RULES}", "List the boats.", model="local-model")
                for ident in ("3f2a9c1e", "b81d4470", "09ce55d1")
            )
        ),
        [(2, HEAD)],
    ),
    Case(
        "git state",
        session(
            chat(f"branch: fix/oars, 2 files dirty\n{RULES}", "Run", "Done.", "Again"),
            chat(f"branch: fix/oars, 3 files dirty\n{RULES}", "Run", "Done.", "Again", "Done.", "More"),
        ),
        [(2, HEAD)],
    ),
    Case(
        "a counter",
        session(
            chat(f"48,100 tokens left.\n{RULES}", "Run"),
            chat(f"47,022 tokens left.\n{RULES}", "Run", "Done.", "Again"),
        ),
        [(2, HEAD)],
    ),
    Case(
        "notes per question before the rules",
        bare(
            *(
                chat(f"Notes: {note}\n{RULES}", f"Question {n}?", model="gpt-4o")
                for n, note in enumerate(NOTES)
            )
        ),
        [(2, HEAD)],
    ),
    Case(
        "notes before the history of a session",
        session(
            chat(f"{RULES}\nKnown: {NOTES[0]}", "Hi"),
            chat(f"{RULES}\nKnown: {NOTES[1]}", "Hi", "Hello.", "Tea?"),
        ),
        [(2, HEAD)],
    ),
    Case(
        "notes in the newest message",
        session(
            chat(RULES, f"{NOTES[0]}\n\nHi"),
            chat(RULES, f"{NOTES[0]}\n\nHi", "Hello.", f"{NOTES[1]}\n\nTea?"),
        ),
        [],
    ),
    Case(
        "the question first, then the handbook",
        bare(
            *(
                raw(f"Question: {q}\n\nAnswer from this handbook:\n{LONG}")
                for q in ("Where is the dory?", "May I film?", "Is there tea?")
            )
        ),
        [(2, HEAD)],
    ),
    Case(
        "the question first in a chat message",
        session(
            {"model": "gpt-5-mini", "messages": [said("user", f"Question: Where is the dory?\n\n{LONG}")]},
            {"model": "gpt-5-mini", "messages": [said("user", f"Question: May I film?\n\n{LONG}")]},
        ),
        [(2, HEAD)],
    ),
    Case(
        "the handbook first",
        bare(
            *(raw(f"{LONG}\n\nQuestion: {q}") for q in ("Where is the dory?", "May I film?", "Is there tea?"))
        ),
        [],
    ),
    Case(
        "one new version of the rules",
        bare(
            *(chat(RULES, f"Is boat {n} open?", model="gpt-4o") for n in range(5)),
            *(
                chat(
                    RULES.replace("five sentences", "four sentences").replace("boat museum", "ship museum"),
                    f"Is boat {n} shut?",
                    model="gpt-4o",
                )
                for n in range(5)
            ),
        ),
        [],
    ),
    Case(
        "several agents with the same rules behind their names",
        bare(
            *(
                chat(f"You are the {who} agent.\n{RULES}", f"Task {n} for you?", model="gpt-4o")
                for n in range(4)
                for who in ("billing", "tour", "rope")
            )
        ),
        [],
    ),
    Case(
        "two programs side by side",
        bare(
            *(
                request
                for n in range(4)
                for request in (
                    chat(RULES, f"Where is boat {n}?", model="gpt-4o"),
                    chat(
                        "Translate into Danish and keep names. " * 8,
                        f"Sentence {n} of the leaflet.",
                        model="gpt-4o",
                    ),
                )
            )
        ),
        [],
    ),
    Case(
        "responses interface with instructions",
        session(
            {"model": "gpt-5-mini", "instructions": f"Now 10:00:01\n{RULES}", "input": [said("user", "Hi")]},
            {
                "model": "gpt-5-mini",
                "instructions": f"Now 10:00:44\n{RULES}",
                "input": [said("user", "Hi"), said("assistant", "Hello."), said("user", "Tea?")],
            },
        ),
        [(2, HEAD)],
    ),
    Case(
        "an injected memory message before the history",
        session(
            chat(RULES, "Hi", ANSWER, "Tea?"),
            {
                "model": "qwen3:8b",
                "messages": [
                    said("system", RULES),
                    said("system", "Memory: likes boats."),
                    said("user", "Hi"),
                    said("assistant", ANSWER),
                    said("user", "Tea?"),
                    said("assistant", "No."),
                    said("user", "Why?"),
                ],
            },
        ),
        [(2, HEAD)],
    ),
    Case(
        "the weekday",
        session(
            *(
                chat(f"Today is {day}. {RULES}", *["Hi", "Hello."] * n, "Tea?")
                for n, day in enumerate(("Monday", "Monday", "Tuesday"))
            )
        ),
        [(3, HEAD)],
    ),
    Case(
        "the cursor of an editor",
        session(
            *(
                chat(f"Cursor: line {7 * n}, column 4\n{RULES}", *["Hi", "Hello."] * n, "Tea?")
                for n in range(3)
            )
        ),
        [(2, HEAD)],
    ),
    Case(
        "a list of files that grows, before the history",
        session(
            *(
                chat(
                    f"{RULES}\nFiles: {' '.join(['a.py', 'b.py', 'c.py'][: n + 1])}",
                    *["Hi", "Hello."] * n,
                    "Tea?",
                )
                for n in range(3)
            )
        ),
        [(2, HEAD)],
    ),
    Case(
        "who asks, before the rules",
        bare(
            *(
                chat(f"You speak with {who}.\n{RULES}", f"Is {who} on the list?", model="gpt-4o")
                for who in ("Ada", "Bo", "Cy")
            )
        ),
        [(2, HEAD)],
    ),
    Case(
        "passages behind the rules, some of them found again",
        bare(
            *(
                chat(
                    RULES,
                    f"Context:\n{LONG[301 * n : 301 * n + 900]}\n\nQuestion: where is boat {n}?",
                    model="gpt-4o",
                )
                for n in range(4)
            )
        ),
        [],
    ),
    Case(
        "passages behind the rules of a raw prompt, some of them found again",
        bare(
            *(
                raw(
                    f"{RULES}\n\n{NOTES[n % 3] * 9}\n{NOTES[(n + 1) % 3] * 9}\n\nQuestion: where is boat {n}?"
                )
                for n in range(4)
            )
        ),
        [],
    ),
    Case(
        "short tasks under a short text",
        bare(
            *(chat("Translate into Danish.", f"Sentence {n} of {31 * n}.", model="gpt-4o") for n in range(6))
        ),
        [],
    ),
]
