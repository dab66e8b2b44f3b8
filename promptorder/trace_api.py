"""The work behind ``promptorder trace``, as a library: a trace is read, replayed and added up; nothing is printed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeVar

from promptorder.errors import UsageError
from promptorder.inputs._trace_files import TraceFiles, open_trace
from promptorder.model.trace_result import BOUND, CurvePoint, PolicyResult, TraceResult
from promptorder.policies._options import Policy, parse_policy
from promptorder.replay import Tally, replay
from promptorder.reports._prices import price_of
from promptorder.reports._trace._money import money_of, prices_of
from promptorder.tokenizers import Tokenizer
from promptorder.traces import TraceOptions
from promptorder.tracing.choice import at_sizes, default_policies, options_of, point
from promptorder.tracing.figures import curve_sizes_tokens, losses, rates, windows
from promptorder.tracing.lines import writer
from promptorder.tracing.notes import notes
from promptorder.tracing.observed import ObservedTally
from promptorder.tracing.watch import Watch

_LOOK_EVERY = 32
_TELL_EVERY_S = 0.25

_T = TypeVar("_T")

OnProgress = Callable[[int, float], None]
"""Is told how many requests are done, and how many a second."""


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What is replayed and how; the defaults are those of the command line.

    ``policies`` are texts as ``--policy`` takes them; none: what fits the trace. With ``curve`` each policy that has a size is
    replayed at ``sizes_tokens`` too, or, where there are none, from a 64th of the trace's distinct tokens to all.
    ``prices`` are texts by model, ``*`` for all others. ``per_request`` is a file that gets a line a request and policy.
    """

    policies: tuple[str, ...] = ()
    tokenizer: str | None = None
    strict: bool = False
    curve: bool = False
    sizes_tokens: tuple[int, ...] = ()
    prefill_tokens_per_s: float | None = None
    prices: Mapping[str, str] = field(default_factory=dict)
    per_request: Path | None = None


def trace(
    *paths: str | Path,
    policies: Sequence[str] = (),
    tokenizer: str | None = None,
    strict: bool = False,
    curve: bool = False,
    sizes_tokens: Sequence[int] = (),
    prefill_tokens_per_s: float | None = None,
    prices: Mapping[str, str] | None = None,
    per_request: str | Path | None = None,
) -> TraceResult:
    """Replay a trace against cache policies, and say what each would reuse.

    For example::

        result = promptorder.trace("requests.jsonl", policies=["vllm,num_blocks=5860", "unlimited"])
        print(result.policy("vllm").rates.hit_rate_tokens)

    See ``TraceSettings``. Raises UsageError for a policy or an option that there is not, InputError where a
    file is missing or holds no request, OutputError where ``per_request`` cannot be written.
    """
    settings = TraceSettings(
        policies=tuple(policies),
        tokenizer=tokenizer,
        strict=strict,
        curve=curve or bool(sizes_tokens),
        sizes_tokens=tuple(sizes_tokens),
        prefill_tokens_per_s=prefill_tokens_per_s,
        prices=prices or {},
        per_request=None if per_request is None else Path(per_request),
    )
    return Tracing(settings).run([str(path) for path in paths])


class _StoppedError(KeyboardInterrupt):
    """The run is not to wait for another request."""


