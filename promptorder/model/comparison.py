"""Results: what a run of layouts came to. CONTRACTS: ``promptorder.comparison/1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from promptorder.model.engine import EngineInfo
from promptorder.model.sample import Difference, Sample
from promptorder.model.source import DocumentInfo

Method = Literal["counted", "logged", "inferred", "unknown"]


class Verdict(StrEnum):
    """Whether the document's tokens were reused in the follow-up questions."""

    REUSED = "reused"
    NOT_REUSED = "not-reused"
    CANNOT_TELL = "cannot-tell"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % band and where it comes from; all None where nothing is known."""

    value: float | None
    low: float | None
    high: float | None
    method: Method


UNKNOWN = Estimate(None, None, None, "unknown")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the prompts themselves allow, before anything is measured; tokens.

    ``prompt`` is the whole prompt, ``shared`` the longest start that it has in common with an earlier
    prompt of its block, ``before_document`` and ``document`` say where the document stands (None in files of
    versions that did not keep it).
    ``exact`` is whether the model's tokenizer counted the whole prompt.
    """

    prompt_tokens: int
    shared_tokens: int
    before_document_tokens: int | None
    document_tokens: int | None
    exact: bool


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something the reader must know to read the figures; ``samples`` are (repeat, question) pairs."""

    code: str
    message: str
    layout: str | None = None
    samples: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SampleResult:
    """A measured sample with what it reused (tokens) and what was expected of it."""

    sample: Sample
    prompt_tokens: int | None
    reused_tokens: Estimate
    expected: Expectation | None

    @property
    def other_ns(self) -> int | None:
        """What is left of the total beside loading, prefill and decode."""
        reply = self.sample.reply
        if reply is None or None in (reply.total_ns, reply.prefill_ns, reply.decode_ns):
            return None
        assert reply.total_ns is not None
        parts = (reply.load_ns or 0) + (reply.prefill_ns or 0) + (reply.decode_ns or 0)
        return max(0, reply.total_ns - parts)

    @property
    def total_ns(self) -> int | None:
        """The call's time without loading."""
        reply = self.sample.reply
        if reply is None or reply.total_ns is None:
            return None
        return max(0, reply.total_ns - (reply.load_ns or 0))


@dataclass(frozen=True, slots=True)
class LayoutResult:
    """One layout's figures in ns and tokens: medians over its samples, and the least and most of them (spread)."""

    name: str
    verdict: Verdict
    reused_fraction: Estimate
    expected_reused_tokens: int | None
    first_prefill_ns: int | None
    follow_up_prefill_ns: int | None
    follow_up_prefill_spread_ns: tuple[int, int] | None
    follow_up_total_ns: int | None
    samples: tuple[SampleResult, ...]
    first_prefill_spread_ns: tuple[int, int] | None = None
    follow_up_total_spread_ns: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """A follow-up's answer beside the one to the same prompt asked cold. ``difference`` is None where they are the same.

    ``failure`` says why there is no second answer; then nothing was compared. ``reused_tokens`` is what the
    first one reused, as far as it is known.
    """

    layout: str
    repeat: int
    question: int
    reused_tokens: int | None
    difference: Difference | None
    answer: str
    cold_answer: str
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything a report needs. ``options`` are those of CONTRACTS with their values as used."""

    started_at: str
    engine: EngineInfo
    options: Mapping[str, Any]
    document: DocumentInfo
    questions: tuple[str, ...]
    layouts: tuple[LayoutResult, ...]
    fastest: str | None
    caveats: tuple[Caveat, ...] = ()
    control_samples: tuple[Sample, ...] = field(default=(), repr=False)
    answers_checked: tuple[AnswerCheck, ...] = ()

    def layout(self, name: str) -> LayoutResult:
        """The result of one layout; raises KeyError."""
        for result in self.layouts:
            if result.name == name:
                return result
        raise KeyError(name)
