"""Logs of a few requests, for tests of what the command makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MANUAL = list(range(100, 400))
"""What every prompt begins with."""


def ids(question: int, *, length: int = 40) -> list[int]:
    """A prompt: 300 shared tokens, then the question's own."""
    return MANUAL + [1000 + question * 100 + each for each in range(length)]


def put(path: Path, *values: object) -> Path:
    """Write JSON lines; a text is a line as it is."""
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def token_log(path: Path, number: int = 8, **more: Any) -> Path:
    """Prompts as token ids that all begin alike."""
    return put(path, *({"prompt": ids(each), "generated": [7], **more} for each in range(number)))


def two_topics(path: Path) -> Path:
    """Two prompts of 340 and 500 tokens in turn: a cache that holds one of them loses it each time."""
    other = list(range(5000, 5500))
    return put(path, *({"prompt": prompt, "generated": [7]} for _ in range(4) for prompt in (ids(1), other)))


def hash_log(path: Path) -> Path:
    """Mooncake's form: blocks of 512 tokens."""
    rows = [
        {"timestamp": 0, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]},
        {"timestamp": 10, "input_length": 1100, "output_length": 5, "hash_ids": [1, 2, 3]},
        {"timestamp": 20, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]},
    ]
    return put(path, *rows)


def chat_log(path: Path, model: str = "llama3.2:3b", *, clock: bool = False, number: int = 6) -> Path:
    """Requests of one session; with ``clock`` the time stands in front of all of them."""
    manual = "The pump is started by the green switch and stopped by the red one. " * 40
    return put(
        path,
        *(
            {
                "ts": 1_700_000_000 + 20 * each,
                "session": "s",
                "request": {
                    "model": model,
                    "messages": [
                        {
                            "role": "system",
                            "content": (f"It is 10:{each:02d}:07. " if clock else "") + manual,
                        },
                        {"role": "user", "content": f"Question {each}?"},
                    ],
                },
            }
            for each in range(number)
        ),
    )


SERVER_LOG = """\
srv    load_model: loading model 'm.gguf'
slot get_availabl: id  0 | task -1 | selected slot by LRU, t_last = -1
slot launch_slot_: id  0 | task 0 | processing task
slot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 300
slot update_slots: id  0 | task 0 | n_tokens = 0, memory_seq_rm [0, end)
slot print_timing: id  0 | task 0 | prompt eval time =    600.00 ms /   300 tokens (    2.00 ms per token,   500.00 tokens per second)
slot      release: id  0 | task 0 | stop processing: n_tokens = 310, truncated = 0
slot get_availabl: id  0 | task -1 | selected slot by LCP similarity, sim_best = 0.900 (> 0.100 thold), f_keep = 0.900
slot launch_slot_: id  0 | task 5 | processing task
slot update_slots: id  0 | task 5 | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 320
slot update_slots: id  0 | task 5 | n_tokens = 288, memory_seq_rm [288, end)
slot print_timing: id  0 | task 5 | prompt eval time =     64.00 ms /    32 tokens (    2.00 ms per token,   500.00 tokens per second)
slot      release: id  0 | task 5 | stop processing: n_tokens = 330, truncated = 0
"""
