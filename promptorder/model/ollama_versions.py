"""What the figures of an Ollama server mean, by its version: one table for the engine, doctor, the caveats and the docs.

Read off Ollama's release history and issues, and tried side by side on 0.6.5, 0.30.0, 0.33.0 and 0.33.3. Only released
versions stand in it: builds of one's own, which call themselves 0.0.0, and release candidates are judged by what they do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Version = tuple[int, int, int]
CountMeaning = Literal["whole", "read"]


class Consequence(StrEnum):
    """What can be said of reuse."""

    COUNTED = "counted"
    READ = "counted, from what was read"
    INFERRED = "inferred from the time"
    AT_LEAST = "inferred, as a lower bound"
    CANNOT_TELL = "cannot be told"
    NOTHING_CACHED = "nothing is reused"


@dataclass(frozen=True, slots=True)
class Fact:
    """One meaning of one field in a span of versions: from ``since``, up to but not including ``before``.

    ``models`` says of which models it holds ('' for all), ``field`` of which figure. ``warning`` is the sentence for a
    person, where there is reason for one, and ``source`` where it was read.
    """

    since: Version
    before: Version | None
    models: str
    field: str
    meaning: str
    consequence: Consequence
    source: str
    warning: str = ""

    def holds(self, version: Version) -> bool:
        """Whether a version lies in the span."""
        return self.since <= version and (self.before is None or version < self.before)

    @property
    def span(self) -> str:
        """The span in words."""
        if self.before is None:
            return f"{_text(self.since)} and later"
        if self.since == (0, 0, 0):
            return f"before {_text(self.before)}"
        last = _last_before(self.before)
        return _text(self.since) if last == _text(self.since) else f"{_text(self.since)} to {last}"


COUNT, CACHED, DURATION, CACHE = (
    "prompt_eval_count",
    "prompt_eval_cached_count",
    "prompt_eval_duration",
    "the cache",
)

FACTS = (
    Fact(
        (0, 0, 0),
        (0, 2, 0),
        "",
        COUNT,
        "what was read, left out where that is nothing",
        Consequence.READ,
        "ollama #2068, #3427; commit 3b5a4a77f",
        "prompt_eval_count is what was read, not the whole prompt: dashboards that divide by it are wrong",
    ),
    Fact(
        (0, 2, 0),
        (0, 25, 0),
        "",
        COUNT,
        "the whole prompt, reused or not",
        Consequence.INFERRED,
        "commit 3b5a4a77f; tried on 0.6.5",
    ),
    Fact(
        (0, 16, 0),
        (0, 17, 5),
        "MLX",
        COUNT,
        "what was read",
        Consequence.READ,
        "commit a60b9adcc",
        "of MLX models, prompt_eval_count is what was read and prompt_eval_duration the time of the last token",
    ),
    Fact(
        (0, 30, 0),
        (0, 30, 1),
        "",
        COUNT,
        "what was read",
        Consequence.READ,
        "ollama #16414, #16428; tried",
        "prompt_eval_count is what was read, not the whole prompt: dashboards that divide by it are wrong",
    ),
    Fact(
        (0, 30, 1),
        (0, 33, 3),
        "",
        COUNT,
        "the whole prompt, reused or not",
        Consequence.INFERRED,
        "commit 35fa277fa; tried on 0.33.0",
    ),
    Fact(
        (0, 33, 3),
        None,
        "",
        CACHED,
        "what was reused, beside the whole prompt",
        Consequence.COUNTED,
        "ollama #8008, #17943; tried on 0.33.3",
    ),
    Fact(
        (0, 33, 3),
        None,
        "cloud",
        CACHED,
        "absent (until September 2026 at least)",
        Consequence.INFERRED,
        "ollama #16714",
    ),
    Fact(
        (0, 0, 0),
        (0, 12, 5),
        "",
        DURATION,
        "from the request to the first token, waiting for a free slot included",
        Consequence.AT_LEAST,
        "commits bbbc73d63, 967a82f52",
        "Ollama before 0.12.5 counts waiting for a free slot as prefill: let nothing else use the server while measuring",
    ),
    Fact(
        (0, 4, 0),
        (0, 6, 2),
        "",
        DURATION,
        "in whole milliseconds",
        Consequence.INFERRED,
        "commit 3892c3a70; ollama #8649",
    ),
    Fact(
        (0, 12, 5),
        (0, 12, 7),
        "old runner",
        DURATION,
        "the last batch only",
        Consequence.CANNOT_TELL,
        "ollama #12742; commit a8d9c2648",
        "Ollama 0.12.5 and 0.12.6 report the time of the last batch only for many models: "
        "update Ollama, durations of this version cannot be trusted",
    ),
    Fact(
        (0, 16, 0),
        (0, 17, 5),
        "MLX",
        DURATION,
        "the last token only",
        Consequence.READ,
        "commit a60b9adcc",
    ),
    Fact(
        (0, 0, 0),
        (0, 1, 32),
        "",
        CACHE,
        "switched on and off between versions",
        Consequence.READ,
        "commits 10da41d67, a897e833b",
        "early versions had the cache switched off at times: see what the control calls show",
    ),
    Fact(
        (0, 30, 0),
        (0, 30, 8),
        "",
        CACHE,
        "off in calls that send shift: false",
        Consequence.NOTHING_CACHED,
        "ollama #16635; commit f8a48df24",
        "this version does not cache calls that send shift: false: leave it out of your calls",
    ),
)


def parse_version(text: str) -> Version | None:
    """(major, minor, patch) of a release; None for what must be judged by what it does: 0.0.0, -rc0, a build of one's own."""
    match = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)", text.strip())
    if match is None:
        return None
    version = (int(match[1]), int(match[2]), int(match[3]))
    return version if version != (0, 0, 0) else None


