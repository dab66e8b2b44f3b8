"""What each engine can tell of itself to ``promptorder doctor``, one file an engine.

A module is named as its engine and defines ``inspect(options, model)``, which gives ServerFacts and, for a
model by name, ModelFacts; and ``default_keep_alive_s(options, model, context_tokens)``.
"""

from __future__ import annotations

from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.engines._inspect", "engine")
