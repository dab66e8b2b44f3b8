"""Traces of lengths (Azure's and the like): when requests came and how many tokens they had, nothing of what stood in them.

No reuse can be told of these, so they are recognised and refused.
"""

from __future__ import annotations

import re

from promptorder.traces import Sample

SUMMARY = "lengths of requests only"
HOLDS = "lengths"
OWN_CLOCK = False

_HEADER = re.compile(
    rb'^\xef?\xbb?\xbf?"?[\w .]+"?(?:,"?[\w .]+"?)*,"?(?:context ?tokens|request tokens|num_prefill_tokens|input_length)\b',
    re.IGNORECASE,
)
_KEYS = frozenset(("input_length", "input_prompt_length", "ContextTokens", "num_prefill_tokens"))


def recognise(sample: Sample) -> float:
    """Sure of a table with a column of lengths; less so of objects with lengths and no ids."""
    if sample.lines and _HEADER.match(sample.lines[0][:1000]):
        return 1.0
    found = [each for each in sample.objects if not _KEYS.isdisjoint(each) and "hash_ids" not in each]
    return 0.5 if found and 2 * len(found) >= len(sample.objects) else 0.0
