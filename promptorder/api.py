"""The work behind ``promptorder compare``, as a library.

``compare(...)`` does all of it in one call. A front end that shows progress makes a ``Comparing``, reads
what it is about to do (``plan``, ``engine``, ``notes``), and then iterates over ``events()``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Self

from promptorder import record
from promptorder._version import __version__
from promptorder.compare_settings import CompareSettings, command_words
from promptorder.contracts import run as run_contract
from promptorder.engines import open_engine
from promptorder.errors import EngineError, EngineUnreachableError, UsageError
from promptorder.evidence import Evidence
from promptorder.inputs._document import read_document
from promptorder.inputs._layouts import check_names, find_layout, read_rules
from promptorder.inputs._questions import read_questions
from promptorder.inputs._run_log import RunLog
from promptorder.layouts import default_layouts
from promptorder.measure.context import context_for
from promptorder.measure.earlier import calibrating, difference
from promptorder.measure.expected import Rendered, expectations, locate
from promptorder.measure.plan import DEFAULT_RULES, Plan
from promptorder.measure.runner import BlockStarted, Event, Sampled, run
from promptorder.model.comparison import Comparison, Expectation
from promptorder.model.engine import Engine, EngineOptions, TokenCount
from promptorder.model.prompt import Prompt
from promptorder.model.run import Run
from promptorder.model.sample import Phase, Sample
from promptorder.store.finished import load_run
from promptorder.store.run_file import RunFile

__all__ = ["CompareSettings", "Comparing", "compare"]


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
            rules=DEFAULT_RULES if settings.rules is None else read_rules(settings.rules),
            repeats=settings.repeats,
            clock_gap_s=settings.clock_gap_s,
            check_answers=settings.check_answers,
            seed=settings.seed,
        )
        check_names(self.plan.layouts)
        self.expected: dict[str, list[Expectation]] = {}
        self.why_engine = ""
        self._engine: Engine | None = None
        self._file: RunFile | None = None
        self._earlier: tuple[Sample, ...] = ()
        self._log = RunLog(settings.server_log) if settings.server_log is not None else None
        self._started_at = record.now()
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
        if self._log is not None and self._engine.info.name == "embedded":
            raise EngineUnreachableError(
                f"--server-log is of a server, and the embedded engine is none{f' ({why})' if (why := self.why_engine) else ''}",
                hint="start the server whose log it is, or leave --server-log out",
            )
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
        context = context_for(
            self.expected,
            num_predict=self.settings.num_predict,
            num_ctx=self.settings.num_ctx,
            info=self.engine.info,
        )
        self.engine.use_context(context)
        if self.settings.calibration is not None:
            self._earlier = self._calibration_of(self.settings.calibration)

    def events(self) -> Iterator[Event]:
        """Measure, and yield what happens. Each sample is on the disk before it is yielded."""
        if self._file is None:
            self.open_output()
        assert self._file is not None
        header = record.header(self.settings, self.plan, self.engine.info, self._started_at)
        kept = self._file.begin(header, len(self.plan.questions), self.plan.checks)
        self._started_at = self._file.started_at or self._started_at
        evidence = Evidence(
            self.settings,
            self.plan,
            self.engine,
            self.expected,
            kept=kept,
            earlier=self._earlier,
            log=self._log,
        )
        there = self.engine.others()
        if self._log is not None:
            self._log.begin()
        for event in run(
            self.plan,
            self.engine,
            now=datetime.now,
            sleep=time.sleep,
            skip={sample.block for sample in kept},
            controls=evidence.controls,
            enough=evidence.enough,
        ):
            if isinstance(event, BlockStarted):
                evidence.others += (name for name in self.engine.others() if name not in there)
            if isinstance(event, Sampled):
                self._file.append(event.sample)
                evidence.samples.append(event.sample)
            yield event
        self._run = Run(
            comparison=evidence.conclude(self._started_at),
            samples=tuple(evidence.samples),
            abandoned=tuple(self._file.abandoned),
            prompts=record.prompts(evidence.samples, self.expected),
            machine=record.machine(),
            templates={layout.name: self.plan.template_sha256(layout) for layout in self.plan.layouts},
            command=command_words(self.settings, self.engine.info.name, self.engine.info.model),
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

    def _calibration_of(self, path: Path) -> tuple[Sample, ...]:
        """The calls of known reuse of an earlier run. Raises UsageError where they are not like this one's would be."""
        earlier = load_run(path)
        if differing := difference(earlier, self.engine.info, record.machine()):
            raise UsageError(
                f"cannot take the calibration of {path}: {differing}",
                hint="leave --calibration out: this run then calibrates itself",
            )
        if not (samples := calibrating(earlier)):
            raise UsageError(
                f"{path} holds no calibration: its engine counts what it reuses, or its calls failed",
                hint="leave --calibration out",
            )
        return samples


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
