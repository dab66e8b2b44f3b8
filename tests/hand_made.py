"""Samples and comparisons made by hand, for tests of what is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promptorder.model.comparison import (
    UNKNOWN,
    Caveat,
    Comparison,
    Estimate,
    Expectation,
    LayoutResult,
    SampleResult,
    Verdict,
)
from promptorder.model.engine import EngineInfo
from promptorder.model.sample import Phase, Reply, Sample
from promptorder.model.source import DocumentInfo

AT = "2026-11-30T14:03:27.000Z"


def sample(
    phase: Phase,
    question: int,
    *,
    layout: str = "static-first",
    repeat: int = 1,
    failure: str | None = None,
    **reply: Any,
) -> Sample:
    """A call with the reply's fields as given, or with a failure."""
    answer = reply.pop("answer", "42.")
    return Sample(
        layout=layout,
        repeat=repeat,
        question=question,
        phase=phase,
        prompt_sha256="0" * 64 if question else "",
        started_at=AT,
        reply=None if failure else Reply(answer, **reply),
        failure=failure,
    )


def due(prompt: int = 1000, shared: int = 0, before: int = 50, document: int = 900) -> Expectation:
    """What a prompt allows, counted exactly."""
    return Expectation(prompt, shared, before, document, exact=True)


def counted(
    layout: str,
    cached: Sequence[int],
    *,
    prompt: int = 1000,
    answer: str = "42.",
    follow_up_ns: int = 30_000_000,
) -> tuple[SampleResult, ...]:
    """Results of an engine that counts: the first question cold, then one for each of ``cached``."""
    results = []
    for question, tokens in enumerate((0, *cached), start=1):
        call = sample(
            Phase.FOLLOW_UP if question > 1 else Phase.FIRST,
            question,
            layout=layout,
            answer=answer,
            prompt_tokens=prompt,
            cached_tokens=tokens,
            output_tokens=12,
            load_ns=4_000_000,
            prefill_ns=follow_up_ns if question > 1 else 2_000_000_000,
            decode_ns=400_000_000,
            total_ns=(follow_up_ns if question > 1 else 2_000_000_000) + 410_000_000,
        )
        shared = Expectation(prompt, tokens, 50, prompt - 80, exact=True)
        results.append(SampleResult(call, prompt, Estimate(tokens, tokens, tokens, "counted"), shared))
    return tuple(results)


def comparison(
    *, path: str = "report.pdf", model: str = "smollm2:latest", answer: str = "42.", name: str = "mine"
) -> Comparison:
    """A layout that reuses, one that does not, and one of which nothing is known."""
    failed = sample(Phase.FOLLOW_UP, 2, layout=name, failure="the reply broke off")
    return Comparison(
        started_at="2026-11-30T14:03:27Z",
        engine=EngineInfo("ollama", "0.33.3", model, context_tokens=8192, counts_cached_tokens=True),
        options={
            "seed": 7,
            "temperature": 0,
            "num_predict": 80,
            "cold": "unload",
            "clock_gap_s": 1.1,
            "repeats": 1,
            "num_ctx": 8192,
        },
        document=DocumentInfo(path, "pdf", "a" * 64, 9, pages=((1, 2), (5, 5))),
        questions=("How many?", "Since when?", answer),
        layouts=(
            LayoutResult(
                "static-first",
                Verdict.REUSED,
                Estimate(0.987, 0.985, 0.989, "counted"),
                987,
                2_000_000_000,
                30_000_000,
                (30_000_000, 30_000_000),
                436_000_000,
                counted("static-first", (985, 989), answer=answer),
            ),
            LayoutResult(
                "question-first",
                Verdict.NOT_REUSED,
                Estimate(0.04, 0.04, 0.04, "counted"),
                40,
                2_000_000_000,
                1_900_000_000,
                (1_900_000_000, 1_900_000_000),
                2_306_000_000,
                counted("question-first", (40, 40), answer=answer, follow_up_ns=1_900_000_000),
            ),
            LayoutResult(
                name,
                Verdict.VOID,
                UNKNOWN,
                None,
                None,
                None,
                None,
                None,
                (SampleResult(failed, None, UNKNOWN, None),),
            ),
        ),
        fastest="static-first",
        caveats=(
            Caveat("failed-reply", f"1 reply was not whole and left out: {answer}", name, ((1, 2),)),
            Caveat("one-repeat", "each layout was measured once: times vary"),
        ),
    )
