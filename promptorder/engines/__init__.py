"""Engines, one file each.

A module defines ``SUMMARY``, ``AUTO_RANK`` (the order in which ``--engine auto`` tries them),
``INSTALL_HINT``, ``available(options)`` (None, or one sentence why it cannot be used) and
``open_engine(options)``, which gives an object of the protocol ``promptorder.model.engine.Engine``.
"""

from __future__ import annotations

from promptorder.errors import EngineUnreachableError
from promptorder.model.engine import Engine, EngineOptions
from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.engines", "engine")


def open_engine(name: str, options: EngineOptions) -> tuple[Engine, str]:
    """Open the engine of that name, or with ``auto`` the first that can be used.

    Returns it with a sentence why it was chosen, empty where the user named it. Raises
    EngineUnreachableError that gives the next step for each.
    """
    if name != "auto":
        engine: Engine = REGISTRY.load(name).open_engine(options)
        return engine, ""
    modules = sorted(REGISTRY.load_all().items(), key=lambda item: item[1].AUTO_RANK)
    refusals: list[str] = []
    for key, module in modules:
        reason = module.available(options)
        if reason is None:
            engine = module.open_engine(options)
            return engine, f"{'; '.join(refusals)}: using the {key} engine" if refusals else ""
        refusals.append(reason)
    raise EngineUnreachableError(
        "there is no engine to measure: " + "; ".join(refusals),
        hint=" or ".join(module.INSTALL_HINT for _, module in modules),
    )
