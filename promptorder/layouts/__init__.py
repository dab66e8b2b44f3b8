"""Layouts, one file each. A module defines ``LAYOUT`` and ``DEFAULT_RANK`` (None: only when asked for)."""

from __future__ import annotations

from promptorder.layouts._template import PLACEHOLDERS, Layout, parse_layout
from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.layouts", "layout")

__all__ = ["PLACEHOLDERS", "REGISTRY", "Layout", "built_in_layout", "default_layouts", "parse_layout"]


def built_in_layout(name: str) -> Layout:
    """The layout of that name; raises UsageError."""
    layout: Layout = REGISTRY.load(name).LAYOUT
    return layout


def default_layouts() -> list[str]:
    """The names of the layouts that are compared when none is named, in their order."""
    ranked = [(module.DEFAULT_RANK, name) for name, module in REGISTRY.load_all().items()]
    return [name for rank, name in sorted((r, n) for r, n in ranked if r is not None)]
