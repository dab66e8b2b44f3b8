"""What ``promptorder trace`` can be told, as a library takes it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from promptorder.errors import UsageError
from promptorder.policies._options import Policy
from promptorder.reports._prices import price_of


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What is replayed and how; the defaults are those of the command line.

    ``policies`` are texts as ``--policy`` takes them; none: what fits the trace. With ``curve`` each policy that has a size is
    replayed at ``sizes_tokens`` too, or, where there are none, from a 64th of the trace's distinct tokens to all.
    ``what_if`` replays other settings of a policy that loses much; None: where that takes no more than a few seconds.
    ``prices`` are texts by model, ``*`` for all others. ``per_request`` is a file that gets a line a request and policy.
    ``input_format`` names the format of the files instead of looking. ``shared_ids`` says that small block ids mean the same in
    all files, as in parts of one trace, ``subagents`` that requests of agents that an agent called count too.
    """

    policies: tuple[str, ...] = ()
    tokenizer: str | None = None
    strict: bool = False
    curve: bool = False
    sizes_tokens: tuple[int, ...] = ()
    what_if: bool | None = None
    prefill_tokens_per_s: float | None = None
    prices: Mapping[str, str] = field(default_factory=dict)
    per_request: Path | None = None
    input_format: str | None = None
    shared_ids: bool = False
    subagents: bool = False


def check(settings: TraceSettings, policies: Sequence[Policy]) -> None:
    """Raise UsageError for what is wrong in them, before anything is read: it must not cost a long run."""
    asked = [(policy.name, policy.options) for policy in policies]
    for text, each in zip(settings.policies, asked, strict=True):
        if asked.count(each) > 1:
            raise UsageError(f"the policy {text} is given twice", hint="leave one of them out")
    if any(size < 1 for size in settings.sizes_tokens):
        raise UsageError("a size of a cache must be 1 token or more", hint="write --sizes 1e5,1e6")
    speed = settings.prefill_tokens_per_s
    if speed is not None and not (math.isfinite(speed) and speed > 0):
        raise UsageError("the speed of prefill must be more than 0", hint="give tokens per second")
    for model in settings.prices:
        price_of(model, settings.prices)
