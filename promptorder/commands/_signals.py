"""Signals that end a command, answered in its own way while it runs."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def answering(handler: Callable[[int, object], None], *names: str) -> Iterator[None]:
    """Let ``handler`` answer these signals, as far as the system has them; afterwards they are as before."""
    known = [name for name in names if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), handler) for name in known}
    try:
        yield
    finally:
        for name, earlier in before.items():
            signal.signal(getattr(signal, name), earlier)
