"""A page to hand on: one file that loads nothing, runs nothing, and shows what is in it as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from promptorder.console import shorten
from promptorder.model.comparison import Verdict
from promptorder.model.run import Run, Runs
from promptorder.reports._advice import next_steps
from promptorder.reports._figures import LayoutFigures, figures, hours_per_day
from promptorder.reports._headline import headline
from promptorder.reports._layout_table import EXPLANATION, beside, cells, changed
from promptorder.reports._page import check, render_page, short
from promptorder.reports._run_section import run_section
from promptorder.reports._runs import differences, labels
from promptorder.reports._words import amount, count, percent, ratio, seconds, times

__all__ = ["SUFFIXES", "SUMMARY", "check", "render", "render_runs"]

SUMMARY = "a page to hand on"
SUFFIXES = (".html", ".htm")

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


def render(run: Run, *, width: int, color: bool) -> str:
    """The page of one run; the reader's settings choose its width and colours."""
    return render_runs(Runs((run,)), width=width, color=color)


def render_runs(runs: Runs, *, width: int, color: bool) -> str:
    """The page of one or several runs."""
    return render_page("page.html.jinja", _page(runs))


def _page(runs: Runs) -> dict[str, Any]:
    several = len(runs.runs) > 1
    names = [shorten(name, 80) for name in labels(runs.runs)]
    every = [figures(run.comparison) for run in runs.runs]
    steps = dict.fromkeys(step for run in runs.runs for step in next_steps(run.comparison))
    methods = {layout.reused_fraction.method for run in runs.runs for layout in run.comparison.layouts}
    colds = {str(run.comparison.options.get("cold")) for run in runs.runs}
    floors = {mine.floor_method for group in every for mine in group}
    return {
        "title": f"Prompt layouts compared: {short(runs.runs[0].comparison.document.path, 60)}",
        "several": several,
        "headline": short(headline(runs)),
        "key_figures": list(_keys_of_several(runs, names) if several else _keys(runs, every[0])),
        "explanation": EXPLANATION,
        "beside": beside(runs) if several else "",
        "floor_words": _floor_words(floors),
        "rows": list(_rows(runs, names, every)),
        "differences": [short(text) for text in differences(runs.runs)] if several else [],
        "runs": [
            run_section(run, name, group, runs)
            for run, name, group in zip(runs.runs, names, every, strict=True)
        ],
        "steps": [short(step) for step in steps],
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
    return {"value": value, "text": short(text, 160)}


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
                "layout": short(shown[0], 120),
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
