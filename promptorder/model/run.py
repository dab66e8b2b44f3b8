"""A run: a comparison and all that a report needs beside it. CONTRACTS: ``promptorder.run/1``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from promptorder.model.comparison import Comparison
from promptorder.model.sample import Sample


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A fingerprint of a prompt that was sent, and what was expected of it (tokens)."""

    layout: str
    question: int
    sha256: str
    expected_prompt_tokens: int | None = None
    expected_reused_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run as its file holds it; all but the comparison may be missing.

    ``samples`` are all calls of the blocks that count, loading and warm repeats too, ``abandoned`` those of
    blocks that broke off. ``templates`` maps each layout to a fingerprint of its template and the rules,
    ``command`` is the command line that repeats the run, without secrets. ``path`` is where the run was
    read from or written to.
    """

    comparison: Comparison
    samples: tuple[Sample, ...] = ()
    abandoned: tuple[Sample, ...] = ()
    prompts: tuple[SentPrompt, ...] = ()
    machine: Mapping[str, Any] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    tool_version: str | None = None
    path: str | None = None

    @property
    def id(self) -> str:
        """Eight characters that tell runs apart, the same whenever the file is read."""
        comparison = self.comparison
        engine, samples = comparison.engine, [s for layout in comparison.layouts for s in layout.samples]
        facts = [comparison.started_at, engine.name, engine.model, comparison.document.sha256]
        facts += [f"{s.sample.started_at} {s.sample.prompt_sha256}" for s in samples[:1]]
        return hashlib.sha256("\n".join(facts).encode("utf-8", "surrogatepass")).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Runs:
    """What a report is about: runs that may be compared, the first of them as the base.

    ``per_day`` is how many follow-ups there are a day; ``prices`` maps models (``*``: any) to prices as
    people write them, see docs/report.md.
    """

    runs: tuple[Run, ...]
    per_day: int | None = None
    prices: Mapping[str, str] = field(default_factory=dict)
