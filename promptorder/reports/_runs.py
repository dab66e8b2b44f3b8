"""Several runs side by side: which may be compared, and what is to be said of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from promptorder.errors import PromptorderError, UsageError
from promptorder.layouts import built_in_layout
from promptorder.model.run import Run


def machine_of(run: Run) -> str:
    """A run's machine in a few words."""
    machine = run.machine
    known = [machine.get(key) for key in ("system", "release", "architecture")]
    processors = machine.get("processors")
    words = [str(each) for each in known if each] + ([f"{processors} processors"] if processors else [])
    return " ".join(words) or "unknown"


_SAID: tuple[tuple[str, Callable[[Run], object]], ...] = (
    ("model", lambda run: run.comparison.engine.model),
    ("engine", lambda run: f"{run.comparison.engine.name} {run.comparison.engine.version or ''}".strip()),
    ("machine", machine_of),
    ("context (tokens)", lambda run: run.comparison.engine.context_tokens),
    ("longest answer (tokens)", lambda run: run.comparison.options.get("num_predict")),
    ("cold start", lambda run: run.comparison.options.get("cold")),
    ("repeats", lambda run: run.comparison.options.get("repeats")),
    ("seed", lambda run: run.comparison.options.get("seed")),
)


def check_comparable(runs: Sequence[Run]) -> None:
    """Raise UsageError, with the reason, for runs that measured different things."""
    names = labels(runs)
    for (first, a), (second, b) in combinations(zip(names, runs, strict=True), 2):
        reason = _why_not(a, b)
        if reason:
            raise UsageError(
                f"{first} and {second} must not be compared: {reason}",
                hint="report them one by one, or measure both with the same document, questions and prompts",
            )


def labels(runs: Sequence[Run]) -> list[str]:
    """What each run is called: its file's name, with its folder or number where names are alike."""
    paths = [run.path or "this run" for run in runs]
    for shown in ([_stem(path) for path in paths], paths):
        if len(set(shown)) == len(shown):
            return shown
    return [f"{number}: {path}" for number, path in enumerate(paths, 1)]


def differences(runs: Sequence[Run]) -> Iterator[str]:
    """What is not the same in all runs, and so may be the cause of a difference."""
    for what, of in _SAID:
        values = [of(run) for run in runs]
        if len({str(value) for value in values}) > 1:
            pairs = zip(labels(runs), values, strict=True)
            yield f"{what}: " + "; ".join(f"{name} {_said(value)}" for name, value in pairs)


def _said(value: object) -> str:
    return "unknown" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _stem(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".json")


def _why_not(a: Run, b: Run) -> str | None:
    mine, other = a.comparison, b.comparison
    if mine.document.sha256 != other.document.sha256:
        return f"their documents differ ({mine.document.path} and {other.document.path} hold different bytes)"
    if mine.document.pages != other.document.pages:
        return "they took different pages of the document"
    if mine.questions != other.questions:
        return "their questions differ"
    layout = _other_prompts(a, b)
    return f"their prompts differ: {layout} has another template or other rules" if layout else None


def _other_prompts(a: Run, b: Run) -> str | None:
    """The first layout that is in both runs and makes other prompts in each."""
    for layout in (each.name for each in a.comparison.layouts):
        if layout in a.templates and layout in b.templates:
            if a.templates[layout] != b.templates[layout]:
                return layout
        elif _prompts_stay(layout, a, b):
            mine, other = (
                {p.question: p.sha256 for p in r.prompts if p.layout == layout and p.sha256} for r in (a, b)
            )
            if any(mine[question] != other[question] for question in mine.keys() & other.keys()):
                return layout
    return None


def _prompts_stay(layout: str, *runs: Run) -> bool:
    """Whether a layout's prompts are the same in each run: no clock in them, and no random line."""
    try:
        template = built_in_layout(layout)
    except PromptorderError:
        return False
    moves = any(name in template.system + template.user for name in ("{clock}", "{date}"))
    return not moves and all(run.comparison.options.get("cold") == "unload" for run in runs)
