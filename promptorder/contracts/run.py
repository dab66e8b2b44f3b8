"""``promptorder.run/1``: a comparison and all that a report needs beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, cast, get_args

from promptorder._version import __version__
from promptorder.contracts import comparison as comparison_contract
from promptorder.contracts._reading import (
    Json,
    Upgrade,
    WrongShapeError,
    item,
    items,
    text,
    text_or_none,
    upgraded,
    whole,
    whole_or_none,
)
from promptorder.model.run import Run, SentPrompt
from promptorder.model.sample import Check, Control, ControlKind, Phase, Reply, Sample

NEWEST = 1
SCHEMA = f"promptorder.run/{NEWEST}"
UPGRADES: Mapping[int, Upgrade] = {}
"""What makes version n + 1 of version n, under n. A change of the schema that old readers cannot take adds one."""
PARTIAL_SCHEMA = "promptorder.run-partial/1"


def to_json(run: Run) -> dict[str, Any]:
    """The object of a run file. A control call and a check have a key of that name; no other sample has it."""
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "comparison": comparison_contract.to_json(run.comparison),
        "samples": [sample_to_json(sample) for sample in run.samples],
        "abandoned_samples": [sample_to_json(sample) for sample in run.abandoned],
        "prompts": [asdict(prompt) for prompt in run.prompts],
        "machine": dict(run.machine),
        "templates": dict(run.templates),
        "command": list(run.command),
    }


def from_json(data: Json) -> Run:
    """The inverse; a bare ``promptorder.comparison`` is taken too, as a run of which little is known.

    Keys that are not known are left out, older versions are upgraded. Raises InputError for another schema or
    a newer version, and ValueError for what is not of its type.
    """
    if isinstance(schema := data.get("schema"), str) and schema.startswith("promptorder.comparison/"):
        return Run(comparison_contract.from_json(data), tool_version=text_or_none(data, "tool_version"))
    data = upgraded(data, "run", UPGRADES, NEWEST)
    samples = _samples(data, "samples")
    measured = (Phase.FIRST, Phase.FOLLOW_UP)
    known = {(s.layout, s.repeat, s.question): s for s in samples if s.phase in measured}
    comparison = comparison_contract.from_json(item(data.get("comparison"), "comparison"), known)
    return Run(
        comparison=replace(
            comparison, control_samples=tuple(s for s in samples if s.phase is Phase.WARM_REPEAT)
        ),
        samples=samples,
        abandoned=_samples(data, "abandoned_samples"),
        prompts=tuple(_prompt(item(each, "prompts")) for each in items(data, "prompts")),
        machine=dict(item(data.get("machine"), "machine")),
        templates={str(k): str(v) for k, v in item(data.get("templates") or {}, "templates").items()},
        command=tuple(str(word) for word in data.get("command") or ()),
        tool_version=text_or_none(data, "tool_version"),
    )


def sample_to_json(sample: Sample) -> dict[str, Any]:
    """One sample as it stands in run files and in the lines of a partial one."""
    data = {**asdict(sample), "phase": sample.phase.value}
    if sample.reply is not None:
        del data["reply"]["pieces"]
    return {key: value for key, value in data.items() if value is not None or key not in ("control", "check")}


def sample_from_json(data: Mapping[str, Any]) -> Sample:
    """The inverse; keys that are not known are left out. Raises ValueError, KeyError, TypeError."""
    reply = data["reply"]
    return Sample(
        layout=str(data["layout"]),
        repeat=int(data["repeat"]),
        question=int(data["question"]),
        phase=Phase(data["phase"]),
        prompt_sha256=str(data["prompt_sha256"]),
        started_at=str(data["started_at"]),
        reply=None if reply is None else _reply(item(reply, "reply")),
        failure=text_or_none(data, "failure"),
        control=_control(data.get("control")),
        check=_check(data.get("check")),
    )


def _control(data: object) -> Control | None:
    if data is None:
        return None
    found = item(data, "control")
    kind = text(found, "kind")
    if kind not in get_args(ControlKind):
        raise WrongShapeError(f"there is no control call {kind[:40]!r}")
    characters, shared = whole(found, "characters"), whole(found, "shared_characters")
    return Control(cast("ControlKind", kind), characters, shared)


def _check(data: object) -> Check | None:
    if data is None:
        return None
    return Check(comparison_contract.difference_from(item(data, "check").get("difference")))


def _reply(data: Json) -> Reply:
    texts = {"answer": text(data, "answer")}
    texts |= {key: text_or_none(data, key) for key in ("thinking", "done_reason")}  # type: ignore[misc]
    counts = {k: whole_or_none(data, k) for k in Reply.__dataclass_fields__ if k not in (*texts, "pieces")}
    return Reply(**texts, **counts)  # type: ignore[arg-type]


def _samples(data: Json, key: str) -> tuple[Sample, ...]:
    return tuple(sample_from_json(item(each, key)) for each in items(data, key))


def _prompt(data: Json) -> SentPrompt:
    return SentPrompt(
        layout=text(data, "layout"),
        question=whole(data, "question"),
        sha256=text(data, "sha256"),
        expected_prompt_tokens=whole_or_none(data, "expected_prompt_tokens"),
        expected_reused_tokens=whole_or_none(data, "expected_reused_tokens"),
    )
