"""Samples of a block that do not count, each kind with its caveat. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from promptorder.model.comparison import Caveat, SampleResult
from promptorder.model.sample import Phase, Sample

Place = tuple[int, int]
"""(repeat, question) of a sample in its layout."""

_CUT_SHARE = 0.95
"""A prompt that the engine reports shorter than this share of what was counted was cut."""
_CUT_SHARE_OF_ESTIMATE = 0.6
_LONGEST_SCHEDULING_NS, _LOADING_NS = 200_000_000, 1_000_000_000
"""A loaded model shows 1 to 150 ms of "loading" too, the scheduler's time; above a second it is something else."""


class Faults(NamedTuple):
    """What is wrong in a block, and the places of the samples that do not count for it."""

    caveats: list[Caveat]
    void: set[Place]


def place(sample: Sample) -> Place:
    """What names a sample in its layout."""
    return (sample.repeat, sample.question)


def faults(name: str, block: Sequence[Sample], results: Sequence[SampleResult]) -> Faults:
    """Broken replies, models that were loaded again, and prompts that were cut."""
    caveats: list[Caveat] = []
    # Calls of other phases stand at the place of a follow-up, which does not fail with them.
    failed = [s for s in block if s.failure is not None and s.phase in (Phase.FIRST, Phase.FOLLOW_UP)]
    beside = [s for s in block if s.failure is not None and s not in failed]
    if told := [*failed, *beside]:
        caveats.append(
            Caveat(
                "failed-reply",
                f"{_count(told, 'reply was', 'replies were')} not whole and left out: {told[0].failure}",
                name,
                tuple(place(s) for s in told),
            )
        )
    load_ns = next((s.reply.load_ns for s in block if s.phase is Phase.LOAD and s.reply), None)
    reloaded = [r.sample for r in results if _loaded_again(r, load_ns)]
    if reloaded:
        caveats.append(
            Caveat(
                "model-reloaded",
                f"the server loaded the model again before {_count(reloaded, 'follow-up', 'follow-ups')}, so "
                "its cache was gone: they are left out. Something else used the server, memory is short, or what stands "
                "in between sends a keep-alive of its own.",
                name,
                tuple(place(s) for s in reloaded),
            )
        )
    cut = [r.sample for r in results if _was_cut(r)]
    if cut:
        caveats.append(
            Caveat(
                "prompt-cut",
                f"the server read only a part of {_count(cut, 'prompt', 'prompts')}: it cut what did not fit "
                "its context. Ask for more with --num-ctx, or send fewer --pages.",
                name,
                tuple(place(s) for s in cut),
            )
        )
    if any(s.phase is Phase.FIRST for s in failed):
        return Faults(caveats, {place(s) for s in block})
    return Faults(caveats, {place(s) for s in (*failed, *reloaded, *cut)})


def loading_limit_ns(load_ns: int | None) -> float | None:
    """Above this a follow-up's time of loading means that the model was not there; ``load_ns`` is the block's own loading.

    A file that the system still has in memory loads far faster than the first time, so never more than a second.
    """
    return None if load_ns is None else max(_LONGEST_SCHEDULING_NS, min(_LOADING_NS, 0.5 * load_ns))


def _loaded_again(result: SampleResult, load_ns: int | None) -> bool:
    sample, limit = result.sample, loading_limit_ns(load_ns)
    if (
        sample.phase is not Phase.FOLLOW_UP
        or sample.reply is None
        or sample.reply.load_ns is None
        or limit is None
    ):
        return False
    return sample.reply.load_ns > limit and not _kept_its_cache(result)


def _kept_its_cache(result: SampleResult) -> bool:
    """Counted as reused: then the call had to wait for its turn, and nothing was loaded."""
    reused = result.reused_tokens
    counted = reused.method in ("counted", "logged") and reused.value is not None
    return counted and bool(result.prompt_tokens) and (reused.value or 0) >= 0.5 * (result.prompt_tokens or 0)


def _was_cut(result: SampleResult) -> bool:
    due, reply = result.expected, result.sample.reply
    if due is None or reply is None or reply.prompt_tokens is None:
        return False
    share = _CUT_SHARE if due.exact else _CUT_SHARE_OF_ESTIMATE
    return reply.prompt_tokens < share * due.prompt_tokens


def _count(items: Sequence[object], one: str, many: str) -> str:
    return f"{len(items)} {one if len(items) == 1 else many}"
