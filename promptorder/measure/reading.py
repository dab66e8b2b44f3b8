"""From a count of what was read to what was reused, where the engine counts no more than that. Pure."""

from __future__ import annotations

from promptorder.model.comparison import Estimate, Expectation

_ENDS_TOKENS = 2
_ESTIMATE_ERROR = 0.1
"""Relative error of an estimated number of tokens: 3 % seen in running text, more in a few words."""


def reused_beside(
    read_tokens: int, due: Expectation, cold_read_tokens: int | None, cold_due: Expectation | None
) -> tuple[int, Estimate] | None:
    """The whole prompt's tokens, and those of them that were reused; None where the whole is not known.

    The whole was counted beforehand (``due.exact``), or is that of the block's cold call, which read all of its tokens, and
    the little by which this prompt is estimated to be longer or shorter: the error of that is the band's width.
    """
    if due.exact:
        reused = max(0, due.prompt_tokens - read_tokens)
        return due.prompt_tokens, Estimate(reused, reused, reused, "counted")
    if not cold_read_tokens or cold_due is None:
        return None
    longer = (due.prompt_tokens - cold_due.prompt_tokens) * cold_read_tokens / cold_due.prompt_tokens
    whole = max(read_tokens, round(cold_read_tokens + longer))
    slack = _ENDS_TOKENS + round(_ESTIMATE_ERROR * abs(longer))
    reused = whole - read_tokens
    return whole, Estimate(reused, max(0, reused - slack), min(whole - 1, reused + slack), "counted")
