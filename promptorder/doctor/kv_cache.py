"""How the cache is stored."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status

TITLE = "KV cache"
ORDER = 45


def judge(facts: Facts) -> Iterator[Line]:
    """The type and flash attention, from the runner's command line, else from the server's variables."""
    now, model = facts.now, facts.model
    if now is None or not now.address or model is None or model.remote_host:
        return
    variables = now.environment.server
    if now.runner is None and variables is None:
        yield Line(Status.UNKNOWN, f"type and flash attention cannot be seen: {now.environment.unseen}")
        return
    runner, seen = now.runner, variables or {}
    kind = (runner.cache_type if runner else None) or seen.get("LLAMA_ARG_CACHE_TYPE_K")
    kind = kind or seen.get("OLLAMA_KV_CACHE_TYPE") or "f16"
    flash = (runner.flash_attention if runner else None) or seen.get("LLAMA_ARG_FLASH_ATTN")
    flash = flash or seen.get("OLLAMA_FLASH_ATTENTION") or "left to the server"
    flash = {"1": "on", "true": "on", "0": "off", "false": "off"}.get(flash, flash)
    text = f"type {kind}, flash attention {flash}"
    if kind in ("f16", "f32", "bf16"):
        yield Line(Status.OK, text)
    else:
        yield Line(
            Status.NOTE,
            f"{text}: answers may differ a little from those of f16",
            "compare only runs of the same type",
        )
