"""The work behind ``promptorder compare``, as a library.

``compare(...)`` does all of it in one call. A front end that shows progress makes a ``Comparing``, reads
what it is about to do (``plan``, ``engine``, ``notes``), and then iterates over ``events()``.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from promptorder._version import __version__
from promptorder.contracts import run as run_contract
from promptorder.engines import open_engine
from promptorder.errors import EngineError, InputError, PromptTooLongError, UsageError
from promptorder.inputs._document import read_document
from promptorder.inputs._questions import read_questions
from promptorder.layouts import Layout, built_in_layout, default_layouts, parse_layout
from promptorder.measure.analysis import analyse
from promptorder.measure.caveats import run_caveats
from promptorder.measure.expected import Rendered, expectations, locate
from promptorder.measure.plan import DEFAULT_RULES, Plan
from promptorder.measure.runner import Event, Sampled, run
from promptorder.model.comparison import Comparison, Expectation
from promptorder.model.engine import Cold, Engine, EngineOptions, TokenCount
from promptorder.model.prompt import Prompt
from promptorder.model.run import Run, Runs, SentPrompt
from promptorder.model.sample import Phase, Sample
from promptorder.model.source import DocumentInfo
from promptorder.reports._runs import check_comparable
from promptorder.store import RunFile, load_run

if TYPE_CHECKING:
    import pandas as pd

_CONTEXT_STEP_TOKENS = 256
_EXACT_MARGIN_TOKENS = 32
_ESTIMATE_MARGIN = 1.25


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """Everything that decides a comparison; the defaults are those of the command line."""

    document: str
    questions: str
    engine: str = "auto"
    model: str | None = None
    host: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_remote: bool = False
    layouts: tuple[str, ...] = ()
    rules: str | None = None
    pages: str | None = None
    password: str | None = field(default=None, repr=False)
    repeats: int = 1
    num_ctx: int | None = None
    num_predict: int = 80
    seed: int = 7
    clock_gap_s: float = 1.1
    cold: Cold | None = None
    timeout_s: float | None = None
    out: Path | None = None
    resume: bool = False


class Comparing:
    """One comparison from its inputs to its result; a context manager that leaves the model as found.

    Making it reads the inputs; ``connect`` opens the engine; ``prepare`` counts the prompts and fixes the
    context; ``events`` measures; ``result`` is there when the events have ended.
    """

    def __init__(self, settings: CompareSettings, *, stdin: BinaryIO | None = None) -> None:
        self.settings = settings
        if settings.document == settings.questions == "-":
            raise UsageError(
                "document and questions cannot both come from standard input",
                hint="name a file for one of them",
            )
        document = read_document(
            settings.document, pages=settings.pages, password=settings.password, stdin=stdin
        )
        names = settings.layouts or tuple(default_layouts())
        self.plan = Plan(
            document=document,
            questions=read_questions(settings.questions, stdin=stdin),
            layouts=tuple(find_layout(name) for name in dict.fromkeys(names)),
            rules=DEFAULT_RULES if settings.rules is None else _text_or_file(settings.rules),
            repeats=settings.repeats,
            clock_gap_s=settings.clock_gap_s,
        )
        _check_names(self.plan.layouts)
        self.expected: dict[str, list[Expectation]] = {}
        self.why_engine = ""
        self._engine: Engine | None = None
        self._file: RunFile | None = None
        self._samples: list[Sample] = []
        self._started_at = _timestamp()
        self._run: Run | None = None

    @property
    def engine(self) -> Engine:
        """The engine that is measured; there after ``connect``."""
        assert self._engine is not None, "connect first"
        return self._engine

    @property
    def result(self) -> Comparison:
        """The finished comparison; there when ``events`` has ended."""
        return self.run.comparison

    @property
    def run(self) -> Run:
        """The finished run, with all that a report needs; there when ``events`` has ended."""
        assert self._run is not None, "iterate over events first"
        return self._run

    @property
    def saved_to(self) -> Path | None:
        """The file that holds the finished samples while the run is going."""
        return self._file.partial if self._file is not None else None

    @property
    def saved_samples(self) -> int:
        """How many samples this process has put on the disk."""
        return self._file.saved if self._file is not None else 0

    @property
    def kept_questions(self) -> int:
        """How many questions a resumed run need not ask again; known when ``events`` has begun."""
        measured = (Phase.FIRST, Phase.FOLLOW_UP)
        return sum(s.phase in measured for s in self._file.kept) if self._file is not None else 0

    def open_output(self) -> None:
        """Find out that the output can be written before anything is measured. Raises OutputError."""
        self._file = RunFile(self.settings.out, resume=self.settings.resume)

    def connect(self) -> None:
        """Open the engine and choose the model. Raises EngineError and its kinds."""
        settings = self.settings
        options = EngineOptions(
            model=settings.model,
            host=settings.host,
            headers=settings.headers,
            allow_remote=settings.allow_remote,
            seed=settings.seed,
            num_predict=settings.num_predict,
            timeout_s=settings.timeout_s,
            cold=settings.cold,
        )
        self._engine, self.why_engine = open_engine(settings.engine, options)
        self.plan = replace(self.plan, cold=self._engine.cold)

    def prepare(self) -> None:
        """Count every prompt without reading it in full, choose the context, and work out what can be reused.

        Raises PromptTooLongError where a prompt and its answer do not fit.
        """
        now = datetime.now()
        sketches = {layout.name: self.plan.sketch(layout, now) for layout in self.plan.layouts}
        cache: dict[str, TokenCount] = {}
        for name, prompts in sketches.items():
            self.expected[name] = self._expect(prompts, cache)
        self.engine.use_context(self._context())

    def events(self) -> Iterator[Event]:
        """Measure, and yield what happens. Each sample is on the disk before it is yielded."""
        if self._file is None:
            self.open_output()
        assert self._file is not None
        kept = self._file.begin(self._header(), len(self.plan.questions))
        self._started_at = self._file.started_at or self._started_at
        self._samples = list(kept)
        done = {sample.block for sample in kept}
        for event in run(self.plan, self.engine, now=datetime.now, sleep=time.sleep, skip=done):
            if isinstance(event, Sampled):
                self._file.append(event.sample)
                self._samples.append(event.sample)
            yield event
        self._run = Run(
            comparison=self._conclude(),
            samples=tuple(self._samples),
            abandoned=tuple(self._file.abandoned),
            prompts=self._prompts(),
            machine=_machine(),
            templates={layout.name: self.plan.template_sha256(layout) for layout in self.plan.layouts},
            command=_command(self.settings, self.engine.info.name, self.engine.info.model),
            tool_version=__version__,
            path=str(self.settings.out) if self.settings.out else None,
        )
        self._file.finish(run_contract.to_json(self._run))

    def close(self) -> None:
        """Leave the model as it was found, and free everything; safe to call twice."""
        if self._engine is not None:
            # A server that is gone cannot be put back; the error that tells so has been raised already.
            with suppress(EngineError):
                self._engine.restore()
            self._engine.close()
            self._engine = None
        if self._file is not None:
            self._file.close()
            self._file.discard_if_empty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _expect(self, prompts: Sequence[Prompt], cache: dict[str, TokenCount]) -> list[Expectation]:
        def count(text: str) -> TokenCount:
            if text not in cache:
                cache[text] = self.engine.count_tokens(text)
            return cache[text]

        rendered: list[Rendered] = [locate(prompt, self.engine.render(prompt)) for prompt in prompts]
        whole = [self.engine.count_prompt(prompt) for prompt in prompts]
        return expectations(rendered, count, whole)

    def _context(self) -> int:
        every = [each for group in self.expected.values() for each in group]
        longest = max(each.prompt_tokens for each in every)
        exact = all(each.exact for each in every)
        margin = longest + _EXACT_MARGIN_TOKENS if exact else round(longest * _ESTIMATE_MARGIN)
        needed = margin + self.settings.num_predict
        limit = self.engine.info.max_context_tokens
        about = "" if exact else "about "
        if limit is not None and longest + self.settings.num_predict > limit:
            raise PromptTooLongError(
                f"the longest prompt has {about}{longest:,} tokens, and {self.settings.num_predict} more for the answer "
                f"do not fit the {limit:,} of {self.engine.info.model}",
                hint="send a part of the document (--pages 1-10 for a PDF), or choose a model with a longer context",
            )
        if self.settings.num_ctx is not None:
            if longest + self.settings.num_predict > self.settings.num_ctx:
                raise PromptTooLongError(
                    f"the longest prompt has {about}{longest:,} tokens and does not fit "
                    f"--num-ctx {self.settings.num_ctx:,} with {self.settings.num_predict} more for the answer",
                    hint=f"use --num-ctx {_round_up(needed)}, or leave the option out",
                )
            return self.settings.num_ctx
        return min(_round_up(needed), limit) if limit is not None else _round_up(needed)

    def _conclude(self) -> Comparison:
        names = [layout.name for layout in self.plan.layouts]
        analysis = analyse(self._samples, names, self.expected)
        general = run_caveats(
            self.engine.info, analysis.layouts, cold=self.plan.cold, repeats=self.plan.repeats
        )
        return Comparison(
            started_at=self._started_at,
            engine=self.engine.info,
            options=self._options(),
            document=DocumentInfo.of(self.plan.document),
            questions=tuple(question.text for question in self.plan.questions),
            layouts=analysis.layouts,
            fastest=analysis.fastest,
            caveats=(*analysis.caveats, *general),
            control_samples=tuple(s for s in self._samples if s.phase is Phase.WARM_REPEAT),
        )

    def _options(self) -> dict[str, Any]:
        return {
            "seed": self.settings.seed,
            "temperature": 0,
            "num_predict": self.settings.num_predict,
            "cold": self.plan.cold,
            "clock_gap_s": self.plan.clock_gap_s,
            "repeats": self.plan.repeats,
            "num_ctx": self.engine.info.context_tokens,
        }

    def _header(self) -> dict[str, Any]:
        info = self.engine.info
        return {
            "started_at": self._started_at,
            "plan": self.plan.fingerprint(),
            "engine": f"{info.name} {info.version}",
            "model": info.model_digest or info.model,
            "context": info.context_tokens,
            "seed": self.settings.seed,
            "num_predict": self.settings.num_predict,
        }

    def _prompts(self) -> tuple[SentPrompt, ...]:
        sent = {(s.layout, s.question): s.prompt_sha256 for s in self._samples if s.question}
        return tuple(
            SentPrompt(
                layout=layout,
                question=question,
                sha256=sha256,
                expected_prompt_tokens=self.expected[layout][question - 1].prompt_tokens,
                expected_reused_tokens=self.expected[layout][question - 1].shared_tokens,
            )
            for (layout, question), sha256 in sent.items()
        )


def compare(document: str | Path, *, questions: str | Path, **settings: Any) -> Comparison:
    """Measure the layouts of ``document`` with ``questions`` and return the typed result.

    ``settings`` are the fields of CompareSettings. Raises the errors of promptorder.errors; nothing is
    printed. Samples go to ``out`` where it is given.
    """
    with Comparing(CompareSettings(str(document), str(questions), **settings)) as comparing:
        comparing.open_output()
        comparing.connect()
        comparing.prepare()
        for _ in comparing.events():
            pass
        return comparing.result


def load_runs(paths: str | Path | Iterable[str | Path]) -> pd.DataFrame:
    """Run files as one tidy data frame: a row for each measured call, units in the columns' names.

    What is unknown is missing, never 0. Any runs may stand together. Raises InputError for a file that
    is no finished run.
    """
    from promptorder.reports._frame import frame

    each = [paths] if isinstance(paths, str | Path) else paths
    return frame([load_run(Path(path)) for path in each])


def load_comparable(
    paths: Iterable[str | Path], *, per_day: int | None = None, prices: Mapping[str, str] | None = None
) -> Runs:
    """Run files for one report. Raises InputError for what is none, UsageError for runs that must not be compared."""
    runs = tuple(load_run(Path(path)) for path in paths)
    check_comparable(runs)
    return Runs(runs, per_day, prices or {})


def find_layout(name: str) -> Layout:
    """A built-in layout by its name, or one of the user's own by the path of its file. Raises UsageError."""
    path = Path(name)
    if not (path.suffix or os.sep in name or path.is_file()):
        return built_in_layout(name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(
            f"cannot read the layout file {name}: {reason}",
            hint="name a file with [system] and [user] sections",
        ) from error
    return parse_layout(text, name=path.stem, path=name)


def _check_names(layouts: Sequence[Layout]) -> None:
    names = [layout.name for layout in layouts]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(
            f"two layouts are named {', '.join(sorted(twice))}", hint="rename the file of one of them"
        )


def _text_or_file(value: str) -> str:
    """``--rules`` takes the text itself, or the name of a file that holds it."""
    try:
        is_file = Path(value).is_file()
    except (OSError, ValueError):
        is_file = False  # longer than any file name can be
    if not is_file:
        return value
    try:
        return Path(value).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read the rules in {value}", hint="give a UTF-8 text file, or the text itself"
        ) from error


