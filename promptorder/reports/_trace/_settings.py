"""What an option of a policy is called where the real engine or service is set."""

from __future__ import annotations

from collections.abc import Mapping

from promptorder.model.trace_result import PolicyResult

_NAMES: dict[tuple[str, str], str] = {
    ("ollama", "parallel"): "OLLAMA_NUM_PARALLEL={}",
    ("ollama-runner", "parallel"): "OLLAMA_NUM_PARALLEL={}",
    ("ollama-runner", "multiuser_cache"): "OLLAMA_MULTIUSER_CACHE=1",
    ("ollama", "context_tokens"): "num_ctx, or OLLAMA_CONTEXT_LENGTH={}",
    ("ollama-runner", "context_tokens"): "num_ctx {}",
    ("ollama", "cache_ram_mib"): "LLAMA_ARG_CACHE_RAM={}",
    ("llama-server", "cache_ram_mib"): "--cache-ram {}",
    ("llama-server", "slot_prompt_similarity"): "--slot-prompt-similarity {}",
    ("vllm", "num_blocks"): "--num-gpu-blocks-override {}, if they fit",
    ("sglang", "capacity_tokens"): "--max-total-tokens {}, if they fit",
    ("anthropic", "automatic"): "cache_control on the request itself",
    ("anthropic", "mark_system"): "cache_control on the last block of the system text",
    ("openai", "mark_system"): "prompt_cache_breakpoint on the last block of the system text",
    ("anthropic", "lifetime_s"): '"ttl": "1h" in the marks',
    ("openai", "lifetime_s"): '"prompt_cache_retention": "24h"',
}


def meaning(policy: PolicyResult, changed: Mapping[str, object]) -> str:
    """The flags, variables or fields that stand for these options; empty where they are not known."""
    options = {**policy.all_options, **changed}
    found = []
    for name, value in changed.items():
        if name == "keep_alive_s":
            found.append(f"OLLAMA_KEEP_ALIVE={_duration(value)}")
        elif policy.name == "llama-server" and name in ("slots", "context_tokens"):
            found.append(f"-np {options['slots']} -c {_context_tokens(options)}")
        elif (policy.name, name) in _NAMES:
            found.append(_NAMES[policy.name, name].format(value))
    return ", ".join(dict.fromkeys(found))


def _duration(value: object) -> str:
    if not isinstance(value, (int, float)):
        return "-1"
    return f"{value / 3600:g}h" if value >= 3600 else f"{value / 60:g}m"


def _context_tokens(options: Mapping[str, object]) -> int:
    """``-c`` is that of all slots together."""
    each, slots = int(str(options["context_tokens"])), int(str(options["slots"]))
    return each if options.get("unified") else each * slots
