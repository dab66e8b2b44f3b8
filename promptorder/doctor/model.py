"""The model, and whether it can be measured at all."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.doctor._words import listed, size
from promptorder.model.doctor import Facts, Line, Status

TITLE = "model"
ORDER = 20


def judge(facts: Facts) -> Iterator[Line]:
    """What it is; or why there is none to examine."""
    refusal, server, model = facts.refusal, facts.before, facts.model
    if server is None:
        return
    if refusal is not None:
        status = Status.UNKNOWN if refusal.kind == "choose" else Status.PROBLEM
        hint = refusal.hint
        if refusal.kind == "choose" and server.models:
            hint = f"promptorder doctor --model NAME; there are: {listed(server.models)}"
        yield Line(status, refusal.message, hint)
        return
    if model is None:
        return
    parts = [model.family, model.parameters and f"{model.parameters} parameters", model.quantization]
    if model.file_bytes:
        parts.append(f"{size(model.file_bytes)} file")
    if model.digest:
        parts.append(f"digest {model.digest.removeprefix('sha256:')[:12]}")
    text = f"{model.name}: {', '.join(part for part in parts if part)}"
    if model.remote_host:
        yield Line(
            Status.NOTE,
            f"{text}; a cloud model: what is sent to it leaves this machine for {model.remote_host}",
            "choose a local model with --model",
        )
    else:
        yield Line(Status.OK, text)
    if "thinking" in model.capabilities:
        yield Line(
            Status.NOTE,
            "it can think: promptorder asks without, and some models think all the same",
            "compare prefill rather than total time",
        )