def _command(settings: CompareSettings, engine: str, model: str) -> tuple[str, ...]:
    """The command line of a run, with the engine and model that were found and without what is secret."""
    words = ["promptorder", "compare", settings.document, "--questions", settings.questions]
    words += ["--engine", engine, "--model", settings.model or model]
    default = CompareSettings("", "")
    if settings.host:
        words += ["--host", _without_user(settings.host)]
    if settings.allow_remote:
        words.append("--allow-remote")
    for name in settings.layouts:
        words += ["--layout", name]
    for key in (
        "rules",
        "pages",
        "repeats",
        "num_ctx",
        "num_predict",
        "seed",
        "clock_gap_s",
        "cold",
        "timeout_s",
    ):
        value = getattr(settings, key)
        if value != getattr(default, key):
            words += [f"--{key.removesuffix('_s').replace('_', '-')}", str(value)]
    return tuple(words)


def _without_user(host: str) -> str:
    """A host without the name and password that its URL may hold."""
    scheme, slashes, rest = host.rpartition("//")
    place, slash, path = rest.partition("/")
    return scheme + slashes + place.rpartition("@")[2] + slash + path


def _round_up(tokens: int) -> int:
    return -(-tokens // _CONTEXT_STEP_TOKENS) * _CONTEXT_STEP_TOKENS


def _timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _machine() -> dict[str, Any]:
    """What of this machine changes the figures; nothing that names its owner."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }
