"""A page to hand on: one file that loads nothing, runs nothing, and shows what is in it as text."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from promptorder._version import __version__
from promptorder.console import printable, shorten
from promptorder.errors import UsageError
from promptorder.model.comparison import Comparison, LayoutResult, SampleResult, Verdict
from promptorder.model.run import Run, Runs
from promptorder.model.sample import Phase, Reply
from promptorder.reports._build import (
    EXPLANATION,
    beside,
    caveats,
    cells,
    changed,
    headline,
    meanings,
    next_steps,
    parting,
    savings,
    subject,
)
from promptorder.reports._figures import LayoutFigures, counting, figures, hours_per_day, middle
from promptorder.reports._runs import differences, labels
from promptorder.reports._words import amount, count, percent, ratio, seconds, times

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

SUMMARY = "a page to hand on"
SUFFIXES = (".html", ".htm")

MOST_ROWS = 240
"""More samples than these make a page slow, and nobody reads them there: the CSV has them all."""
MOST_QUESTIONS = 12
MOST_CHARACTERS = 400
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]{0,40})")
_JOINERS = "\u200c\u200d"  # they shape words and emoji, and hide nothing
_VERDICTS = {
    Verdict.REUSED: "document reused",
    Verdict.NOT_REUSED: "document read again",
    Verdict.CANNOT_TELL: "cannot tell",
    Verdict.VOID: "void",
}
_METHODS = {
    "counted": "Counted: the engine tells with each reply how many of the prompt's tokens it took from its cache.",
    "logged": "Logged: the server's log tells for each call how many of the prompt's tokens it took from its cache.",
    "inferred": "Inferred: the engine does not count, so the share follows from the prefill time, between a cold call "
    "and an unchanged repeat, bounded by what the prompts share; the band says how sure it is.",
    "unknown": "Unknown: neither a count nor the time tells what was reused.",
}
_COLD = {
    "unload": "Each layout starts cold: the model is unloaded, which empties every cache, and loaded again.",
    "nonce": "Each layout starts cold: its prompts begin with a random line of their own, which no cache can hold.",
}


def check() -> None:
    """Raise UsageError where the package that makes pages is missing."""
    try:
        import jinja2
    except ImportError as error:
        raise UsageError(
            "a page needs the package jinja2, which is not installed",
            hint="pip install 'promptorder[report]'; or choose another format, such as markdown",
        ) from error
    assert jinja2.__version__


def render(run: Run, *, width: int, color: bool) -> str:
    """The page of one run; the reader's settings choose its width and colours."""
    return render_runs(Runs((run,)), width=width, color=color)


def render_runs(runs: Runs, *, width: int, color: bool) -> str:
    """The page of one or several runs."""
    check()
    return _template().render(page=_page(runs))


def clean(text: str) -> str:
    """``text`` without what would steer the page's reader: no control characters, no reversed writing."""
    if text.isprintable():
        return text
    return "".join(c if c in _JOINERS else printable(c) for c in text)


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def finalized(value: object) -> object:
        return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=finalized,
    )
    environment.filters["prose"] = _prose
    return environment.from_string(_resource("page.html.jinja"))


def _prose(text: str) -> Markup:
    """Text whose options are not broken at their dashes."""
    from markupsafe import Markup

    parts = _OPTION.split(clean(text))
    marked = (Markup('<span class="option">{}</span>').format(p) if i % 2 else p for i, p in enumerate(parts))
    return Markup("").join(marked)


@cache
def _resource(name: str) -> str:
    return (files(__package__) / "_html" / name).read_text(encoding="utf-8")


class _Part(NamedTuple):
    """A piece of a bar, in percent of its width."""

    kind: str
    x: str
    width: str


def _page(runs: Runs) -> dict[str, Any]:
    from markupsafe import Markup

    style = _resource("style.css")
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    several = len(runs.runs) > 1
    names = [shorten(name, 80) for name in labels(runs.runs)]
    every = [figures(run.comparison) for run in runs.runs]
    steps = dict.fromkeys(step for run in runs.runs for step in next_steps(run.comparison))
    methods = {layout.reused_fraction.method for run in runs.runs for layout in run.comparison.layouts}
    colds = {str(run.comparison.options.get("cold")) for run in runs.runs}
    floors = {mine.floor_method for group in every for mine in group}
    return {
        # Nothing from anywhere, no script at all, and of styles only this one.
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        # Our own file; the digest is of just these bytes.
        "style": Markup(style),  # noqa: S704
        "version": __version__,
        "title": f"Prompt layouts compared: {_short(runs.runs[0].comparison.document.path, 60)}",
        "several": several,
        "headline": _short(headline(runs)),
        "key_figures": list(_keys_of_several(runs, names) if several else _keys(runs, every[0])),
        "explanation": EXPLANATION,
        "beside": beside(runs) if several else "",
        "floor_words": _floor_words(floors),
        "rows": list(_rows(runs, names, every)),
        "differences": [_short(text) for text in differences(runs.runs)] if several else [],
        "runs": [
            _run(run, name, group, runs) for run, name, group in zip(runs.runs, names, every, strict=True)
        ],
        "steps": [_short(step) for step in steps],
        "method": [
            *(text for method, text in _METHODS.items() if method in methods),
            *(text for cold, text in _COLD.items() if cold in colds),
            "Questions are asked one at a time and in order, at temperature 0. Figures are medians.",
            "A verdict is about the document's tokens: reused where the low end of the band covers at least half of "
            "them, read again where the high end covers at most a tenth, else it cannot be told.",
        ],
    }


