"""The environment variables that change what a server keeps of its prompts, and how."""

from __future__ import annotations

EFFECTS = {
    "OLLAMA_CONTEXT_LENGTH": "the context of calls that name none",
    "OLLAMA_FLASH_ATTENTION": "another way to compute attention",
    "OLLAMA_KEEP_ALIVE": "how long a model stays loaded after a call",
    "OLLAMA_KV_CACHE_TYPE": "how exactly the cache is stored",
    "OLLAMA_MAX_LOADED_MODELS": "how many models stay loaded beside each other",
    "OLLAMA_MULTIUSER_CACHE": "how Ollama's own runners choose a slot",
    "OLLAMA_NEW_ENGINE": "which of Ollama's own runners is used",
    "OLLAMA_NUM_PARALLEL": "how many slots there are, each with a cache of its own",
    "LLAMA_ARG_CACHE_IDLE_SLOTS": "whether idle slots move into the store of earlier prompts",
    "LLAMA_ARG_CACHE_PROMPT": "whether a slot keeps its prompt",
    "LLAMA_ARG_CACHE_RAM": "the size of the store of earlier prompts, in MiB",
    "LLAMA_ARG_CACHE_REUSE": "reuse of parts that have moved",
    "LLAMA_ARG_CACHE_TYPE_K": "how exactly the cache is stored",
    "LLAMA_ARG_CACHE_TYPE_V": "how exactly the cache is stored",
    "LLAMA_ARG_CHECKPOINT_MIN_SPACING_NT": "where a sliding-window model can go on from",
    "LLAMA_ARG_CONTEXT_SHIFT": "what happens to a prompt that is too long",
    "LLAMA_ARG_CTX_CHECKPOINTS": "where a sliding-window model can go on from",
    "LLAMA_ARG_CTX_SIZE": "the context",
    "LLAMA_ARG_FLASH_ATTN": "another way to compute attention",
    "LLAMA_ARG_KV_OFFLOAD": "where the cache lies",
    "LLAMA_ARG_KV_UNIFIED": "whether slots share one cache",
    "LLAMA_ARG_N_PARALLEL": "how many slots there are, each with a cache of its own",
    "LLAMA_ARG_SPEC_TYPE": "a second model that guesses ahead",
    "LLAMA_ARG_SWA_FULL": "whether a sliding-window model keeps its whole prompt",
}
_OFF = {"0", "off", "false", "disabled"}


def is_off(value: str) -> bool:
    """Whether a variable's value switches something off."""
    return value.strip().lower() in _OFF


def lasts_s(value: str) -> float | None:
    """OLLAMA_KEEP_ALIVE in seconds; infinite where it is negative, None where it cannot be read."""
    import math
    import re

    text = value.strip().strip('"')
    if re.fullmatch(r"-?\d+", text):
        seconds = float(text)
    else:
        units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
        parts = re.findall(r"(\d+(?:\.\d+)?)(h|ms|m|s)", text)
        if not parts or "".join(number + unit for number, unit in parts) != text.lstrip("-"):
            return None
        seconds = sum(float(number) * units[unit] for number, unit in parts)
        seconds = -seconds if text.startswith("-") else seconds
    return math.inf if seconds < 0 else seconds
