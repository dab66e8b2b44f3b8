"""How long the model, and with it the cache, outlives a call."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.doctor._variables import lasts_s
from promptorder.doctor._words import lasting
from promptorder.model.doctor import Facts, Line, Status

TITLE = "keep-alive"
ORDER = 40
_SHORT_S = 60.0


def judge(facts: Facts) -> Iterator[Line]:
    """The server's default; where it cannot be known, what is left of the loaded model's time."""
    server, model = facts.before, facts.model
    if server is None or not server.address or (model is not None and model.remote_host):
        return
    variable = (server.environment.server or {}).get("OLLAMA_KEEP_ALIVE")
    seconds = lasts_s(variable) if variable is not None else None
    where = f"OLLAMA_KEEP_ALIVE={variable}"
    if seconds is None and facts.default_keep_alive_s is not None:
        seconds, where = facts.default_keep_alive_s, "tried out"
    if seconds is None and server.environment.server is not None:
        seconds, where = 300.0, "Ollama's default"
    if seconds is None:
        left = server.ours.seconds_left if server.ours is not None else None
        text = f"cannot be seen: {server.environment.unseen}" if server.environment.unseen else "not told"
        if left is not None:
            text += f"; the loaded model stays {'' if left == float('inf') else 'another '}{lasting(left)}"
        yield Line(Status.UNKNOWN, text, "send keep_alive in each call, such as 15m")
    elif seconds == 0:
        yield Line(
            Status.PROBLEM,
            f"0 ({where}): the model is unloaded after each call, and nothing is ever reused",
            "OLLAMA_KEEP_ALIVE=5m ollama serve, or send keep_alive in each call",
        )
    elif seconds < _SHORT_S:
        yield Line(
            Status.NOTE,
            f"{lasting(seconds)} ({where}): after a longer pause everything is loaded and read anew",
            "OLLAMA_KEEP_ALIVE=5m ollama serve, or send keep_alive in each call",
        )
    else:
        yield Line(Status.OK, f"{lasting(seconds)} ({where})")