def _floor_words(methods: Collection[str | None]) -> str:
    words = []
    if "measured" in methods:
        words.append("measured, that of an unchanged repeat")
    if "estimated" in methods:
        words.append("estimated, what its new tokens do not explain at the cold call's speed")
    return f" ({'; '.join(words)})" if words else ""


def _keys(runs: Runs, every: Sequence[LayoutFigures]) -> Iterator[dict[str, str]]:
    reused = [mine for mine in every if mine.layout.verdict is Verdict.REUSED]
    if not reused:
        for mine in every[:4]:
            ready = seconds(mine.layout.follow_up_prefill_ns)
            yield _key(
                f"{ready} s" if ready != "-" else "-", f"prefill of a follow-up with {mine.layout.name}"
            )
        return
    best = min(reused, key=lambda mine: mine.layout.follow_up_prefill_ns or 0)
    name, share = best.layout.name, best.layout.reused_fraction
    yield _key(
        times(best.layout.first_prefill_ns, best.layout.follow_up_prefill_ns),
        f"faster follow-ups with {name}",
    )
    yield _key(percent(share.value), f"of a follow-up’s prompt was not read again ({share.method})")
    if best.saved_ns is not None:
        yield _key(
            f"{seconds(best.saved_ns)} s",
            f"less waiting for each follow-up than {best.reference or 'reading it all again'}",
        )
    hours = hours_per_day(best.saved_ns, runs.per_day)
    if hours is not None:
        yield _key(f"{amount(hours)} h", f"saved a day, at {count(runs.per_day or 0, 'follow-up')}")
    elif best.new_tokens is not None and best.prompt_tokens is not None:
        yield _key(f"{best.new_tokens:,}", f"new tokens of {best.prompt_tokens:,} read for a follow-up")


def _keys_of_several(runs: Runs, names: Sequence[str]) -> Iterator[dict[str, str]]:
    for run, name in list(zip(runs.runs, names, strict=True))[:8]:
        known = [each for each in run.comparison.layouts if each.follow_up_prefill_ns is not None]
        if known:
            best = min(known, key=lambda each: each.follow_up_prefill_ns or 0)
            yield _key(
                f"{seconds(best.follow_up_prefill_ns)} s",
                f"{name}: the fastest follow-up’s prefill, with {best.name}",
            )


def _key(value: str, text: str) -> dict[str, str]:
    return {"value": value, "text": _short(text, 160)}


def _rows(
    runs: Runs, names: Sequence[str], every: Sequence[Sequence[LayoutFigures]]
) -> Iterator[dict[str, str]]:
    several = len(runs.runs) > 1
    for name, run, group in zip(names, runs.runs, every, strict=True):
        for mine in group:
            shown = cells(mine.layout)
            spread = mine.layout.follow_up_prefill_spread_ns
            low, high = (seconds(spread[0]), seconds(spread[1])) if spread else ("", "")
            yield {
                "run": name,
                "layout": _short(shown[0], 120),
                "verdict": mine.layout.verdict.value,
                "verdict_text": _VERDICTS[mine.layout.verdict],
                "first": shown[1],
                "follow_up": shown[2],
                "spread": f"{low} to {high}" if low != high else "",
                "total": shown[3],
                "faster": shown[4],
                "possible": ratio(mine.possible) if mine.possible else "",
                "new": "-" if mine.new_tokens is None else f"{mine.new_tokens:,}",
                "prompt": "" if mine.prompt_tokens is None else f"{mine.prompt_tokens:,}",
                "floor": seconds(mine.floor_ns),
                "floor_method": mine.floor_method or "",
                "reused": shown[5],
                "band": f"{shown[6]} %" if "-" in shown[6].strip("-") else "",
                "method": shown[7],
                "change": changed(runs, run, mine.layout) if several else "",
            }


