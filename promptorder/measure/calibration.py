"""Calls of known reuse, where an engine does not count: which are made, and which of a run's calls are. Pure.

Each block ends with a few of them: its last prompt once more, the same with its end cut off, and with tails of
chosen lengths in place of what was cut, so that no longer context is needed. Together with the cold first call,
and the follow-ups that share next to nothing with an earlier prompt, they draw the curve of times (curve.py).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from promptorder.measure.curve import BlockKey, Curve, Known, fit
from promptorder.measure.inference import Times
from promptorder.model.comparison import Expectation
from promptorder.model.prompt import Message, Prompt
from promptorder.model.sample import Phase, Sample

TAIL_TOKENS = (0, 40, 120, 400)
"""About how many tokens the calibration calls of a block read, beside what the chat template adds."""
ROUNDS = 2
TEMPLATE_END_TOKENS = 5
"""What a chat template puts behind the last message: 2 to 9 tokens in the templates seen."""
UNSHARED = 0.02
"""A follow-up that shares at most this part with an earlier prompt reads all of it, whatever the cache does."""
_PLAINLY_OFF = 1.5
"""So many half bands away, a call is not what it was taken for."""

Expected = Mapping[str, Sequence[Expectation]]


def calibration_prompts(last: Prompt, prompt_tokens: int, document: str, block: BlockKey) -> list[Prompt]:
    """Prompts that share all but their ends with ``last``: the bare start first, then its tails, twice.

    The tails are shuffled, in the same order in each run; no text comes twice. They are made one after the other
    until enough is known (enough.py), so the later ones are for machines that are restless.
    """
    text = last.messages[-1].text
    characters = max(1.0, sum(len(m.text) for m in last.messages) / max(1, prompt_tokens))
    longest = min(max(TAIL_TOKENS), prompt_tokens // 3)
    # Cut between words, so that the tokens before stay what they were.
    cut = text.rfind(" ", 0, max(0, len(text) - round(longest * characters)) + 1)
    head = text[: max(0, cut)]
    longest = min(longest, round((len(text) - len(head)) / characters))
    lengths = [each for each in TAIL_TOKENS if 0 < each < 0.7 * longest] + [longest]
    chance = random.Random(f"{block}")
    rounds = [chance.sample(lengths, len(lengths)) for _ in range(ROUNDS)]
    order = [length for each in rounds for length in each]
    prompts = []
    for number, length in enumerate(order, start=1):
        start = len(document) * number // (len(order) + 1)
        # The number keeps the tails apart from their first token on.
        tail = f" {number} {document[start:]}{document}"[: max(2, round(length * characters))]
        prompts.append(_with_end(last, head + tail))
    return [_with_end(last, head), *prompts]


def curve_of(samples: Iterable[Sample], expected: Expected | None = None) -> Curve | None:
    """The curve through a run's calls of known reuse; None where they draw none.

    ``expected`` tells which follow-ups share next to nothing with an earlier prompt: they stand as cold calls between
    the others, unless their time contradicts it.
    """
    samples = list(samples)
    known = known_calls(samples)
    curve = fit(known)
    if curve is None or not expected:
        return curve
    more = [call for call in _unshared(samples, expected) if fits(call, curve)]
    return fit([*known, *more]) or curve


def fits(call: Known, curve: Curve) -> bool:
    """Whether a call's time is what the curve says of such a call."""
    times = Times(curve, call.prompt_tokens, call.at_s)
    return times.off(call.prefill_ns, call.read_tokens) <= _PLAINLY_OFF


def known_calls(samples: Iterable[Sample]) -> list[Known]:
    """The calls of known reuse in a run's samples."""
    blocks: dict[BlockKey, list[Sample]] = {}
    for sample in samples:
        blocks.setdefault(sample.block, []).append(sample)
    return [known for key, block in blocks.items() for known in _of_block(key, block)]


def cold_call(sample: Sample) -> Known | None:
    """A block's first call, which read all of its prompt."""
    reply = sample.reply
    if sample.phase not in (Phase.FIRST, Phase.CHECK) or reply is None:
        return None
    n, ns = reply.prompt_tokens, reply.prefill_ns
    return Known(n, n, ns, sample.block, seconds(sample)) if n and ns else None


def seconds(sample: Sample) -> float:
    """When a call began, in seconds since 1970."""
    return datetime.fromisoformat(sample.started_at).timestamp()


def _of_block(key: BlockKey, block: Sequence[Sample]) -> list[Known]:
    found = []
    bare: int | None = None
    for sample in block:
        reply = sample.reply
        if (cold := cold_call(sample)) is not None:
            found.append(cold)
        if reply is None or reply.prompt_tokens is None or not reply.prefill_ns:
            continue
        n, ns, at_s = reply.prompt_tokens, reply.prefill_ns, seconds(sample)
        if sample.phase is Phase.WARM_REPEAT:
            found.append(Known(n, 1, ns, key, at_s))
        elif sample.phase is Phase.CALIBRATION:
            bare = n if bare is None else bare  # the first of a block, without which there are no others
            read = n - bare + TEMPLATE_END_TOKENS
            if 0 < read < n:
                found.append(Known(n, read, ns, key, at_s))
    return found


def _unshared(samples: Iterable[Sample], expected: Expected) -> Iterable[Known]:
    for sample in samples:
        due, reply = expected.get(sample.layout, ()), sample.reply
        if sample.phase is not Phase.FOLLOW_UP or reply is None or sample.question > len(due):
            continue
        n, shared = reply.prompt_tokens, due[sample.question - 1].shared_tokens
        if n and reply.prefill_ns and shared <= UNSHARED * n:
            yield Known(n, n - shared, reply.prefill_ns, sample.block, seconds(sample))


def _with_end(prompt: Prompt, text: str) -> Prompt:
    last = prompt.messages[-1]
    return replace(prompt, messages=(*prompt.messages[:-1], Message(last.role, text)))
