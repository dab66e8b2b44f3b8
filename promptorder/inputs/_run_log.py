"""The server's log of a run: what its calls reused, by the server's own words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from promptorder.errors import InputError
from promptorder.inputs._server_log import mark, since
from promptorder.measure.logged import LogMatch, match
from promptorder.model.sample import Sample
from promptorder.serverlog import read_log

_PAUSE_S = 0.05


class RunLog:
    """A log that is read only from where it ended when the run began. Raises InputError where it is missing."""

    def __init__(self, path: Path) -> None:
        self._mark = mark(path)

    def begin(self) -> None:
        """Leave out what was written until now."""
        self._mark = mark(self._mark.path)

    def match(self, samples: Sequence[Sample], *, wait_s: float = 0) -> LogMatch:
        """The entries of these calls, which are in the order of time and were made since the run began.

        A server's lines may come after its answers: where some are missing, they are waited for.
        """
        deadline = time.monotonic() + wait_s
        while True:
            found = self._match(samples)
            if not found.unmatched or time.monotonic() >= deadline:
                return found
            time.sleep(_PAUSE_S)

    def _match(self, samples: Sequence[Sample]) -> LogMatch:
        try:
            part = since(self._mark)
            return match(samples, read_log(part.lines), complete=part.complete)
        except InputError:  # it could be read when the run began, and a measured run is not lost with it
            return match(samples, (), complete=False)
