"""Inferred reuse held to the truth, on real servers.

Run by hand: ``python tests/bench/inference.py [--requests 216] [--minutes 12] [--busy] [--only 0.33.3]``; prompts on
0.33.3 have ``--tokens 400 1200``. Blocks like those of a comparison are measured: a cold call, requests that share
between nothing and all with the one before, and the calls that calibrate. Three blocks are one run. The estimator gets
the times and the lengths of the prompts; how much was reused is the server's own count (0.33.3) or in its log (0.6.5).

``--save FILE`` keeps the raw times, one call a line, and ``--replay FILE ...`` judges such files again without a server
(those in tests/bench/timings/ are told of in docs/inference.md); ``--calls 3`` leaves all but so many of each block's
calibration calls out.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import servers
import tiny_gguf

from promptorder.engines.ollama import OllamaEngine
from promptorder.inputs._document import read_document
from promptorder.measure.analysis import NOT_REUSED_TO, REUSED_FROM
from promptorder.measure.calibration import calibration_prompts, curve_of, seconds
from promptorder.measure.inference import Anchors, infer_from_curve, infer_reused
from promptorder.model.comparison import Estimate
from promptorder.model.engine import EngineOptions
from promptorder.model.prompt import Message, Prompt
from promptorder.model.sample import Phase, Reply, Sample

ROOT = Path(__file__).resolve().parents[2]
FOLLOW_UPS = 12
BLOCKS = 3
BOUNDARY_TOKENS = 2
"""A band in whole tokens ends beside a truth that a token's boundary has moved."""


@dataclass(frozen=True)
class Asked:
    """One call and what was really reused, in tokens; its run and block count from 1, ``at_s`` from 1970."""

    server: str
    run: int
    block: int
    phase: str
    question: int
    prompt_tokens: int
    reused_tokens: int
    prefill_ns: int
    elapsed_ns: int
    at_s: float

    @property
    def sample(self) -> Sample:
        """What the estimator sees of it."""
        reply = Reply(
            "", prompt_tokens=self.prompt_tokens, prefill_ns=self.prefill_ns, elapsed_ns=self.elapsed_ns
        )
        at = datetime.fromtimestamp(self.at_s, UTC).isoformat(timespec="milliseconds")
        return Sample("bench", self.block, self.question, Phase(self.phase), "", at, reply)


@dataclass
class Result:
    """The estimates of one method, each with the prompt's length and the truth."""

    rows: list[tuple[int, int, Estimate]] = field(default_factory=list)

    def line(self, name: str) -> str:
        known = [
            (n, truth, e.value, e.low, e.high)
            for n, truth, e in self.rows
            if e.value is not None and e.low is not None and e.high is not None
        ]
        if not known:
            return f"  {name:<24} nothing inferred"
        covered = sum(
            low - BOUNDARY_TOKENS <= truth <= high + BOUNDARY_TOKENS for _, truth, _, low, high in known
        )
        errors = sorted(100 * abs(value - truth) / n for n, truth, value, _, _ in known)
        widths = sorted(100 * (high - low) / n for n, _, _, low, high in known)
        told = [
            (truth / n, low / n >= REUSED_FROM)
            for n, truth, _, low, high in known
            if low / n >= REUSED_FROM or high / n <= NOT_REUSED_TO
        ]
        wrong = sum(share < REUSED_FROM if reused else share > NOT_REUSED_TO for share, reused in told)
        return (
            f"  {name:<24} {len(known):4} of {len(self.rows):3}  {100 * covered / len(known):6.1f} %"
            f"  {median(errors):6.1f} {_at(errors, 0.9):6.1f}  {median(widths):6.1f} {_at(widths, 0.9):6.1f}"
            f"  {len(told):4} told, {wrong} wrong"
        )


