"""``promptorder.run/1``: a comparison and all that a report needs beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from promptorder._version import __version__
from promptorder.contracts import comparison as comparison_contract
from promptorder.model.comparison import Comparison
from promptorder.model.sample import Phase, Reply, Sample

SCHEMA = "promptorder.run/1"
PARTIAL_SCHEMA = "promptorder.run-partial/1"


def to_json(
    comparison: Comparison,
    samples: Sequence[Sample],
    abandoned: Sequence[Sample],
    *,
    machine: Mapping[str, Any],
    prompts: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The object of a run file.

    ``samples`` are all calls of the blocks that count, loading and warm repeats too; ``abandoned`` those
    of blocks that broke off and were measured again.
    """
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "comparison": comparison_contract.to_json(comparison),
        "samples": [sample_to_json(sample) for sample in samples],
        "abandoned_samples": [sample_to_json(sample) for sample in abandoned],
        "prompts": [dict(prompt) for prompt in prompts],
        "machine": dict(machine),
    }


def sample_to_json(sample: Sample) -> dict[str, Any]:
    """One sample as it stands in run files and in the lines of a partial one."""
    return {**asdict(sample), "phase": sample.phase.value}


def sample_from_json(data: Mapping[str, Any]) -> Sample:
    """The inverse; keys that are not known are left out. Raises KeyError, TypeError, ValueError."""
    reply = data["reply"]
    return Sample(
        layout=str(data["layout"]),
        repeat=int(data["repeat"]),
        question=int(data["question"]),
        phase=Phase(data["phase"]),
        prompt_sha256=str(data["prompt_sha256"]),
        started_at=str(data["started_at"]),
        reply=None if reply is None else Reply(**{k: reply.get(k) for k in Reply.__dataclass_fields__}),
        failure=data.get("failure"),
    )
