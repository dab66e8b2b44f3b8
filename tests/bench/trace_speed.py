"""How fast traces are replayed, in what memory, beside other simulators on the same trace.

Run by hand: ``python tests/bench/trace_speed.py [--trace conversation_trace.jsonl] [--peers FOLDER] [--runs 3]``. Prints Markdown.

- *Replay alone*: the requests lie in memory; CPU seconds of the best of several replays, each row in a process of its own. Without a trace one
  of the same shape is made. Token lists are made: sessions of 4 turns, 2,400 tokens a prompt.
- *Growth*: one policy over token lists of one, two and four times as many requests.
- *Whole commands*: ``promptorder trace`` as a process, from the file to the table; a made log of raw texts too.
- *Others*: ``kvcache-simulator`` and ``prefixlens``, installed from the package index into a virtual environment in FOLDER where they are not
  there yet, whole processes on the same trace. The first compiles its C++ core on first use, in the run that fills caches.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import venv
from array import array
from collections.abc import Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _processes import Cost, in_turn

from promptorder.model.trace import TraceRequest
from promptorder.policies._options import parse_policy
from promptorder.replay import replay

PUBLISHED = Path(__file__).resolve().parents[3] / "shared/traces/mooncake-fast25/conversation_trace.jsonl"
BLOCK_TOKENS = 512
PROMPT_TOKENS = 2400
TURNS = 4
PEERS = ("kvcache-simulator==0.1.3", "prefixlens==0.1.0")
PEER_MODEL, PEER_GIB = "cohere-command-r-v01", "64"
WHOLE_POLICY = "vllm,block_tokens=512,num_blocks=30001"

BY_HASHES = (
    "unlimited",
    "unlimited,lifetime_s=300",
    "vllm",
    "vllm,num_blocks=187501",
    "vllm,hash_block_tokens=16,num_blocks=5860",
    "sglang",
    "sglang,capacity_tokens=3000000",
    "sglang,hash_block_tokens=1,capacity_tokens=5859",
)
BY_TOKENS = (
    "unlimited",
    "modular",
    "vllm,num_blocks=20000",
    "sglang,capacity_tokens=320000",
    "llama-server,slots=4,cache_ram_mib=0",
    "llama-server,slots=4",
)


def hashed_rows(path: Path) -> list[tuple[list[int], int]]:
    """Hash ids and length of each request of a trace in Mooncake's form."""
    rows = (json.loads(line) for line in path.open(encoding="utf-8"))
    return [(row["hash_ids"], row["input_length"]) for row in rows]


def write_like_published(path: Path, requests: int = 12_000) -> None:
    """A trace of the published one's shape: conversations that share a first block, 24 blocks a prompt on average."""
    random, fresh = Random(1), 1
    open_ones: list[list[int]] = []
    with path.open("w", encoding="utf-8") as file:
        for index in range(requests):
            ids = (
                open_ones.pop(random.randrange(len(open_ones)))
                if open_ones and random.random() < 0.45
                else [0]
            )
            more = 1 + int(random.expovariate(1 / 14))
            ids = ids + list(range(fresh, fresh + more))
            fresh += more
            open_ones = [*open_ones[-400:], ids]
            length = BLOCK_TOKENS * len(ids) - random.randrange(BLOCK_TOKENS)
            row = {"timestamp": 300 * index, "input_length": length, "output_length": 300, "hash_ids": ids}
            file.write(json.dumps(row) + "\n")


