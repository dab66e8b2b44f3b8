"""The passes over a trace: one with the policies, and one more with what depends on what the first one showed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain

from promptorder.inputs._trace_files import TraceFiles
from promptorder.model.trace_result import BOUND, CurvePoint
from promptorder.policies._options import Policy, parse_policy
from promptorder.replay import Tally, replay
from promptorder.trace_settings import TraceSettings
from promptorder.tracing.choice import AtSize, at_sizes, default_policies, point
from promptorder.tracing.figures import curve_sizes_tokens, losses
from promptorder.tracing.lines import writer
from promptorder.tracing.running import Run
from promptorder.tracing.watch import Watch
from promptorder.tracing.what_if import Attempt, attempts

_TRIED_WITHIN_S = 3.0
"""Other settings are tried unasked where that is likely to take no longer."""


@dataclass(slots=True)
class Replayed:
    """What the policies made of the trace, in one pass or two."""

    policies: Sequence[Policy]
    tallies: Sequence[Tally]
    watch: Watch
    curves: list[list[CurvePoint]]
    attempts: list[Attempt]
    attempted: Sequence[Tally] = ()
    attempts_watch: Watch | None = None
    notes: tuple[str, ...] = ()


class Passes:
    """``policies`` none: those that fit the first request. ``open_again`` opens the files that it is given once more."""

    def __init__(
        self,
        settings: TraceSettings,
        policies: Sequence[Policy],
        run: Run,
        open_again: Callable[[Sequence[str]], TraceFiles],
    ) -> None:
        self._settings = settings
        self._policies = policies
        self._run = run
        self._open_again = open_again

    def over(self, opened: TraceFiles, again: Sequence[str] | None) -> Replayed:
        """One pass with the policies, and where ``again`` names files, one more with what depends on what the first one showed."""
        settings = self._settings
        begun = time.monotonic()
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
            others = at_sizes(policies, settings.sizes_tokens if settings.curve else ())
            caches = [policy.open() for policy in (*policies, *(other.policy for other in others))]
            tallies = replay(
                self._run.through(watch.passing(chain([first], requests))), caches, each=watch.each
            )
            if not len(tallies[0]):
                raise KeyboardInterrupt  # stopped before anything was done
        took_s = time.monotonic() - begun
        done = Replayed(policies, tallies[: len(policies)], watch, [[] for _ in policies], [])
        if not self._run.stopped:
            _add_points(done.curves, others, tallies[len(policies) :])
            self._again(done, again, took_s / (len(caches) + 1))
        return done

    def _again(self, done: Replayed, paths: Sequence[str] | None, cache_s: float) -> None:
        """The second pass; ``cache_s`` is about what one cache takes for all requests."""
        settings, policies = self._settings, done.policies
        others: list[AtSize] = []
        if settings.curve and not settings.sizes_tokens:
            others = [
                other
                for number, tally in enumerate(done.tallies)
                for other in at_sizes(policies, curve_sizes_tokens(tally.new_tokens))
                if other.number == number
            ]
        tried: list[Attempt] = []
        if settings.what_if is not False:
            lost = [losses(tally) for tally in done.tallies]
            most = max(tally.input_tokens for tally in done.tallies)
            tried = attempts(policies, lost, most, done.watch.models)
            takes_s = cache_s * (len(tried) + 1)
            if tried and not settings.what_if and (paths is None or takes_s > _TRIED_WITHIN_S):
                done.notes = (_untried(takes_s if paths is not None else None),)
                tried = []
        if paths is None or not (others or tried):
            return
        caches = [policy.open() for policy in (*(t.policy for t in tried), *(o.policy for o in others))]
        watch = Watch(len(tried), -1, by_model=bool(settings.prices))
        again = self._open_again(paths).requests()
        tallies = replay(self._run.through(again), caches, each=watch.each)
        if not self._run.stopped:
            done.attempts, done.attempted, done.attempts_watch = tried, tallies[: len(tried)], watch
            _add_points(done.curves, others, tallies[len(tried) :])


def _add_points(
    curves: Sequence[list[CurvePoint]], others: Sequence[AtSize], tallies: Sequence[Tally]
) -> None:
    for other, tally in zip(others, tallies, strict=True):
        curves[other.number].append(point(other, tally))


def _untried(takes_s: float | None) -> str:
    if takes_s is None:
        return "other settings were not tried, for a pipe can be read only once"
    return (
        f"other settings were not tried, which would take about {takes_s:,.0f} s more: --what-if tries them"
    )
