"""The shapes that other programs read, one file each; their JSON Schemas lie in ``schemas/``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of ``name`` (such as ``comparison-1``), as a dictionary."""
    text = (files(__name__) / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