def _run(run: Run, name: str, every: Sequence[LayoutFigures], runs: Runs) -> dict[str, Any]:
    comparison = run.comparison
    samples = [result for layout in comparison.layouts for result in layout.samples]
    rows = list(_shown_samples(comparison.layouts))
    return {
        "name": name,
        "subject": _short(subject(comparison)),
        "questions": list(_questions(comparison)),
        "questions_all": f"{len(comparison.questions):,}",
        "questions_left": len(comparison.questions) > MOST_QUESTIONS,
        "shares": [_share(layout) for layout in comparison.layouts],
        "times": list(_times(run)),
        "prompts": [line for mine in every if (line := _prompt(mine)) is not None],
        "meanings": [_short(text) for text in meanings(run)],
        "savings": [_short(text) for text in savings(run, runs)],
        "caveats": [_short(text) for text in caveats(comparison)],
        "samples": [_sample_row(result) for result in rows],
        "samples_title": f"{count(len(samples), 'sample')} of {count(len(comparison.layouts), 'layout')}",
        "samples_note": _left_out(run, len(rows), len(samples)),
        "options": list(_options(comparison)),
        "command": _command(run),
        "command_note": ""
        if _is_ours(run.command)
        else "The run’s file does not hold its command line; this is the nearest to it.",
        "facts": list(_facts(run)),
    }


def _left_out(run: Run, shown: int, there: int) -> str:
    if shown == there:
        return ""
    file = shlex.quote(run.path) if run.path else "RUN.json"
    return (
        f"Shown are {shown:,} of {there:,}, the first of each layout. All of them, as a table for a spreadsheet: "
        f"promptorder report {_short(file)} --format csv --out samples.csv"
    )


def _questions(comparison: Comparison) -> Iterator[dict[str, Any]]:
    shown = comparison.questions[:MOST_QUESTIONS]
    prefills: dict[tuple[str, int], list[int]] = {}
    for layout in comparison.layouts:
        for result in layout.samples:
            reply = result.sample.reply
            if result.sample.question <= len(shown) and reply is not None and reply.prefill_ns is not None:
                prefills.setdefault((layout.name, result.sample.question), []).append(reply.prefill_ns)
    medians = {key: middle(values) for key, values in prefills.items()}
    longest = max((value or 0 for value in medians.values()), default=0)
    for number, text in enumerate(shown, start=1):
        lines = [
            _line(
                layout.name,
                f"{seconds(value)} s" if value is not None else "-",
                [("prefill", value)],
                longest,
            )
            for layout in comparison.layouts
            for value in (medians.get((layout.name, number)),)
        ]
        yield {"number": number, "text": _short(text, 240), "lines": lines}


def _share(layout: LayoutResult) -> dict[str, Any]:
    share = layout.reused_fraction
    line = _line(layout.name, percent(share.value), [("reused", share.value)], 1)
    ends = [end for end in (share.low, share.high) if end is not None]
    return {**line, "band": [_percent(end) for end in ends] if len(ends) == 2 else None}


def _times(run: Run) -> Iterator[dict[str, Any]]:
    loads: dict[str, list[int | None]] = {}
    for sample in run.samples:
        if sample.phase is Phase.LOAD and sample.reply is not None:
            loads.setdefault(sample.layout, []).append(sample.reply.load_ns)
    lines = []
    for layout in run.comparison.layouts:
        for phase, sub in ((Phase.FIRST, "cold start"), (Phase.FOLLOW_UP, "follow-up")):
            results = counting(run.comparison, layout, phase)
            if results:
                lines.append((layout.name, sub, _split(results, loads.get(layout.name, []), phase)))
    longest = max((sum(value or 0 for _, value in split) for _, _, split in lines), default=0)
    for name, sub, split in lines:
        told = ", ".join(f"{kind} {seconds(value)}" for kind, value in split if value is not None)
        total = sum(value or 0 for _, value in split)
        yield {**_line(name, f"{seconds(total)} s", split, longest), "sub": sub, "detail": told}


def _split(
    results: Sequence[SampleResult], loads: Sequence[int | None], phase: Phase
) -> list[tuple[str, int | None]]:
    replies = [result.sample.reply for result in results if result.sample.reply is not None]
    load = middle(reply.load_ns for reply in replies)
    before = middle(loads) if phase is Phase.FIRST else None
    return [
        ("load", None if load is None and before is None else (load or 0) + (before or 0)),
        ("prefill", middle(reply.prefill_ns for reply in replies)),
        ("decode", middle(reply.decode_ns for reply in replies)),
        ("other", middle(result.other_ns for result in results)),
    ]