def token_lists(requests: int) -> list[TraceRequest]:
    """Sessions in turn, each prompt the one before with its last quarter anew."""
    random = Random(2)
    texts = [array("I")] * max(1, requests // TURNS)
    made = []
    for index in range(requests):
        at = index % len(texts)
        kept = texts[at][: PROMPT_TOKENS * 3 // 4]
        texts[at] = kept + array("I", random.choices(range(50_000), k=PROMPT_TOKENS - len(kept)))
        made.append(TraceRequest(index, index, texts[at], at_s=float(index)))
    return made


def child(policy: str, trace: str, runs: int) -> None:
    """Replay and print requests, CPU seconds of the best run, and the process's peak memory."""
    if trace.isdigit():
        requests = token_lists(int(trace))
    else:
        requests = [
            TraceRequest(
                index,
                index + 1,
                array("I", ids),
                prompt_tokens=length,
                hash_block_tokens=BLOCK_TOKENS,
                at_s=index * 0.3,
            )
            for index, (ids, length) in enumerate(hashed_rows(Path(trace)))
        ]
    best = float("inf")
    for _ in range(runs):
        begun = time.process_time()
        replay(requests, [parse_policy(policy).open()])
        best = min(best, time.process_time() - begun)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([len(requests), best, peak_mib]))


def measured(policy: str, trace: str, runs: int) -> tuple[int, float, float]:
    command = [sys.executable, __file__, "--child", policy, trace, "--runs", str(runs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    requests, cpu_s, peak_mib = json.loads(done.stdout)
    return requests, cpu_s, peak_mib


def show_replays(title: str, policies: Sequence[str], trace: str, runs: int) -> None:
    print(f"\n### {title}\n\n| policy | requests/s | peak MiB |\n|---|---|---|")
    for policy in policies:
        requests, cpu_s, peak_mib = measured(policy, trace, runs)
        print(f"| `{policy}` | {requests / cpu_s:,.0f} | {peak_mib:.0f} |", flush=True)


def show_growth(policies: Sequence[str], runs: int) -> None:
    print(
        "\n### Growth: token lists, microseconds a request\n\n| policy | 1,000 | 2,000 | 4,000 |\n|---|---|---|---|"
    )
    for policy in policies:
        each = [measured(policy, str(number), runs) for number in (1000, 2000, 4000)]
        print(
            f"| `{policy}` |" + "".join(f" {1e6 * cpu / number:.0f} |" for number, cpu, _ in each), flush=True
        )


def show_costs(title: str, requests: int, costs: dict[str, Cost]) -> None:
    print(f"\n### {title}\n\n| command | CPU s | requests per CPU s | peak MiB |\n|---|---|---|---|")
    for name, cost in costs.items():
        print(
            f"| {name} | {cost.cpu_s:.2f} | {requests / cost.cpu_s:,.0f} | {cost.peak_mib:.0f} |", flush=True
        )


def write_raw_texts(path: Path, requests: int) -> None:
    """Prompts as text, some 2,400 tokens each, in sessions of four turns."""
    random = Random(3)
    words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 8))) for _ in range(4000)]
    texts: list[list[str]] = [[] for _ in range(max(1, requests // TURNS))]
    with path.open("w", encoding="utf-8") as file:
        for index in range(requests):
            at = index % len(texts)
            kept = texts[at][:1300]
            texts[at] = kept + random.choices(words, k=1700 - len(kept))
            body = {"model": "m", "prompt": " ".join(texts[at])}
            file.write(json.dumps({"ts": 1.7e9 + index, "session": str(at), "request": body}) + "\n")


def peer_programs(folder: Path) -> Path:
    """Where the others' commands lie; they are installed there first where they are not."""
    programs = folder / "bin"
    if not (programs / "kvcache-simulator").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([programs / "pip", "install", "--quiet", *PEERS], check=True)
    return programs


def peer_commands(
    programs: Path, rows: list[tuple[list[int], int]], folder: Path
) -> dict[str, Sequence[str]]:
    """One size of cache each; prefixlens is given the ids as tokens of blocks of one."""
    blocks, tokens = folder / "blocks.jsonl", folder / "tokens.jsonl"
    with blocks.open("w") as one, tokens.open("w") as other:
        for index, (ids, length) in enumerate(rows):
            row = {"block_size": BLOCK_TOKENS, "hash_ids": ids, "input_length": length}
            one.write(json.dumps(row) + "\n")
            other.write(json.dumps({"request_id": str(index), "token_ids": ids}) + "\n")
    simulator = [str(programs / "kvcache-simulator"), "run", "--trace", str(blocks), "--model", PEER_MODEL]
    simulator += ["--policies", "lru", "--budgets-gib", PEER_GIB, "--no-progress", "--backend"]
    lens = [str(programs / "prefixlens"), "analyze", "--block-size", "1", "--capacity-blocks", "30000"]
    return {
        "kvcache-simulator, C++": [*simulator, "cpp"],
        "kvcache-simulator, Python": [*simulator, "python"],
        "prefixlens": [*lens, str(tokens)],
    }


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--trace", type=Path, default=PUBLISHED)
    options.add_argument("--peers", type=Path)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--texts", type=int, default=10_000)
    options.add_argument("--child", nargs=2)
    given = options.parse_args()
    if given.child:
        policy, requests = given.child
        child(policy, requests, given.runs)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        trace: Path = given.trace
        if not trace.exists():
            trace = folder / "made_trace.jsonl"
            write_like_published(trace)
        rows = hashed_rows(trace)
        show_replays(f"Replay alone: {trace.name}, {len(rows):,} requests", BY_HASHES, str(trace), given.runs)
        show_replays("Replay alone: 4,000 token lists of 2,400", BY_TOKENS, "4000", given.runs)
        show_growth(("unlimited", "vllm,num_blocks=20000", "sglang,capacity_tokens=320000"), given.runs)
        command = [sys.executable, "-m", "promptorder", "trace", "--quiet"]
        whole: dict[str, Sequence[str]] = {
            f"`promptorder trace --policy {WHOLE_POLICY}`": [*command, "--policy", WHOLE_POLICY, str(trace)]
        }
        if given.peers:
            whole |= peer_commands(peer_programs(given.peers), rows, folder)
        show_costs(f"Whole commands: {trace.name}", len(rows), in_turn(whole, given.runs))
        texts = folder / "texts.jsonl"
        write_raw_texts(texts, given.texts)
        raw: dict[str, Sequence[str]] = {
            f"`--policy {name}`": [*command, "--policy", name, str(texts)]
            for name in ("llama-server", "vllm")
        }
        show_costs(
            f"Whole commands: {given.texts:,} raw texts of some 2,400 tokens",
            given.texts,
            in_turn(raw, given.runs),
        )


if __name__ == "__main__":
    main()
