"""Replies of an Ollama server: their figures, and whether its prefill times can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from promptorder.engines._ollama_counting import whole_number
from promptorder.model.ollama_versions import Version, duration_caveat, duration_is_doubtful
from promptorder.model.sample import Reply

_MUCH_NS = 200_000_000
"""What a server does beside loading, reading and writing took up to 50 ms; several times that on a busy machine."""
_BY_OUR_CLOCK = (
    "the server gives no times of its own, as some that imitate Ollama: the time to the first token by our clock stands "
    "for the prefill"
)
_PART_OF_READING = (
    "this server's prompt_eval_duration covers only a part of the reading: nothing is inferred from it. "
    "Update Ollama to 0.33.3 or later"
)


def reply_of(
    last: Mapping[str, Any],
    answer: Sequence[str],
    thinking: Sequence[str],
    *,
    first_token_ns: int | None,
    elapsed_ns: int,
    counts_what_was_read: bool,
) -> Reply:
    """A reply out of the pieces of its text and the ``last`` part of its stream, which holds the figures.

    ``counts_what_was_read`` is whether this server's ``prompt_eval_count`` leaves out what was reused.
    """
    count, cached = whole_number(last, "prompt_eval_count"), whole_number(last, "prompt_eval_cached_count")
    only_read = cached is None and counts_what_was_read
    read = count - cached if count and cached is not None else None
    return Reply(
        answer="".join(answer),
        thinking="".join(thinking) or None,
        prompt_tokens=None if only_read else count,
        cached_tokens=cached,
        read_tokens=(count or 0) if only_read else read,
        output_tokens=whole_number(last, "eval_count"),
        prefill_ns=whole_number(last, "prompt_eval_duration"),
        decode_ns=whole_number(last, "eval_duration"),
        load_ns=whole_number(last, "load_duration"),
        total_ns=whole_number(last, "total_duration"),
        first_token_ns=first_token_ns,
        elapsed_ns=elapsed_ns,
        done_reason=str(last["done_reason"]) if last.get("done_reason") else None,
        pieces=tuple(piece for piece in answer if piece),
    )


class PrefillTimes:
    """Whether the prefill times of a server are of all that it reads; ``caveat`` is what must be said of them."""

    def __init__(self, version: Version | None) -> None:
        self._released = version is not None
        # Until a cold call has shown that they are whole, or are not.
        self._are: Literal["whole", "doubtful", "parts"] = (
            "doubtful" if duration_is_doubtful(version) else "whole"
        )
        self.caveat = duration_caveat(version)

    def believed(self, reply: Reply, *, cold: bool) -> Reply:
        """Without a prefill time where this server's covers a part of the reading: a ``cold`` call's total tells."""
        if self._are == "doubtful" and cold and reply.waited_ns is not None:
            if reply.waited_ns > max(_MUCH_NS, reply.prefill_ns or 0):
                self._are, self.caveat = "parts", _PART_OF_READING
            elif self._released:
                self.caveat = None  # not of all models are they parts
        if reply.prefill_ns is None and reply.total_ns is None and reply.first_token_ns is not None:
            self.caveat = _BY_OUR_CLOCK
            return replace(reply, prefill_ns=reply.first_token_ns)
        return replace(reply, prefill_ns=None) if self._are == "parts" else reply