class Tracing:
    """One run: opened, replayed, added up."""

    def __init__(self, settings: TraceSettings | None = None, on_progress: OnProgress | None = None) -> None:
        self._settings = settings or TraceSettings()
        self._on_progress = on_progress
        self._stopped = False
        self._waiting = False
        # Before anything is read: what is wrong in them must not cost a long run.
        self._policies = [parse_policy(text) for text in self._settings.policies]
        _check(self._settings, self._policies)

    def stop(self) -> None:
        """End the run behind the request that is being served; for a signal's handler in the thread that runs.

        Where the run waits for the next request, it must not wait any longer: then this raises a KeyboardInterrupt that the run
        takes in.
        """
        self._stopped = True
        if self._waiting:
            raise _StoppedError

    def run(self, paths: Sequence[str], stdin: BinaryIO | None = None) -> TraceResult:
        """Read and replay; ``stdin`` is what ``-`` means. See ``trace`` for what is raised."""
        settings = self._settings
        sizes = settings.sizes_tokens if settings.curve else ()
        if settings.curve and not sizes and "-" in paths:
            raise UsageError(
                "the sizes of a curve come from the whole trace, and standard input can be read only once",
                hint="give them with --sizes, or name a file",
            )
        opened = self._open(paths, stdin)
        if opened.holds == "server-log":
            return self._logged(opened)
        requests = opened.requests()
        first = next(requests)  # where there is none, an error says so
        policies = self._policies or [parse_policy(name) for name in default_policies(first)]
        with ExitStack() as stack:
            write = None
            if settings.per_request is not None:
                from promptorder.store import output

                write = writer(stack.enter_context(output(settings.per_request)))
            bound = next((n for n, policy in enumerate(policies) if policy.name == BOUND), 0)
            watch = Watch(len(policies), bound, write=write, by_model=bool(settings.prices))
            others = at_sizes(policies, sizes)
            caches = [policy.open() for policy in (*policies, *(other.policy for other in others))]
            tallies = replay(self._going(watch.passing(chain([first], requests))), caches, each=watch.each)
            if not len(tallies[0]):
                raise KeyboardInterrupt  # stopped before anything was done
        tallies, more = tallies[: len(policies)], tallies[len(policies) :]
        if settings.curve and not sizes and not self._stopped:
            others = [
                other
                for number, tally in enumerate(tallies)
                for other in at_sizes(policies, curve_sizes_tokens(tally.new_tokens))
                if other.number == number
            ]
            more = replay(
                self._going(self._open(paths, stdin).requests()), [other.policy.open() for other in others]
            )
        curves: list[list[CurvePoint]] = [[] for _ in policies]
        if not self._stopped:
            for other, tally in zip(others, more, strict=True):
                curves[other.number].append(point(other, tally))
        return self._result(opened, policies, tallies, curves, watch)

    def _open(self, paths: Sequence[str], stdin: BinaryIO | None) -> TraceFiles:
        settings = self._settings

        def tokenizer() -> Tokenizer:
            from promptorder.vocabularies import open_tokenizer

            return open_tokenizer(settings.tokenizer)

        options = TraceOptions(tokenizer=tokenizer, strict=settings.strict)
        return open_trace(paths, options, stdin=stdin)

    def _going(self, items: Iterable[_T]) -> Iterator[_T]:
        """The same until the run is stopped; tells how it goes on."""
        begun = told = time.monotonic()
        for number, item in enumerate(self._until_stopped(items), start=1):
            yield item
            if self._on_progress is not None and number % _LOOK_EVERY == 0:
                now = time.monotonic()
                if now - told >= _TELL_EVERY_S:
                    told = now
                    self._on_progress(number, number / (now - begun))

    def _until_stopped(self, items: Iterable[_T]) -> Iterator[_T]:
        following = iter(items)
        while not self._stopped:
            try:
                self._waiting = True
                item = next(following, None)
                self._waiting = False
            except _StoppedError:
                return
            if item is None:
                return
            yield item

    def _result(
        self,
        opened: TraceFiles,
        policies: Sequence[Policy],
        tallies: Sequence[Tally],
        curves: Sequence[Sequence[CurvePoint]],
        watch: Watch,
    ) -> TraceResult:
        settings, report = self._settings, opened.report
        prices, price_notes = prices_of(settings.prices, watch.models)
        speed = settings.prefill_tokens_per_s
        results = []
        for number, (policy, tally) in enumerate(zip(policies, tallies, strict=True)):
            saved_s = None if speed is None else tally.reused_tokens / speed
            results.append(
                PolicyResult(
                    name=policy.name,
                    options=options_of(policy)[0],
                    all_options=options_of(policy)[1],
                    rates=rates(tally.prompt_tokens, tally.cached_tokens),
                    new_tokens=tally.new_tokens,
                    written_tokens=tally.written_tokens,
                    losses=losses(tally),
                    worst=watch.worst(number),
                    size_option=policy.size_option,
                    curve=tuple(curves[number]),
                    windows=windows(tally.prompt_tokens, tally.cached_tokens),
                    saved_s=saved_s,
                    money=money_of(prices, watch.tokens_of[number], speed),
                )
            )
        has_text = opened.holds == "text"
        return TraceResult(
            files=tuple(file.path for file in report.files),
            form=opened.form,
            requests=len(tallies[0]),
            skipped_lines=report.skipped_lines,
            policies=tuple(results),
            observed=watch.observed.result(speed),
            early=watch.early,
            has_text=has_text,
            counting="estimated" if report.tokenizer_exact is False else "counted",
            tokenizer=report.tokenizer,
            prefill_tokens_per_s=speed,
            notes=(*self._chosen(policies), *notes(report), *price_notes),
            complete=not self._stopped,
        )

    def _chosen(self, policies: Sequence[Policy]) -> Iterator[str]:
        if not self._policies:
            names = " and ".join(policy.name for policy in policies if policy.name != BOUND)
            fitting = (
                f"{names}, which fit such a trace"
                if names
                else "no other, for the rules of that service are not known here"
            )
            yield (
                f"no --policy was given, so these were taken: {BOUND}, the most that a cache of starts could reuse, and {fitting}; "
                "all with their default options, which --list-policies tells"
            )

    def _logged(self, opened: TraceFiles) -> TraceResult:
        """What servers' own logs say was really reused; there is nothing in them to replay."""
        settings = self._settings
        if self._policies or settings.per_request is not None or settings.curve:
            raise UsageError(
                "a server's log tells what was reused, and holds no prompts to replay",
                hint="leave --policy, --per-request and --curve out, or name a log of requests",
            )
        tally = ObservedTally()
        for path, entry in self._going(opened.log_entries()):
            tally.add_entry(path, entry)
        speed = settings.prefill_tokens_per_s
        said = list(notes(opened.report))
        if tally.untold:
            said.append(f"of {tally.untold:,} more requests the log does not say what was reused")
        return TraceResult(
            files=tuple(file.path for file in opened.report.files),
            form=opened.form,
            requests=len(tally) + tally.untold,
            skipped_lines=opened.report.skipped_lines,
            policies=(),
            observed=tally.result(speed, is_log=True),
            prefill_tokens_per_s=speed,
            notes=tuple(said),
            complete=not self._stopped,
        )


def _check(settings: TraceSettings, policies: Sequence[Policy]) -> None:
    asked = [(policy.name, policy.options) for policy in policies]
    for text, each in zip(settings.policies, asked, strict=True):
        if asked.count(each) > 1:
            raise UsageError(f"the policy {text} is given twice", hint="leave one of them out")
    if any(size < 1 for size in settings.sizes_tokens):
        raise UsageError("a size of a cache must be 1 token or more", hint="write --sizes 1e5,1e6")
    speed = settings.prefill_tokens_per_s
    if speed is not None and not (math.isfinite(speed) and speed > 0):
        raise UsageError("the speed of prefill must be more than 0", hint="give tokens per second")
    for model in settings.prices:
        price_of(model, settings.prices)
