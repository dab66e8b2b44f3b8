"""How large a context the prompts of a run need. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promptorder.errors import PromptTooLongError
from promptorder.model.comparison import Expectation
from promptorder.model.engine import EngineInfo

_STEP_TOKENS = 256
_EXACT_MARGIN_TOKENS = 32
_ESTIMATE_MARGIN = 1.25


def context_for(
    expected: Mapping[str, Sequence[Expectation]], *, num_predict: int, num_ctx: int | None, info: EngineInfo
) -> int:
    """``num_ctx``, or without it what the longest prompt and an answer of ``num_predict`` tokens need.

    Raises PromptTooLongError where they do not fit it, or the model.
    """
    every = [each for group in expected.values() for each in group]
    longest = max(each.prompt_tokens for each in every)
    exact = all(each.exact for each in every)
    margin = longest + _EXACT_MARGIN_TOKENS if exact else round(longest * _ESTIMATE_MARGIN)
    needed = _round_up(margin + num_predict)
    limit = info.max_context_tokens
    about = "" if exact else "about "
    if limit is not None and longest + num_predict > limit:
        raise PromptTooLongError(
            f"the longest prompt has {about}{longest:,} tokens, and {num_predict} more for the answer "
            f"do not fit the {limit:,} of {info.model}",
            hint="send a part of the document (--pages 1-10 for a PDF), or choose a model with a longer context",
        )
    if num_ctx is None:
        return needed if limit is None else min(needed, limit)
    if longest + num_predict > num_ctx:
        raise PromptTooLongError(
            f"the longest prompt has {about}{longest:,} tokens and does not fit "
            f"--num-ctx {num_ctx:,} with {num_predict} more for the answer",
            hint=f"use --num-ctx {needed}, or leave the option out",
        )
    return num_ctx


def _round_up(tokens: int) -> int:
    return -(-tokens // _STEP_TOKENS) * _STEP_TOKENS
