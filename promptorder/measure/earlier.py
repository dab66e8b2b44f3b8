"""Calls of known reuse out of an earlier run's file, taken again where nothing that changes their times has changed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from promptorder.measure.calibration import cold_call, fits, known_calls
from promptorder.measure.curve import fit
from promptorder.model.comparison import Caveat
from promptorder.model.engine import EngineInfo
from promptorder.model.run import Run
from promptorder.model.sample import Phase, Sample

_KNOWN = (Phase.FIRST, Phase.WARM_REPEAT, Phase.CALIBRATION, Phase.CHECK)


def calibrating(run: Run) -> tuple[Sample, ...]:
    """The run's calls of known reuse, under names of blocks that no layout has; empty where they draw no curve."""
    samples = tuple(
        replace(sample, layout=f"earlier: {sample.layout}")
        for sample in run.samples
        if sample.phase in _KNOWN and sample.reply is not None
    )
    try:
        return samples if fit(known_calls(samples)) is not None else ()
    except ValueError:  # a time that is none
        return ()


def difference(run: Run, engine: EngineInfo, machine: Mapping[str, Any]) -> str | None:
    """What was another in that run, so that its times are not this one's; None where nothing was."""
    then = run.comparison.engine
    if (then.name, then.version) != (engine.name, engine.version):
        return f"it was measured on {then.name} {then.version or 'of unknown version'}"
    if (then.model_digest or then.model) != (engine.model_digest or engine.model):
        return f"it was measured with another model, {then.model}"
    if then.context_tokens != engine.context_tokens:
        return f"it was measured with --num-ctx {then.context_tokens}, this run has {engine.context_tokens}"
    if then.document_goes_to != engine.document_goes_to:
        return f"it was measured on {then.document_goes_to or 'a server of this machine'}"
    of_machine = [key for key in machine if key != "python" and machine[key] != run.machine.get(key)]
    if of_machine:
        return f"it was measured on another machine ({', '.join(of_machine)} differ)"
    return None


def still_true(earlier: Sequence[Sample], samples: Sequence[Sample]) -> bool:
    """Whether the first cold call of this run took as long as those of the earlier one let expect; True before it."""
    curve = fit(known_calls(earlier))
    cold = next((call for s in samples if (call := cold_call(s)) is not None), None)
    return curve is not None and (cold is None or fits(cold, curve))


def stale() -> Caveat:
    """What a reader must know where the earlier run's calls were not used."""
    return Caveat(
        "calibration-stale",
        "the first cold call took plainly longer or shorter than those of the run named by --calibration: its "
        "calibration was left out, and calibrated anew",
    )