def facts_of(version: Version) -> list[Fact]:
    """All that the table says of a version."""
    return [fact for fact in FACTS if fact.holds(version)]


def warnings(version: Version) -> list[Fact]:
    """What a person should know of a version."""
    return [fact for fact in facts_of(version) if fact.warning]


def count_meaning(version: Version | None) -> CountMeaning | None:
    """Whether ``prompt_eval_count`` is the whole prompt or only what was read; None: try it out.

    That is where the version is not known, or where it depends on the model's engine.
    """
    if version is None:
        return None
    meanings = {fact.consequence is Consequence.READ for fact in facts_of(version) if fact.field == COUNT}
    return (
        None
        if len(meanings) > 1 or not (meanings or counts_reuse(version))
        else "read"
        if True in meanings
        else "whole"
    )


def counts_reuse(version: Version) -> bool:
    """Whether what was reused is counted, beside the whole prompt."""
    return any(fact.field == CACHED for fact in facts_of(version))


def duration_caveat(version: Version | None) -> str | None:
    """Where ``prompt_eval_duration`` is not simply the prefill, what it is."""
    if version is None:
        return "the server's version is no release that is known, so what its durations cover is not known"
    told = [fact.warning for fact in warnings(version) if fact.field == DURATION]
    return told[0] if told else None


def duration_is_doubtful(version: Version | None) -> bool:
    """Whether a duration may cover a part of the reading only: then it is believed where the call's total bears it out."""
    if version is None:
        return True
    parts = ("the last batch only", "the last token only")
    return any(fact.field == DURATION and fact.meaning in parts for fact in facts_of(version))


def answers_without_reading(version: Version | None) -> bool | None:
    """Whether the server renders and counts a prompt without running it; None: ask the server.

    It renders for ``_debug_render_only``, and a refusal (``truncate: false``, HTTP 400) names the tokens.
    """
    return None if version is None else version >= (0, 30, 0)


def table() -> str:
    """The table in Markdown, as it stands in docs/inference.md."""
    lines = [
        "| versions | models | figure | what it is | reuse | source |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for fact in FACTS:
        field = f"`{fact.field}`" if "_" in fact.field else fact.field
        cells = (fact.span, fact.models or "all", field, fact.meaning, fact.consequence.value, fact.source)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _text(version: Version) -> str:
    return ".".join(str(part) for part in version)


def _last_before(version: Version) -> str:
    major, minor, patch = version
    return _text((major, minor, patch - 1)) if patch else f"{major}.{minor - 1}"
