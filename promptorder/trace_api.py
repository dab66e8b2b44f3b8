"""The work behind ``promptorder trace``, as a library: a trace is read, replayed and added up; nothing is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from promptorder.errors import UsageError
from promptorder.inputs._trace_files import TraceFiles, open_trace
from promptorder.inputs._trace_sources import can_be_read_again
from promptorder.model.trace_result import BOUND, Money, PolicyResult, TraceResult, Trial, label_of
from promptorder.policies._options import Policy, parse_policy
from promptorder.reports._prices import Price
from promptorder.reports._trace._money import money_of, prices_of
from promptorder.reports._words import listed
from promptorder.tokenizers import Tokenizer
from promptorder.trace_passes import Passes, Replayed
from promptorder.trace_settings import TraceSettings, check
from promptorder.traces import TraceOptions
from promptorder.tracing.choice import options_of
from promptorder.tracing.figures import losses, rates, windows
from promptorder.tracing.notes import notes
from promptorder.tracing.observed import ObservedTally
from promptorder.tracing.running import OnProgress, Run
from promptorder.tracing.watch import Watch

_UNSAID = "what was observed has no cost: its counts do not say how many tokens were written, which have a price of their own"


def trace(
    *paths: str | Path,
    policies: Sequence[str] = (),
    tokenizer: str | None = None,
    strict: bool = False,
    curve: bool = False,
    sizes_tokens: Sequence[int] = (),
    what_if: bool | None = None,
    prefill_tokens_per_s: float | None = None,
    prices: Mapping[str, str] | None = None,
    per_request: str | Path | None = None,
    input_format: str | None = None,
    shared_ids: bool = False,
    subagents: bool = False,
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
        what_if=what_if,
        prefill_tokens_per_s=prefill_tokens_per_s,
        prices=prices or {},
        per_request=None if per_request is None else Path(per_request),
        input_format=input_format,
        shared_ids=shared_ids,
        subagents=subagents,
    )
    return Tracing(settings).run([str(path) for path in paths])


class Tracing:
    """One run: opened, replayed, added up."""

    def __init__(self, settings: TraceSettings | None = None, on_progress: OnProgress | None = None) -> None:
        self._settings = settings or TraceSettings()
        self._run = Run(on_progress)
        self._policies = [parse_policy(text) for text in self._settings.policies]
        check(self._settings, self._policies)

    def stop(self) -> None:
        """End the run early, see ``Run.stop``: what was done is told."""
        self._run.stop()

    def run(self, paths: Sequence[str], stdin: BinaryIO | None = None) -> TraceResult:
        """Read and replay; ``stdin`` is what ``-`` means. See ``trace`` for what is raised."""
        settings = self._settings
        again = can_be_read_again(paths)
        if not again and settings.curve and not settings.sizes_tokens:
            raise UsageError(
                "the sizes of a curve come from the whole trace, and a pipe can be read only once",
                hint="give them with --sizes, or name a file",
            )
        if not again and settings.what_if:
            raise UsageError(
                "other settings are replayed behind the first ones, and a pipe can be read only once",
                hint="leave --what-if out, or name a file",
            )
        opened = self._open(paths, stdin)
        if opened.holds == "server-log":
            return self._logged(opened)
        passes = Passes(settings, self._policies, self._run, self._open)
        return self._result(opened, passes.over(opened, paths if again else None))

    def _open(self, paths: Sequence[str], stdin: BinaryIO | None = None) -> TraceFiles:
        settings = self._settings

        def tokenizer() -> Tokenizer:
            from promptorder.vocabularies import open_tokenizer

            return open_tokenizer(settings.tokenizer)

        options = TraceOptions(
            tokenizer=tokenizer,
            strict=settings.strict,
            form=settings.input_format,
            one_id_space=settings.shared_ids,
            subagents=settings.subagents,
        )
        return open_trace(paths, options, stdin=stdin)

    def _result(self, opened: TraceFiles, done: Replayed) -> TraceResult:
        settings, report, watch = self._settings, opened.report, done.watch
        prices, price_notes = prices_of(settings.prices, watch.models)
        unsaid = [_UNSAID] if _unsaid(watch, prices) else []
        speed = settings.prefill_tokens_per_s
        trials: list[list[Trial]] = [[] for _ in done.policies]
        for number, (attempt, tally) in enumerate(zip(done.attempts, done.attempted, strict=True)):
            assert done.attempts_watch is not None
            trials[attempt.number].append(
                Trial(
                    label=label_of(attempt.policy.name, options_of(attempt.policy)[0]),
                    changed=attempt.changed,
                    cause=attempt.cause,
                    cached_tokens=tally.reused_tokens,
                    hit_rate_tokens=tally.hit_rate_tokens(),
                    money=money_of(prices, done.attempts_watch.tokens_of[number], speed),
                )
            )
        results = []
        for number, (policy, tally) in enumerate(zip(done.policies, done.tallies, strict=True)):
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
                    curve=tuple(done.curves[number]),
                    windows=windows(tally.prompt_tokens, tally.cached_tokens),
                    saved_s=None if speed is None else tally.reused_tokens / speed,
                    money=money_of(prices, watch.tokens_of[number], speed),
                    trials=tuple(trials[number]) or None,
                )
            )
        return TraceResult(
            files=tuple(file.path for file in report.files),
            form=opened.form,
            requests=len(done.tallies[0]),
            skipped_lines=report.skipped_lines,
            policies=tuple(results),
            observed=watch.observed.result(speed, money=self._billed(watch, prices, len(done.tallies[0]))),
            early=watch.early,
            has_text=opened.holds == "text",
            counting="estimated" if report.tokenizer_exact is False else "counted",
            tokenizer=report.tokenizer,
            prefill_tokens_per_s=speed,
            notes=(*self._chosen(done.policies), *notes(report), *price_notes, *unsaid, *done.notes),
            complete=not self._run.stopped,
        )

    def _billed(self, watch: Watch, prices: Mapping[str, Price] | None, requests: int) -> Money | None:
        """What the server's own counts cost, where they are there for all requests."""
        tally = watch.observed
        if not prices or len(tally) < requests or _unsaid(watch, prices):
            return None
        return money_of(prices, tally.tokens_of, self._settings.prefill_tokens_per_s)

    def _chosen(self, policies: Sequence[Policy]) -> Iterator[str]:
        if not self._policies:
            names = listed([policy.name for policy in policies if policy.name != BOUND])
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
        for path, entry in self._run.through(opened.log_entries()):
            tally.add_entry(path, entry)
        speed = settings.prefill_tokens_per_s
        said = list(notes(opened.report))
        if tally.untold:
            said.append(
                f"the log begins {tally.untold:,} more and does not say what was reused: refused (too long), broken off or "
                "still running"
            )
        return TraceResult(
            files=tuple(file.path for file in opened.report.files),
            form=opened.form,
            requests=len(tally),
            skipped_lines=opened.report.skipped_lines,
            policies=(),
            observed=tally.result(speed, is_log=True),
            prefill_tokens_per_s=speed,
            notes=tuple(said),
            complete=not self._run.stopped,
        )


def _unsaid(watch: Watch, prices: Mapping[str, Price] | None) -> bool:
    """Whether writing has a price, and the servers do not say what they wrote."""
    return prices is not None and any(
        prices[model].million_written is not None for model in watch.observed.unwritten
    )
