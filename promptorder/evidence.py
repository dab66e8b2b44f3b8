"""What a running comparison has found so far, and what follows from it: asked again after each call."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from promptorder import record
from promptorder.compare_settings import CompareSettings
from promptorder.inputs._run_log import RunLog
from promptorder.measure.analysis import Analysis, analyse
from promptorder.measure.answers import answers_checked
from promptorder.measure.caveats import run_caveats
from promptorder.measure.control_texts import Text
from promptorder.measure.earlier import stale, still_true
from promptorder.measure.enough import enough
from promptorder.measure.logged import LogMatch, log_caveats
from promptorder.measure.plan import Plan
from promptorder.measure.set_up import control_texts, in_doubt
from promptorder.model.comparison import Comparison, Expectation, Verdict
from promptorder.model.engine import Engine
from promptorder.model.sample import Phase, Sample
from promptorder.model.source import DocumentInfo

_SHORT_LOG_WAIT_S, _LOG_WAIT_S = 0.2, 2.0
"""A server's lines may come that much after its answer: between blocks, and at the end."""


class Evidence:
    """The samples of a run with all that they are judged by.

    ``samples`` grow while it is measured; the first ``kept`` are those of a run that is resumed. ``earlier`` are calls of known
    reuse of another run, ``log`` is the server's, ``others`` names models that came into its memory meanwhile.
    """

    def __init__(
        self,
        settings: CompareSettings,
        plan: Plan,
        engine: Engine,
        expected: Mapping[str, Sequence[Expectation]],
        *,
        kept: Sequence[Sample] = (),
        earlier: tuple[Sample, ...] = (),
        log: RunLog | None = None,
    ) -> None:
        self._settings, self._plan, self._engine, self._expected = settings, plan, engine, expected
        self.samples, self.kept = list(kept), len(kept)
        self.earlier, self.log = earlier, log
        self.others: list[str] = []
        self._has_reused = False

    def _analysis(self, samples: Sequence[Sample], log: LogMatch | None) -> Analysis:
        names = [layout.name for layout in self._plan.layouts]
        window = self._engine.info.sliding_window_tokens
        logged = log.logged if log is not None else None
        return analyse(
            samples,
            names,
            self._expected,
            sliding_window_tokens=window,
            logged=logged,
            earlier=self._calibrating(),
        )

    def _calibrating(self) -> tuple[Sample, ...]:
        """Those calls, unless this run's first cold call shows that the machine is another by now."""
        return self.earlier if still_true(self.earlier, self.samples) else ()

    def enough(self, block: tuple[str, int]) -> bool:
        """Whether a block needs no more calls of known reuse."""
        if self.log is not None:
            return True
        gate = self._settings.gates.get(block[0])
        return enough(self.samples, self._expected, block, earlier=self._calibrating(), gate=gate)

    def _in_the_log(self, wait_s: float) -> LogMatch | None:
        """What the server's log says of the calls of this process; None where none was handed in."""
        if self.log is None:
            return None
        return self.log.match(self.samples[self.kept :], wait_s=wait_s)

    def controls(self, over: bool) -> list[Text]:
        """The texts of the control calls, where the last block leaves a doubt, or at the end all, and none were made yet."""
        info = self._engine.info
        if any(sample.phase is Phase.CONTROL for sample in self.samples):
            return []
        if over and self._has_reused and info.counts_cached_tokens:
            return []  # what is counted is not seen otherwise with more samples
        if not any(s.reply and (s.reply.prefill_ns or s.reply.read_tokens) for s in self.samples):
            return []  # they would have neither counts nor times
        # A block has its own calls of known reuse, and judging all of them after each would take its time.
        last = self.samples[-1].block
        samples = self.samples if over else [sample for sample in self.samples if sample.block == last]
        window = info.sliding_window_tokens
        log = self._in_the_log(_SHORT_LOG_WAIT_S)
        layouts = self._analysis(samples, log).layouts
        self._has_reused |= any(layout.verdict is Verdict.REUSED for layout in layouts)
        if not in_doubt(layouts, over=over, sliding_window_tokens=window):
            return []
        return control_texts(self._plan, self._expected, window, secrets.token_hex(8))

    def conclude(self, started_at: str) -> Comparison:
        """What the run came to, with what must be said about it."""
        info = self._engine.info
        log = self._in_the_log(_LOG_WAIT_S)
        analysis = self._analysis(self.samples, log)
        stale_caveats = [stale()] if self.earlier and not self._calibrating() else []
        general = run_caveats(
            info,
            analysis.layouts,
            cold=self._plan.cold,
            repeats=self._plan.repeats,
            other_models=tuple(dict.fromkeys(self.others)),
            told=[caveat.code for caveat in analysis.caveats],
        )
        return Comparison(
            started_at=started_at,
            engine=info,
            options=record.options(self._settings, self._plan, info),
            document=DocumentInfo.of(self._plan.document),
            questions=tuple(question.text for question in self._plan.questions),
            layouts=analysis.layouts,
            fastest=analysis.fastest,
            caveats=(
                *analysis.caveats,
                *stale_caveats,
                *(log_caveats(log) if log is not None else ()),
                *general,
            ),
            control_samples=tuple(s for s in self.samples if s.phase is Phase.WARM_REPEAT),
            answers_checked=tuple(answers_checked(self.samples, analysis.layouts)),
        )
