"""What will be sent: blocks of questions, one block a layout and repeat."""

from __future__ import annotations

import hashlib
import json
import random
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from promptorder.layouts import Layout
from promptorder.model.engine import Cold
from promptorder.model.prompt import Prompt
from promptorder.model.source import Question, SourceText

DEFAULT_RULES = (
    "You answer questions about the document that the user gives you. Use only what the document says. "
    "Answer in one short sentence, and name the figure, date or name that was asked for. "
    "If the document does not say it, answer: The document does not say."
)


@dataclass(frozen=True, slots=True)
class Block:
    """The unit that is measured as a whole: one layout, one repeat, all questions in their order."""

    layout: Layout
    repeat: int

    @property
    def key(self) -> tuple[str, int]:
        """What names the block in samples and run files."""
        return (self.layout.name, self.repeat)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole run before it is made.

    ``clock_gap_s`` is waited before each follow-up of a layout whose clock shows seconds, so that the
    clock really ticks. ``warm_repeat`` asks the last prompt of each block once more, unchanged;
    ``calibrate`` asks it with other ends too. Both are for engines that do not count. ``check_answers`` asks
    the last follow-up of each layout once more cold, in the first repeat.
    """

    document: SourceText
    questions: tuple[Question, ...]
    layouts: tuple[Layout, ...]
    rules: str = DEFAULT_RULES
    repeats: int = 1
    clock_gap_s: float = 1.1
    cold: Cold = "unload"
    warm_repeat: bool = True
    calibrate: bool = True
    check_answers: bool = False
    seed: int = 7
    nonces: dict[tuple[str, int], str] = field(default_factory=dict)

    def blocks(self) -> list[Block]:
        """Repeat by repeat, and in each the layouts in the order of ``order``."""
        by_name = {layout.name: layout for layout in self.layouts}
        return [
            Block(by_name[name], repeat)
            for repeat, names in enumerate(self.order(), start=1)
            for name in names
        ]

    def order(self) -> list[list[str]]:
        """The layouts' names for each repeat, the same for the same seed.

        A single repeat keeps the order that was given, where a reader looks for it. With more, each is shuffled, the first
        too: what changes with time, such as a machine that warms up, must not always meet the same layout.
        """
        names = [layout.name for layout in self.layouts]
        if self.repeats == 1:
            return [names]
        chance = random.Random(self.seed)
        return [chance.sample(names, len(names)) for _ in range(self.repeats)]

    def checks(self, repeat: int) -> bool:
        """Whether a follow-up of the blocks of this repeat is asked again cold."""
        return self.check_answers and repeat == 1 and len(self.questions) > 1

    def prompt(self, block: Block, question: int, now: datetime) -> Prompt:
        """The prompt of ``question`` (from 1) at the time ``now``."""
        return block.layout.build(
            rules=self.rules,
            document=self.document.text,
            question=self.questions[question - 1].text,
            now=now,
            nonce=self._nonce(block),
        )

    def sketch(self, layout: Layout, now: datetime) -> list[Prompt]:
        """The prompts of one block as they will be but for the clock's digits, to count them beforehand."""
        block = Block(layout, 1)
        step = timedelta(seconds=max(1.0, self.clock_gap_s))
        return [
            self.prompt(block, number, now + step * (number - 1))
            for number in range(1, len(self.questions) + 1)
        ]

    def fingerprint(self) -> str:
        """The same for two plans exactly if samples of one may stand for samples of the other."""
        data = [
            self.document.sha256,
            self.document.pages,
            [question.text for question in self.questions],
            [[layout.name, layout.system, layout.user] for layout in self.layouts],
            self.rules,
            self.repeats,
            self.clock_gap_s,
            self.cold,
            *(["answers checked"] if self.check_answers else []),
        ]
        return hashlib.sha256(json.dumps(data, ensure_ascii=False).encode("utf-8")).hexdigest()

    def template_sha256(self, layout: Layout) -> str:
        """The same for two layouts exactly if they make the same prompts of the same document and questions."""
        data = [layout.system, layout.user, self.rules]
        return hashlib.sha256(json.dumps(data, ensure_ascii=False).encode("utf-8")).hexdigest()

    def _nonce(self, block: Block) -> str:
        # One for a block, the same in all its questions: it must make the first call cold and no other.
        if self.cold != "nonce":
            return ""
        return self.nonces.setdefault(block.key, secrets.token_hex(8))
