"""``promptorder.report/1``: one or several runs with what follows from their figures."""

from __future__ import annotations

from typing import Any

from promptorder._version import __version__
from promptorder.contracts import comparison as comparison_contract
from promptorder.model.run import Run, Runs
from promptorder.reports._figures import LayoutFigures, change, figures, hours_per_day
from promptorder.reports._prices import money_per_day, price_of
from promptorder.reports._runs import differences, labels

SCHEMA = "promptorder.report/1"


def report_to_json(runs: Runs) -> dict[str, Any]:
    """The object of the contract; ``change`` is beside the same layout of the first run."""
    names = labels(runs.runs)
    return {
        "schema": SCHEMA,
        "tool_version": __version__,
        "per_day": runs.per_day,
        "differences": list(differences(runs.runs)),
        "runs": [_run(run, name, runs) for run, name in zip(runs.runs, names, strict=True)],
    }


def _run(run: Run, name: str, runs: Runs) -> dict[str, Any]:
    every = figures(run.comparison)
    base = {layout.name: layout for layout in runs.runs[0].comparison.layouts}
    return {
        "name": name,
        "id": run.id,
        "path": run.path,
        "command": list(run.command),
        "machine": dict(run.machine),
        "comparison": comparison_contract.to_json(run.comparison),
        "layouts": [
            {
                **_figures(each, every, run, runs),
                "change": None
                if run is runs.runs[0] or each.layout.name not in base
                else change(base[each.layout.name], each.layout),
            }
            for each in every
        ],
    }


def _figures(mine: LayoutFigures, every: list[LayoutFigures], run: Run, runs: Runs) -> dict[str, Any]:
    reference = next((each for each in every if each.layout.name == mine.reference), None)
    price = price_of(run.comparison.engine.model, runs.prices)
    money = money_per_day(mine, reference, runs.per_day, price) if price else None
    return {
        "name": mine.layout.name,
        "prompt_tokens": mine.prompt_tokens,
        "new_tokens": mine.new_tokens,
        "possible_speed_up": mine.possible,
        "speed_up": mine.speed_up,
        "floor_ns": mine.floor_ns,
        "floor_method": mine.floor_method,
        "saved_beside": mine.reference,
        "saved_ns": mine.saved_ns,
        "pays_after_follow_ups": mine.pays_after,
        "saved_hours_a_day": hours_per_day(mine.saved_ns, runs.per_day),
        "saved_money_a_day": money,
        "currency": price.currency if price else None,
    }
