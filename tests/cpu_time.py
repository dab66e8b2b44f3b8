"""CPU time of a piece of work alone, for tests of how time grows."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def collector_off() -> Iterator[None]:
    """Time what stands inside without the collector, which would walk what all other tests of the process have left."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def cpu_s(work: Callable[[], object]) -> float:
    """Seconds of CPU that ``work`` takes in this process."""
    begun = time.process_time()
    work()
    return time.process_time() - begun