def _at(values: Sequence[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


HEAD = f"  {'':<24} {'inferred':>11}  {'covered':>8}  {'error %':>13}  {'width %':>13}  verdicts of single requests"


def main() -> None:
    """Print a table for each server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=6 * BLOCKS * FOLLOW_UPS)
    parser.add_argument("--minutes", type=float, default=12.0, help="begin no further run after so long")
    parser.add_argument("--busy", action="store_true", help="keep two processes busy beside it")
    parser.add_argument("--only", choices=["0.33.3", "0.6.5"])
    parser.add_argument(
        "--tokens", type=int, nargs=2, default=(400, 1200), help="lengths of prompts on 0.33.3"
    )
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the raw times")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="judge kept times again")
    parser.add_argument("--calls", type=int, default=9, help="calibration calls of each block to use at most")
    arguments = parser.parse_args()
    if arguments.replay:
        for path in arguments.replay:
            print(path.name)
            _report(_load(path), arguments.calls)
        return
    asked: list[Asked] = []
    until = time.monotonic() + 60 * arguments.minutes
    with _busy(2 if arguments.busy else 0), tempfile.TemporaryDirectory() as folder:
        if arguments.only != "0.6.5":
            with servers.OllamaServer("0.33.3") as server:
                server.create_model("smollm2", servers.ensure_smollm2())
                bench = _Bench(server, "smollm2", tuple(arguments.tokens), arguments.seed)
                asked += bench.ask_all(arguments.requests, until)
        if arguments.only != "0.33.3":
            with servers.OllamaServer("0.6.5") as server:
                path = tiny_gguf.make_tiny_gguf(Path(folder) / "tiny.gguf")
                server.create_model("tiny", path, tiny_gguf.TEMPLATE, tiny_gguf.PARAMETERS)
                bench = _Bench(server, "tiny", (1000, 2400), arguments.seed)
                asked += bench.ask_all(min(40, arguments.requests), until + 120)
    if arguments.save:
        _save(arguments.save, asked)
    _report(asked, arguments.calls)


def _save(path: Path, asked: Sequence[Asked]) -> None:
    lines = [[each.name for each in fields(Asked)], *(list(asdict(each).values()) for each in asked)]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def _load(path: Path) -> list[Asked]:
    names, *rows = (json.loads(line) for line in path.read_text().splitlines())
    return [Asked(**dict(zip(names, row, strict=True))) for row in rows]


def _report(asked: Sequence[Asked], calls: int) -> None:
    """A table for each server."""
    for server in dict.fromkeys(each.server for each in asked):
        results = {"two anchors": Result(), "curve": Result()}
        kept: list[Asked] = []
        for run in dict.fromkeys(each.run for each in asked if each.server == server):
            part = _with_so_many([each for each in asked if (each.server, each.run) == (server, run)], calls)
            _judge(part, results)
            kept += part
        lengths = sorted(each.prompt_tokens for each in kept if each.phase == Phase.FOLLOW_UP)
        print(f"Ollama {server}, prompts of {lengths[0]:,} to {lengths[-1]:,} tokens")
        print(HEAD)
        for name, result in results.items():
            print(result.line(name))
        extra = [each for each in kept if each.phase in CALIBRATING]
        share = sum(each.elapsed_ns for each in extra) / sum(each.elapsed_ns for each in kept)
        print(f"  {len(extra)} of {len(kept)} calls calibrate: {100 * share:.0f} % of the time", flush=True)


CALIBRATING = (Phase.WARM_REPEAT, Phase.CALIBRATION)


def _with_so_many(asked: Iterable[Asked], calls: int) -> list[Asked]:
    seen: dict[int, int] = {}
    kept = []
    for each in asked:
        if each.phase in CALIBRATING:
            seen[each.block] = seen.get(each.block, 0) + 1
            if seen[each.block] > calls:
                continue
        kept.append(each)
    return kept


class _Bench:
    """Asks one server, and takes down what it really reused."""

    def __init__(self, server: servers.OllamaServer, model: str, lengths: tuple[int, ...], seed: int) -> None:
        self._server, self._lengths, self._chance = server, lengths, random.Random(seed)
        self._engine = OllamaEngine(EngineOptions(model=model, host=server.url, cold="unload"))
        self._engine.use_context(2 * max(lengths))
        self._text = " ".join(read_document(str(ROOT / "fixtures/report.pdf")).text.split())
        self._engine.start_block()
        whole = self._text[:2000]
        tokens = self._engine.ask(_prompt(whole), most_tokens=1).prompt_tokens or len(whole) / 4
        self._characters = len(whole) / tokens

    def ask_all(self, requests: int, until: float) -> list[Asked]:
        """Runs of three blocks until there are so many requests, or the time is over."""
        runs = max(1, round(requests / (BLOCKS * FOLLOW_UPS)))
        of_block = -(-requests // (runs * BLOCKS))
        began, load = time.monotonic(), os.getloadavg()[0]
        asked: list[Asked] = []
        for run in range(1, runs + 1):
            if run > 1 and time.monotonic() > until:
                break
            for block in range(1, BLOCKS + 1):
                asked += self._block(run, block, of_block)
        self._engine.close()
        print(
            f"Ollama {self._server.version}: {time.monotonic() - began:.0f} s; load average of the machine {load:.1f} "
            f"before, {os.getloadavg()[0]:.1f} after, {os.cpu_count()} cores",
            flush=True,
        )
        return asked

    def _block(self, run: int, block: int, follow_ups: int) -> list[Asked]:
        chance, asked = self._chance, []

        def ask(phase: Phase, question: int, prompt: Prompt) -> Reply:
            offset, at_s = self._server.log_offset(), time.time()
            reply = self._engine.ask(prompt, most_tokens=1)
            truth = reply.cached_tokens
            if truth is None:
                truth = self._server.counted_since(offset, 1)[-1].reused_tokens
            numbers = (reply.prompt_tokens or 0, truth, reply.prefill_ns or 0, reply.elapsed_ns or 0)
            asked.append(
                Asked(self._server.version, run, block, phase.value, question, *numbers, round(at_s, 3))
            )
            return reply

        self._engine.start_block()
        texts = _Texts(self._text, self._characters, chance, self._lengths)
        ask(Phase.FIRST, 1, _prompt(texts.last))
        for question in range(2, follow_ups + 2):
            share = chance.choice((0.0, 1.0, chance.random(), chance.random()))
            ask(Phase.FOLLOW_UP, question, _prompt(texts.sharing(share)))
        last = _prompt(texts.last)
        warm = ask(Phase.WARM_REPEAT, question, last)
        key = ("bench", block)
        for prompt in calibration_prompts(last, warm.prompt_tokens or 0, texts.fresh(2000), key):
            ask(Phase.CALIBRATION, question, prompt)
        return asked


class _Texts:
    """Texts that share a given part of the one before."""

    def __init__(
        self, source: str, characters: float, chance: random.Random, lengths: tuple[int, ...]
    ) -> None:
        self._source, self._characters, self._chance, self._lengths = source, characters, chance, lengths
        self.last = self.fresh(chance.randint(lengths[0], lengths[1]))

    def fresh(self, tokens: float) -> str:
        """A text that no other begins with."""
        start = self._chance.randrange(len(self._source))
        nonce = f"{self._chance.randrange(10**9)} "
        text = (self._source[start:] + 2 * self._source)[: round(tokens * self._characters)]
        return nonce + text

    def sharing(self, share: float) -> str:
        """The next text: of its length, about ``share`` is the start of the one before."""
        if share == 1.0:  # a long start and a short question
            kept, new = self.last[: round(0.99 * len(self.last))], self.fresh(self._chance.randint(1, 40))
        else:
            tokens = self._chance.randint(self._lengths[0], self._lengths[1])
            kept = self.last[: round(share * tokens * self._characters)]
            new = self.fresh(max(4.0, tokens - len(kept) / self._characters))
        longest = round(1.5 * self._lengths[1] * self._characters)
        self.last = f"{kept} {new}"[:longest] if kept else new
        return self.last


def _prompt(text: str) -> Prompt:
    return Prompt((Message("user", text),), (0, 0), len(text))


def _judge(asked: Sequence[Asked], results: dict[str, Result]) -> None:
    """The estimates for the requests of one run."""
    samples = [each.sample for each in asked]
    curve = curve_of(samples)
    for each, sample in zip(asked, samples, strict=True):
        if sample.phase is not Phase.FOLLOW_UP:
            continue
        n, ns, truth = each.prompt_tokens, each.prefill_ns, each.reused_tokens
        old, _ = infer_reused(ns, n, _anchors([other for other in asked if other.block == each.block]))
        results["two anchors"].rows.append((n, truth, old))
        new = old if curve is None else infer_from_curve(ns, n, curve, seconds(sample))[0]
        results["curve"].rows.append((n, truth, new))


def _anchors(block: Sequence[Asked]) -> Anchors:
    cold = next(each for each in block if each.phase == Phase.FIRST)
    warm = next(each for each in block if each.phase == Phase.WARM_REPEAT)
    return Anchors(cold.prefill_ns, cold.prompt_tokens, warm.prefill_ns)


@contextmanager
def _busy(processes: int) -> Iterator[None]:
    spinning = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(processes)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()


def _spin() -> None:
    while True:
        pass


if __name__ == "__main__":
    main()
