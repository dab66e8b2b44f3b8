"""llama-server's rules once more, as plainly as they can be written: lists of tokens, loops, no index.

The policy finds its way by sorted packed ids; this is what it must equal in every request.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field


def single(number: float) -> float:
    return array("f", [number])[0]


def shared(a: list[int], b: list[int]) -> int:
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


@dataclass
class PlainServer:
    slots: int = 1
    context: int = 8192
    limit_bytes: int | None = None
    similarity: float = 0.1
    reuse: int = 0
    idle: bool = True
    unified: bool = False
    host_on: bool = True
    token_bytes: int = 268
    host: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.held: list[list[int]] = [[] for _ in range(self.slots)]
        self.used = [-1] * self.slots
        self.time = 0
        self.limit_tokens = self.context * (1 if self.unified else self.slots)
        self.state_bytes = 44 + 4 * (1 if self.unified else self.slots)

    def size(self, tokens: list[int]) -> int:
        return self.state_bytes + self.token_bytes * len(tokens)

    def total(self) -> int:
        return sum(map(self.size, self.host))

    def tokens(self) -> int:
        return sum(map(len, self.host))

    def save(self, tokens: list[int]) -> bool:
        if not tokens or any(shared(each, tokens) == len(tokens) for each in self.host):
            return False
        if self.limit_bytes is not None and self.size(tokens) > self.limit_bytes:
            return False
        self.host = [each for each in self.host if shared(each, tokens) < len(each)]
        if self.limit_bytes is not None:
            while self.host and self.total() + self.size(tokens) > self.limit_bytes:
                self.host.pop(0)
        self.host.append(list(tokens))
        return True

    def update(self) -> None:
        limit = self.limit_tokens
        if self.limit_bytes is not None:
            each = max(1.0, single(single(self.total()) / single(max(1, self.tokens()))))
            limit = max(limit, int(single(single(self.limit_bytes) / each)))
        while self.host and self.tokens() > limit:
            self.host.pop(0)

    def load(self, slot: int, prompt: list[int]) -> None:
        held = self.held[slot]
        kept = single(shared(held, prompt) / len(held)) if held else -1.0
        found = single(shared(held, prompt) / len(prompt))
        best = None
        for entry in self.host:
            n = shared(entry, prompt)
            if single(n / len(entry)) < 0.25:
                continue
            if single(n / len(entry)) > kept and single(n / len(prompt)) > found:
                kept, found, best = single(n / len(entry)), single(n / len(prompt)), entry
        if best is None:
            return
        others = sum(len(each) for number, each in enumerate(self.held) if number != slot)
        if self.unified and len(best) > self.context - others:
            self.held[slot] = []
            return
        self.host.remove(best)
        self.held[slot] = best

    def ask(self, prompt: list[int], generated: list[int]) -> int | None:
        """How many tokens are reused; None: refused."""
        slot, consults = None, True
        if self.similarity:
            best = 0.0
            for number, held in enumerate(self.held):
                ratio = single(shared(held, prompt) / len(prompt))
                if held and ratio > best and ratio > single(self.similarity):
                    slot, best = number, ratio
            if slot is not None:
                consults = single(single(best * len(prompt)) / len(self.held[slot])) < 0.5
        if slot is None:
            slot = max(range(self.slots), key=lambda number: (-self.used[number], number))
        if consults and self.host_on:
            self.save(self.held[slot])
            self.load(slot, prompt)
            self.update()
        if self.idle and self.host_on:
            for number in range(self.slots):
                if number != slot:
                    if self.save(self.held[number]):
                        self.update()
                    if self.unified:
                        self.held[number] = []
        self.time += 1
        self.used[slot] = self.time
        if len(prompt) >= self.context:
            return None
        held = self.held[slot]
        past = shared(held, prompt)
        if self.reuse:
            here, there = past, past
            while there < len(held) and here < len(prompt):
                n = shared(held[there:], prompt[here:])
                if n >= self.reuse:
                    past, here, there = past + n, here + n, there + n
                else:
                    there += 1
        past = min(past, len(prompt) - 1)
        self.held[slot] = (prompt + generated[:-1])[: max(len(prompt), self.context - 1)]
        if self.unified:
            for number in range(self.slots):
                if sum(map(len, self.held)) <= self.context:
                    break
                if number != slot:
                    self.held[number] = []
        return past
