"""Prompts as token ids, one a line: ``{"prompt": [ids], "generated": [ids]}``.

What the server reused may stand beside them as ``cached_tokens`` or ``cache_n``; null is unknown.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from promptorder.model.trace import TraceRequest
from promptorder.traces import Sample
from promptorder.traces._envelope import count, moment_of, name_of, session_of
from promptorder.traces._ids import tokens
from promptorder.traces._reading import Reading

SUMMARY = "token ids (JSON lines)"
HOLDS = "tokens"
OWN_CLOCK = False

_PROMPTS = ("prompt", "prompt_token_ids", "input_ids", "token_ids")
_ANSWERS = ("generated", "output_token_ids", "output_ids")
_CACHED = ("cached_tokens", "cache_n")


def recognise(sample: Sample) -> float:
    """Sure where the first objects hold lists of numbers as prompts."""
    found = sum(1 for each in sample.objects if _numbers(each))
    return 0.9 if found and 2 * found >= len(sample.objects) else 0.0


def read(values: Iterable[tuple[int, dict[str, Any]]], reading: Reading) -> Iterator[TraceRequest]:
    """A request a line; lines without ids are skipped."""
    path = reading.path
    for line, value in values:
        prompt = next((found for key in _PROMPTS if type(found := value.get(key)) is list), None)
        if prompt is None:
            reading.skip(line, f"no list of token ids under {' or '.join(_PROMPTS[:2])}")
            continue
        answer = next((found for key in _ANSWERS if type(found := value.get(key)) is list), [])
        try:
            ids, generated = tokens(prompt), tokens(answer)
        except ValueError as error:
            reading.skip(line, str(error))
            continue
        cached = next((value[key] for key in _CACHED if key in value), None)
        yield TraceRequest(
            index=0,
            line=line,
            ids=ids,
            generated=generated,
            output_tokens=len(generated) or None,
            at_s=moment_of(value),
            namespace=name_of(value),
            session=session_of(value),
            model=name_of(value),
            may_reuse=value.get("cache_prompt") is not False,
            observed_cached_tokens=count(cached),
            path=path,
        )


def _numbers(value: dict[str, Any]) -> bool:
    for key in _PROMPTS:
        found = value.get(key)
        if type(found) is list:
            try:
                array("q", found[:8])
            except (TypeError, OverflowError):
                return False
            return True
    return False
