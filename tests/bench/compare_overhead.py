"""promptorder's own share of a comparison's time, beside a bare script that sends the same calls.

Run by hand: ``python tests/bench/compare_overhead.py [--model smollm2] [--runs 3]``. It starts a real Ollama 0.33.3,
lets promptorder compare the fixture, keeps every request that it sent, and then times in turn promptorder
and a script that sends just those requests and waits as long between them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import servers
import tiny_gguf

ROOT = Path(__file__).resolve().parents[2]

# Runs promptorder with its transport watched: what is sent, and how long the calls and the waits take.
_WATCHED = """
import json, sys, time
from promptorder.engines import _ollama_client as c
import promptorder.api as api
log, spent = [], [0.0]
def watched(name):
    plain = getattr(c.OllamaClient, name)
    def call(self, path, body=None):
        started = time.perf_counter()
        try:
            result = plain(self, path, body) if body is not None else plain(self, path)
            return list(result) if name == "stream" else result
        finally:
            log.append([name, path, body]); spent[0] += time.perf_counter() - started
    setattr(c.OllamaClient, name, call)
for name in ("get", "post", "stream"): watched(name)
sleep = time.sleep
def slept(s):
    log.append(["sleep", s, None]); spent[0] += s; sleep(s)
api.time.sleep = slept
from promptorder.cli import run
code = run(sys.argv[2:])
json.dump({"log": log, "spent_s": spent[0]}, open(sys.argv[1], "w"))
sys.exit(code)
"""

_BARE = """
import json, sys, time, httpx
client = httpx.Client(base_url=sys.argv[2], timeout=None)
for kind, path, body in json.load(open(sys.argv[1]))["log"]:
    if kind == "sleep": time.sleep(path)
    elif kind == "get": client.get(path).json()
    elif kind == "post": client.post(path, json=body).json()
    else:
        with client.stream("POST", path, json=body) as reply:
            for line in reply.iter_lines(): json.loads(line)
"""


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["tiny", "smollm2"], default="smollm2")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, servers.OllamaServer("0.33.3") as server:
        if arguments.model == "tiny":
            path = tiny_gguf.make_tiny_gguf(Path(folder) / "tiny.gguf")
            server.create_model("tiny", path, tiny_gguf.TEMPLATE, tiny_gguf.PARAMETERS)
        else:
            server.create_model("smollm2", servers.ensure_smollm2())
        _measure(server.url, arguments.model, arguments.runs, Path(folder))


def _measure(url: str, model: str, runs: int, folder: Path) -> None:
    log = folder / "log.json"
    compare = ["compare", str(ROOT / "fixtures/report.pdf"), "-q", str(ROOT / "fixtures/questions.txt")]
    compare += ["--host", url, "--model", model, "--quiet"]
    ours, outside, bare = [], [], []
    for _ in range(runs):
        ours.append(_wall([sys.executable, "-c", _WATCHED, str(log), *compare]))
        outside.append(ours[-1] - json.loads(log.read_text())["spent_s"])
        bare.append(_wall([sys.executable, "-c", _BARE, str(log), url]))
    print(f"{model}, Ollama 0.33.3, medians of {runs} runs in turn")
    print(f"  promptorder compare                   {median(ours):8.2f} s")
    print(f"  the same calls from a bare script     {median(bare):8.2f} s")
    print(f"  promptorder outside of calls          {median(outside):8.2f} s")
    print(
        f"  its share of the comparison           {100 * median(outside) / median(ours):8.2f} %  (goal: at most 1 %)"
    )


def _wall(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