def _prompt(mine: LayoutFigures) -> dict[str, Any] | None:
    position = mine.position
    if position is None or not position.prompt:
        return None
    shared = min(position.shared, position.prompt)
    split: list[tuple[str, int | None]] = [("reused", shared), ("read", position.prompt - shared)]
    line = _line(mine.layout.name, f"{percent(shared / position.prompt)}", split, position.prompt)
    cuts: list[str] = []
    words = []
    if position.before is not None and position.document is not None and position.after is not None:
        words = [
            f"{position.before:,} tokens before the document, {position.document:,} in it, {position.after:,} behind it."
        ]
        ends = (position.before, position.before + position.document)
        cuts = [_percent(end / position.prompt) for end in ends if 0 < end < position.prompt]
    return {**line, "cuts": cuts, "detail": " ".join([*words, parting(position)])}


def _line(
    label: str, value: str, split: Iterable[tuple[str, float | None]], longest: float
) -> dict[str, Any]:
    parts, x = [], 0.0
    for kind, part in split:
        if part and longest:
            parts.append(_Part(kind, _percent(x / longest), _percent(part / longest)))
            x += part
    return {"label": _short(label, 120), "value": value, "parts": parts}


def _percent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.2f}"


def _shown_samples(layouts: Sequence[LayoutResult]) -> Iterator[SampleResult]:
    """As many of each layout as the page can bear."""
    room = MOST_ROWS
    for number, layout in enumerate(layouts):
        share = max(1, room // (len(layouts) - number))
        if room > 0:
            yield from layout.samples[:share]
            room -= min(share, len(layout.samples))


def _sample_row(result: SampleResult) -> dict[str, Any]:
    sample, reply = result.sample, result.sample.reply or Reply("")
    reused = result.reused_tokens
    told = "-" if reused.value is None else f"{round(reused.value):,}"
    if reused.low is not None and reused.high is not None and round(reused.low) != round(reused.high):
        told += f" ({round(reused.low):,}-{round(reused.high):,})"
    parts = (reply.load_ns, reply.prefill_ns, reply.decode_ns, result.other_ns, result.total_ns)
    return {
        "layout": _short(sample.layout, 120),
        "cells": [
            f"{sample.repeat:,}",
            f"{sample.question:,}",
            _number(result.prompt_tokens),
            told,
            _number(result.expected.shared_tokens if result.expected else None),
            *(seconds(part) for part in parts),
            _number(reply.output_tokens),
        ],
        "answer": _short(f"failed: {sample.failure}" if sample.failure is not None else _answer(reply)),
    }


def _answer(reply: Reply) -> str:
    if reply.answer.strip() or not reply.thinking:
        return reply.answer
    return f"(no answer; thinking: {reply.thinking[:MOST_CHARACTERS]})"


def _options(comparison: Comparison) -> Iterator[tuple[str, str]]:
    names = {
        "repeats": "Repeats of each layout",
        "num_ctx": "Context, tokens",
        "num_predict": "Longest answer, tokens",
        "seed": "Seed",
        "temperature": "Temperature",
        "clock_gap_s": "Wait before a ticking clock, s",
    }
    for key, name in names.items():
        if comparison.options.get(key) is not None:
            yield name, _short(str(comparison.options[key]), 80)


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    comparison, machine = run.comparison, run.machine
    engine, document = comparison.engine, comparison.document
    facts = {
        "Measured": comparison.started_at,
        "Engine": f"{engine.name} {engine.version or '(version unknown)'}",
        "Model": engine.model,
        "Model digest": engine.model_digest,
        **{f"Model {key.replace('_', ' ')}": value for key, value in list(engine.facts.items())[:20]},
        "Document": document.path,
        "Document sha256": document.sha256,
        "Document characters": f"{document.characters:,}",
        "System": " ".join(
            str(machine[key]) for key in ("system", "release", "architecture") if machine.get(key)
        ),
        "Processors": machine.get("processors"),
        "Python": machine.get("python"),
        "promptorder": run.tool_version,
        "Run": run.id,
    }
    for name, value in facts.items():
        if value not in (None, ""):
            yield _short(name, 60), _short(str(value), 200)


def _is_ours(command: Sequence[str]) -> bool:
    """Whether a run's command may be shown to be copied: a file from elsewhere may hold any."""
    return tuple(command[:2]) == ("promptorder", "compare")


def _command(run: Run) -> str:
    if _is_ours(run.command):
        return _short(shlex.join(run.command), 2000)
    comparison = run.comparison
    words = ["promptorder", "compare", comparison.document.path, "--questions", "questions.txt"]
    words += ["--engine", comparison.engine.name, "--model", comparison.engine.model]
    for layout in comparison.layouts:
        words += ["--layout", layout.name]
    return _short(shlex.join(words), 2000)


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _short(text: str, most: int = MOST_CHARACTERS * 2) -> str:
    """The start of a long text, and how long it is."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text):,} characters in all)"
