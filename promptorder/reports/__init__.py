"""Formats of a comparison, one file each.

A module defines ``SUMMARY`` and ``render(comparison, *, width, color) -> str``; ``width`` is in columns,
and both are ignored by formats for machines.
"""

from __future__ import annotations

from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.reports", "format")
