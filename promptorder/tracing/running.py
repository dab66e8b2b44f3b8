"""A run over many requests that can be ended early, and tells how it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_LOOK_EVERY = 32
_TELL_EVERY_S = 0.25

_T = TypeVar("_T")

OnProgress = Callable[[int, float], None]
"""Is told how many requests are done, and how many a second."""


class _StoppedError(KeyboardInterrupt):
    """The run is not to wait for another request."""


class Run:
    """What is asked for between two requests: whether to stop, and whether to tell."""

    def __init__(self, on_progress: OnProgress | None = None) -> None:
        self._on_progress = on_progress
        self._waiting = False
        self.stopped = False

    def stop(self) -> None:
        """End the run behind the request that is being served; for a signal's handler in the thread that runs.

        Where the run waits for the next request, it must not wait any longer: then this raises a KeyboardInterrupt that the run
        takes in.
        """
        self.stopped = True
        if self._waiting:
            raise _StoppedError

    def through(self, items: Iterable[_T]) -> Iterator[_T]:
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
        while not self.stopped:
            try:
                self._waiting = True
                item = next(following, None)
                self._waiting = False
            except _StoppedError:
                return
            if item is None:
                return
            yield item
