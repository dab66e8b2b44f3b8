"""Inferred reuse held to the truth, on real servers.

Run by hand: ``python tests/bench/inference.py [--requests 216] [--minutes 12] [--busy] [--only 0.33.3]``; prompts on
0.33.3 have ``--tokens 400 1200``. Blocks like those of a comparison are measured: a cold call, requests that share
between nothing and all with the one before, and the calls that calibrate. Three blocks are one run. The estimator gets
the times and the lengths of the prompts; how much was reused is the server's own count (0.33.3) or in its log (0.6.5).
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import servers
import tiny_gguf

from promptorder.engines.ollama import OllamaEngine
from promptorder.inputs._document import read_document
from promptorder.measure.analysis import NOT_REUSED_TO, REUSED_FROM
from promptorder.measure.calibration import calibration_prompts, fit, known_calls
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


class Asked(NamedTuple):
    """A request with what was really reused."""

    sample: Sample
    reused: int


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
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
    with _busy(2 if arguments.busy else 0), tempfile.TemporaryDirectory() as folder:
        if arguments.only != "0.6.5":
            with servers.OllamaServer("0.33.3") as server:
                server.create_model("smollm2", servers.ensure_smollm2())
                _bench(server, "smollm2", arguments.requests, tuple(arguments.tokens), until, arguments.seed)
        if arguments.only != "0.33.3":
            with servers.OllamaServer("0.6.5") as server:
                path = tiny_gguf.make_tiny_gguf(Path(folder) / "tiny.gguf")
                server.create_model("tiny", path, tiny_gguf.TEMPLATE, tiny_gguf.PARAMETERS)
                _bench(server, "tiny", min(40, arguments.requests), (1000, 2400), until + 120, arguments.seed)


def _bench(
    server: servers.OllamaServer, model: str, requests: int, lengths: tuple[int, ...], until: float, seed: int
) -> None:
    chance = random.Random(seed)
    engine = OllamaEngine(EngineOptions(model=model, host=server.url, num_predict=2, cold="unload"))
    engine.use_context(2 * max(lengths))
    text = " ".join(read_document(str(ROOT / "fixtures/report.pdf")).text.split())
    engine.start_block()
    whole = text[:2000]
    characters = len(whole) / (engine.ask(_prompt(whole)).prompt_tokens or len(whole) / 4)
    results = {"two anchors": Result(), "curve": Result()}
    left, calls, extra, seconds, extra_seconds = requests, 0, 0, 0.0, 0.0
    runs = max(1, round(requests / (BLOCKS * FOLLOW_UPS)))
    of_block = -(-requests // (runs * BLOCKS))
    while left > 0 and (time.monotonic() < until or left == requests):
        asked: list[Asked] = []
        for number in range(1, BLOCKS + 1):
            n = of_block
            shares = [chance.choice((0.0, 1.0, chance.random(), chance.random())) for _ in range(n)]
            left -= n
            texts = _Texts(text, characters, chance, lengths)
            asked += _block(server, engine, number, texts, shares)
        _judge(asked, results)
        calls += len(asked)
        of_calibration = [a.sample for a in asked if a.sample.phase in (Phase.WARM_REPEAT, Phase.CALIBRATION)]
        extra += len(of_calibration)
        seconds += sum(_seconds(a.sample) for a in asked)
        extra_seconds += sum(_seconds(sample) for sample in of_calibration)
    engine.close()
    print(f"Ollama {server.version}, {model}, prompts of about {lengths[0]:,} to {lengths[1]:,} tokens")
    print(HEAD)
    for name, result in results.items():
        print(result.line(name))
    print(
        f"  {extra} of {calls} calls calibrate: {100 * extra_seconds / seconds:.0f} % of the time", flush=True
    )


def _seconds(sample: Sample) -> float:
    return (sample.reply.elapsed_ns or 0) / 1e9 if sample.reply else 0.0


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


def _block(
    server: servers.OllamaServer, engine: OllamaEngine, number: int, texts: _Texts, shares: Sequence[float]
) -> list[Asked]:
    engine.start_block()
    key = ("bench", number)
    asked: list[Asked] = []

    def ask(phase: Phase, question: int, prompt: Prompt) -> Reply:
        offset = server.log_offset()
        reply = engine.ask(prompt)
        truth = reply.cached_tokens
        if truth is None:
            truth = server.counted_since(offset, 1)[-1].reused_tokens
        hidden = replace(reply, cached_tokens=None, read_tokens=None)
        asked.append(Asked(Sample(*key, question, phase, "", "", hidden), truth))
        return reply

    ask(Phase.FIRST, 1, _prompt(texts.last))
    for question, share in enumerate(shares, start=2):
        ask(Phase.FOLLOW_UP, question, _prompt(texts.sharing(share)))
    last = _prompt(texts.last)
    warm = ask(Phase.WARM_REPEAT, len(shares) + 1, last)
    for prompt in calibration_prompts(last, warm.prompt_tokens or 0, texts.fresh(2000), key):
        ask(Phase.CALIBRATION, len(shares) + 1, prompt)
    return asked


def _judge(asked: Sequence[Asked], results: dict[str, Result]) -> None:
    samples = [each.sample for each in asked]
    curve = fit(known_calls(samples))
    for sample, truth in asked:
        if sample.phase is not Phase.FOLLOW_UP:
            continue
        assert sample.reply is not None
        n, ns = sample.reply.prompt_tokens or 0, sample.reply.prefill_ns or 0
        anchors = _anchors([each for each in samples if each.block == sample.block])
        old, _ = infer_reused(ns, n, anchors)
        results["two anchors"].rows.append((n, truth, old))
        new = old if curve is None else infer_from_curve(ns, n, curve, sample.block)[0]
        results["curve"].rows.append((n, truth, new))


def _anchors(block: Sequence[Sample]) -> Anchors:
    def reply(phase: Phase) -> Reply:
        found = next(each.reply for each in block if each.phase is phase)
        assert found is not None
        return found

    cold, warm = reply(Phase.FIRST), reply(Phase.WARM_REPEAT)
    return Anchors(cold.prefill_ns or 0, cold.prompt_tokens or 0, warm.prefill_ns or 0)


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
