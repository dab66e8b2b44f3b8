"""What a run's file tells beside its samples: what was asked for, of whom, and on which machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from promptorder.compare_settings import CompareSettings
from promptorder.measure.plan import Plan
from promptorder.model.comparison import Expectation
from promptorder.model.engine import EngineInfo
from promptorder.model.run import SentPrompt
from promptorder.model.sample import Phase, Sample


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def options(settings: CompareSettings, plan: Plan, info: EngineInfo) -> dict[str, Any]:
    """The options of CONTRACTS with their values as used."""
    return {
        "seed": settings.seed,
        "temperature": 0,
        "num_predict": settings.num_predict,
        "cold": plan.cold,
        "clock_gap_s": plan.clock_gap_s,
        "repeats": plan.repeats,
        "order": plan.order(),
        "num_ctx": info.context_tokens,
    }


def header(settings: CompareSettings, plan: Plan, info: EngineInfo, started_at: str) -> dict[str, Any]:
    """What must be the same for a run to be resumed, and when it began."""
    return {
        "started_at": started_at,
        "plan": plan.fingerprint(),
        "engine": f"{info.name} {info.version}",
        "model": info.model_digest or info.model,
        "context": info.context_tokens,
        "seed": settings.seed,
        "num_predict": settings.num_predict,
        "calibration": str(settings.calibration) if settings.calibration else None,
    }


def prompts(
    samples: Iterable[Sample], expected: Mapping[str, Sequence[Expectation]]
) -> tuple[SentPrompt, ...]:
    """The measured prompts of a run, each once."""
    measured = (Phase.FIRST, Phase.FOLLOW_UP)
    sent = {(s.layout, s.question): s.prompt_sha256 for s in samples if s.phase in measured}
    return tuple(
        SentPrompt(
            layout=layout,
            question=question,
            sha256=sha256,
            expected_prompt_tokens=expected[layout][question - 1].prompt_tokens,
            expected_reused_tokens=expected[layout][question - 1].shared_tokens,
        )
        for (layout, question), sha256 in sent.items()
    )


def machine() -> dict[str, Any]:
    """What of this machine changes the figures; nothing that names its owner."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }
