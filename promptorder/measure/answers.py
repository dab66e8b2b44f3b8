"""Whether reuse changes what a model answers. Pure.

A prompt that is read in one piece goes through other batches than one whose start was read before, and floating point
sums depend on the batch: two tokens that are nearly as likely may change places, and from there the answers part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from promptorder.model.comparison import AnswerCheck, LayoutResult
from promptorder.model.sample import Difference, Phase, Reply, Sample
from promptorder.prefix import common_start


def first_difference(warm: Reply, cold: Reply) -> Difference | None:
    """Where two answers part; None where they are the same."""
    if warm.answer == cold.answer:
        return None
    character = common_start(warm.answer, cold.answer)
    return Difference(character, _token(warm, character))


def answers_checked(samples: Sequence[Sample], layouts: Sequence[LayoutResult]) -> Iterator[AnswerCheck]:
    """What was asked again cold, beside the first answer, in the layouts' order."""
    for layout in layouts:
        for cold in (s for s in samples if s.phase is Phase.CHECK and s.layout == layout.name):
            place = (cold.repeat, cold.question)
            warm = next((r for r in layout.samples if (r.sample.repeat, r.sample.question) == place), None)
            if warm is None or warm.sample.reply is None:
                continue
            reused = warm.reused_tokens.value
            yield AnswerCheck(
                layout=layout.name,
                repeat=cold.repeat,
                question=cold.question,
                reused_tokens=None if reused is None else round(reused),
                difference=cold.check.difference if cold.check is not None else None,
                answer=warm.sample.reply.answer,
                cold_answer=cold.reply.answer if cold.reply is not None else "",
                failure=cold.failure,
            )


def _token(reply: Reply, character: int) -> int | None:
    """The number of the token that holds a character, where the engine sent each token as a piece of its own."""
    pieces, tokens = reply.pieces, reply.output_tokens
    # The token that ends an answer is counted, and has no text.
    if not pieces or tokens is None or len(pieces) not in (tokens, tokens - 1):
        return None
    return sum(end <= character for end in accumulate(map(len, pieces)))
