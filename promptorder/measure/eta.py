"""How long a run will still take. Pure: what is left to read, and the speeds seen so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from promptorder.measure.control_texts import FROM_DOCUMENT
from promptorder.measure.plan import Block, Plan
from promptorder.model.comparison import Expectation
from promptorder.model.sample import Phase, Sample

_KNOWN_CALLS = 4
"""Calls of known reuse that the first block takes where nothing is counted; later ones are taken from those seen."""
_KNOWN_READ_TOKENS = 120
"""What such a call reads, until the first have told how long they take."""
_CONTROL_SHARE = 0.2
"""A control call after the first one takes so much of it, where starts are reused."""

BlockKey = tuple[str, int]


@dataclass(slots=True)
class TimeLeft:
    """Learns from each sample; ``seconds`` is None until a first cold call has told the speed.

    Calls of known reuse are counted where the engine does not count, and the cold calls of checked answers. Control calls are
    counted when they have begun: whether they are needed shows then.
    """

    plan: Plan
    expected: Mapping[str, Sequence[Expectation]]
    _prefill_ns_per_token: list[float] = field(default_factory=list)
    _rest_ns: list[int] = field(default_factory=list)
    _load_ns: list[int] = field(default_factory=list)
    _known_ns: list[int] = field(default_factory=list)
    _control_ns: list[int] = field(default_factory=list)
    _done: set[tuple[str, int, int]] = field(default_factory=set)
    _known: dict[BlockKey, int] = field(default_factory=dict)
    _checked: set[BlockKey] = field(default_factory=set)
    _current: BlockKey | None = None
    _counts: bool = False

    def saw(self, sample: Sample) -> None:
        """Take note of a sample, well or not."""
        reply = sample.reply
        elapsed_ns = (reply.elapsed_ns or 0) if reply is not None else 0
        if sample.phase is Phase.CONTROL:
            self._control_ns.append(elapsed_ns)
            return
        self._current = sample.block
        self._known.setdefault(sample.block, 0)
        match sample.phase:
            case Phase.FIRST | Phase.FOLLOW_UP:
                self._done.add((*sample.block, sample.question))
            case Phase.WARM_REPEAT | Phase.CALIBRATION:
                self._known[sample.block] += 1
                self._known_ns += [elapsed_ns] if elapsed_ns else []
            case Phase.CHECK:
                self._checked.add(sample.block)
        if reply is None:
            return
        if sample.phase is Phase.LOAD and reply.load_ns is not None:
            self._load_ns.append(reply.load_ns)
        if sample.phase is Phase.FIRST and reply.prefill_ns:
            tokens = reply.prompt_tokens or reply.read_tokens
            self._counts = reply.cached_tokens is not None or reply.read_tokens is not None
            if tokens:
                self._prefill_ns_per_token.append(reply.prefill_ns / tokens)
        if elapsed_ns and reply.prefill_ns is not None and sample.phase in (Phase.FIRST, Phase.FOLLOW_UP):
            self._rest_ns.append(max(0, elapsed_ns - reply.prefill_ns))

    def seconds(self) -> float | None:
        """What is left, in seconds."""
        if not self._prefill_ns_per_token:
            return None
        per_token = median(self._prefill_ns_per_token)
        load = median(self._load_ns or [0])
        blocks = self._blocks_left()
        total_ns = sum(self._block_ns(block, per_token, load) for block in blocks)
        if self._control_ns:
            left = max(0, FROM_DOCUMENT - len(self._control_ns))
            total_ns += left * _CONTROL_SHARE * self._control_ns[0]
        return total_ns / 1e9

    def _blocks_left(self) -> list[Block]:
        """The block that is being measured and those behind it; in a resumed run those before it were measured earlier."""
        blocks = self.plan.blocks()
        keys = [block.key for block in blocks]
        return blocks[keys.index(self._current) :] if self._current in keys else blocks

    def _block_ns(self, block: Block, per_token: float, load: float) -> float:
        rest = median(self._rest_ns or [0])
        total_ns = 0.0 if block.key in self._known else load
        due = self.expected.get(block.layout.name, ())
        for question, each in enumerate(due, start=1):
            if (*block.key, question) in self._done:
                continue
            total_ns += (each.prompt_tokens - each.shared_tokens) * per_token + rest
            if block.layout.ticks and question > 1:
                total_ns += self.plan.clock_gap_s * 1e9
        if self.plan.warm_repeat and not self._counts:
            total_ns += self._known_calls_left(block.key) * median(
                self._known_ns or [_KNOWN_READ_TOKENS * per_token]
            )
        if due and self.plan.checks(block.repeat) and block.key not in self._checked:
            total_ns += load + due[-1].prompt_tokens * per_token + rest
        return total_ns

    def _known_calls_left(self, key: BlockKey) -> float:
        finished = [number for block, number in self._known.items() if block != self._current and number]
        usual = median(finished) if finished else _KNOWN_CALLS if self.plan.calibrate else 1
        return max(0.0, usual - self._known.get(key, 0))


def tokens_to_read(plan: Plan, expected: Mapping[str, Sequence[Expectation]]) -> int:
    """Tokens that a whole run will read if every shared start is reused, calls of known reuse not counted."""
    once = sum(each.prompt_tokens - each.shared_tokens for due in expected.values() for each in due)
    cold = sum(due[-1].prompt_tokens for due in expected.values() if due and plan.checks(1))
    return once * plan.repeats + cold
