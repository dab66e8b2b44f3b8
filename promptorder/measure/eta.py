"""How long a run will still take. Pure: what is left to read, and the speeds seen so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from promptorder.measure.plan import Plan
from promptorder.model.comparison import Expectation
from promptorder.model.sample import Phase, Sample


@dataclass(slots=True)
class TimeLeft:
    """Learns from each sample; ``seconds`` is None until a first cold call has told the speed."""

    plan: Plan
    expected: Mapping[str, Sequence[Expectation]]
    _prefill_ns_per_token: list[float] = field(default_factory=list)
    _rest_ns: list[int] = field(default_factory=list)
    _load_ns: list[int] = field(default_factory=list)
    _done: set[tuple[str, int, int]] = field(default_factory=set)
    _blocks: set[tuple[str, int]] = field(default_factory=set)

    def saw(self, sample: Sample) -> None:
        """Take note of a sample, well or not."""
        self._blocks.add(sample.block)
        if sample.phase is not Phase.LOAD:
            self._done.add((*sample.block, sample.question))
        reply = sample.reply
        if reply is None:
            return
        if sample.phase is Phase.LOAD and reply.load_ns is not None:
            self._load_ns.append(reply.load_ns)
        if sample.phase is Phase.FIRST and reply.prefill_ns:
            tokens = reply.prompt_tokens or reply.read_tokens
            if tokens:
                self._prefill_ns_per_token.append(reply.prefill_ns / tokens)
        if reply.elapsed_ns is not None and reply.prefill_ns is not None and sample.question:
            self._rest_ns.append(max(0, reply.elapsed_ns - reply.prefill_ns))

    def seconds(self) -> float | None:
        """What is left, in seconds."""
        if not self._prefill_ns_per_token:
            return None
        per_token, rest = median(self._prefill_ns_per_token), median(self._rest_ns or [0])
        load = median(self._load_ns or [0])
        total_ns = 0.0
        for block in self.plan.blocks():
            if block.key not in self._blocks:
                total_ns += load
            due = self.expected.get(block.layout.name, ())
            for question, each in enumerate(due, start=1):
                if (*block.key, question) in self._done:
                    continue
                total_ns += (each.prompt_tokens - each.shared_tokens) * per_token + rest
                if block.layout.ticks and question > 1:
                    total_ns += self.plan.clock_gap_s * 1e9
        return total_ns / 1e9


def tokens_to_read(plan: Plan, expected: Mapping[str, Sequence[Expectation]]) -> int:
    """Tokens that a whole run will read if every shared start is reused."""
    once = sum(each.prompt_tokens - each.shared_tokens for due in expected.values() for each in due)
    return once * plan.repeats
