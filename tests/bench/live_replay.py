"""The slot policies held to real servers, request by request.

Run by hand: ``python tests/bench/live_replay.py [--requests 500] [--seed 1]``. Random prompts that share starts are sent to a real
llama-server and a real Ollama 0.33.3 and 0.6.5 with 1, 2 and 4 slots, one generated token each, and replayed. Every count of the
replay must be the server's own; the last column says how many requests were replayed a second. Ends with 1 where one differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from slot_traffic import Asked, LlamaServer, Traffic, ask_ollama, converse, differing, replayed, tiny_ollama
from tiny_gguf import make_tiny_gguf

CONTEXT_TOKENS = 4096
SLOTS = (1, 2, 4)
Ask = Callable[[list[int]], Asked]


@contextmanager
def llama_server(model: Path, slots: int) -> Iterator[Ask]:
    with LlamaServer(model, "-c", str(slots * CONTEXT_TOKENS), "-np", str(slots)) as server:
        yield server.ask


@contextmanager
def ollama(version: str, model: Path, slots: int, multiuser: str = "") -> Iterator[Ask]:
    env = {"OLLAMA_NUM_PARALLEL": str(slots), "OLLAMA_MULTIUSER_CACHE": multiuser}
    with tiny_ollama(version, model, **env) as server:
        yield lambda prompt: ask_ollama(server, prompt, context_tokens=CONTEXT_TOKENS)


SERVERS = {
    "llama-server": (llama_server, "llama-server,context_tokens=4096,slots={}"),
    "Ollama 0.33.3": (
        lambda model, slots: ollama("0.33.3", model, slots),
        "ollama,context_tokens=4096,parallel={}",
    ),
    "Ollama 0.6.5": (lambda model, slots: ollama("0.6.5", model, slots), "ollama-runner,parallel={}"),
    "  multi-user": (
        lambda model, slots: ollama("0.6.5", model, slots, "1"),
        "ollama-runner,parallel={},multiuser_cache=true",
    ),
}


def main() -> int:
    """Print a row for each server and number of slots."""
    parser = argparse.ArgumentParser(description="Hold the slot policies to real servers.")
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    wrong = 0
    print(
        f"{'server':14} {'slots':>5} {'requests':>8} {'prompt':>9} {'reused':>9} {'differing':>9} {'replay':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        model = make_tiny_gguf(Path(folder) / "tiny.gguf")
        for name, (opened, policy) in SERVERS.items():
            for slots in SLOTS:
                with opened(model, slots) as ask:
                    asked = converse(Traffic(given.seed + slots, scale=2, longest=3000), ask, given.requests)
                differ = len(differing(policy.format(slots), asked))
                started = time.perf_counter()
                served = list(replayed(policy.format(slots), asked))
                speed = len(served) / (time.perf_counter() - started)
                tokens = sum(each.prompt_tokens for each in served)
                reused = sum(each.reused_tokens or 0 for each in asked)
                print(
                    f"{name:14} {slots:5} {len(asked):8,} {tokens:9,} {reused:9,} {differ:9,} {speed:7,.0f}/s",
                    flush=True,
                )
                wrong += differ
    print("every count is the server's own" if not wrong else f"{wrong} counts differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
