"""Where the model lies while it is loaded."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.doctor._words import size
from promptorder.model.doctor import Facts, Line, Status

TITLE = "memory"
ORDER = 25


def judge(facts: Facts) -> Iterator[Line]:
    """On the GPU, on the CPU, or partly: then reading is slow."""
    now, model = facts.now, facts.model
    if now is None or not now.address or model is None or model.remote_host:
        return
    loaded, runner = now.ours, now.runner
    if loaded is None:
        yield Line(Status.OK, "the model is not loaded: the next call waits until it is")
        return
    whole, on_gpu = loaded.memory_bytes, loaded.gpu_bytes
    if whole is None or on_gpu is None:
        if runner is not None and runner.memory_bytes:
            yield Line(Status.OK, f"its process holds {size(runner.memory_bytes)} of main memory")
        else:
            yield Line(Status.UNKNOWN, "the server does not tell how much memory the model takes")
    elif on_gpu == 0:
        yield Line(Status.OK, f"{size(whole)} in main memory, nothing on a GPU")
    elif on_gpu < whole:
        yield Line(
            Status.NOTE,
            f"only {on_gpu / whole:.0%} of {size(whole)} are on the GPU: prompts are read several times slower",
            "a smaller context (num_ctx), a smaller quantisation, or `ollama stop` for other models",
        )
    else:
        yield Line(Status.OK, f"{size(whole)}, all on the GPU")
