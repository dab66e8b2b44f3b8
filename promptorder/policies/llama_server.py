"""llama-server of llama.cpp: slots that keep their last prompt, and a cache of prompts in the host's memory.

A request takes the slot that shares most with it, in relation to its own length, if that is more than a tenth; else the slot unused
for longest. Where little of what that slot holds would be kept, its prompt is copied into the host's cache, and a
better one is loaded from there. Read in its sources (tools/server) and held against the server itself, build b10434,
request by request. Not modelled: models whose cache cannot be cut back (sliding window, recurrent, hybrid), which resume at checkpoints,
draft models, and prompts with images.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptorder.model.trace import Cache
from promptorder.policies._runners import Runners
from promptorder.policies._slots import ServerOptions, Slots

SIZE = "slots"


@dataclass(frozen=True, slots=True)
class Options(ServerOptions):
    """The server's flags. ``slots``: how many prompts it keeps at hand."""

    slots: int = 1

    def __post_init__(self) -> None:
        if not self.slots or not self.context_tokens:
            raise ValueError("slots and context_tokens must be 1 or more")


def size_unit_tokens(options: Options) -> int:
    """What one slot holds."""
    return options.slot_tokens


def open_cache(options: Options) -> Cache:
    """A server without any prompt; one for each namespace of a trace."""
    return Runners(
        lambda: Slots(options, options.slots),
        hash_block_tokens=options.hash_block_tokens,
        keep_alive_s=None,
    )
