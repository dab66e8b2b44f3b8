"""JSON lines: a log of requests, bare or in envelopes with a time and a session; a data set holds none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from promptorder.forms import FormError
from promptorder.model.lint import Prompt, Source

if TYPE_CHECKING:
    from promptorder.lint.engine import Options
    from promptorder.lint.logs import Follower
    from promptorder.lint.registry import Rules
    from promptorder.model.lint import Finding

SUFFIXES = (".jsonl", ".ndjson")
NAMES = ()
PLAIN = False


def prompts(source: Source) -> Iterator[Prompt]:
    """One prompt, whose ``request`` is the log; a log of one request is that request."""
    from promptorder.lint.logs import Follower

    follower = Follower()
    text, start = source.text, 0
    broken: tuple[int, str] | None = None
    filled: list[tuple[int, int]] = []
    for number, (start, end) in enumerate(_lines(text), 1):
        raw = text[start:end]
        if not raw.strip():
            continue
        filled = [*filled[:1], (start, end)]
        wrong = _feed(follower, raw, number, start)
        broken = broken or wrong
    if follower.requests == 1 and len(filled) == 1:
        yield from _one(source, *filled[0])
    elif follower.requests:
        yield Prompt((), literal=True, request=follower.log())
    if broken:
        raise FormError(f"line {broken[0]} is not JSON: {broken[1]}", broken[0])


def log_findings(
    lines: Iterable[bytes], path: str, rules: Rules, options: Options | None = None
) -> Iterator[Finding]:
    """The findings of a log of any size, in bounded memory, from its lines as a binary file yields them.

    Raises FormError after the last finding where a line was not JSON.
    """
    from promptorder.lint.engine import Options
    from promptorder.lint.logs import Follower, findings

    follower = Follower()
    broken: tuple[int, str] | None = None
    number = 0
    for data in lines:
        text = data.decode("utf-8", "replace")
        if number == 0:
            text = text.removeprefix("\ufeff")
        for start, end in _lines(text):
            number += 1
            raw = text[start:end]
            if raw.strip():
                wrong = _feed(follower, raw, number, -1)
                broken = broken or wrong
    yield from findings(follower, path, rules, options or Options())
    if broken:
        raise FormError(f"line {broken[0]} is not JSON: {broken[1]}", broken[0])


def _feed(follower: Follower, raw: str, number: int, start: int) -> tuple[int, str] | None:
    """Give a line to the follower; what is wrong with a line that is not JSON."""
    from json import JSONDecodeError, loads

    try:
        follower.feed(loads(raw), number, start, raw)
    except JSONDecodeError as error:
        return number, error.msg
    except RecursionError:
        return number, "nested too deeply"
    except ValueError as error:  # a number with thousands of digits
        return number, str(error)
    return None


def _one(source: Source, start: int, end: int) -> Iterator[Prompt]:
    """A log of one line, as the request that it holds, its places moved to where they stand in the file."""
    from promptorder.forms import json
    from promptorder.forms._requests import Request

    for prompt in json.prompts(source._replace(text=source.text[start:end])):
        segments = (
            each._replace(
                start=each.start + start,
                end=each.end + start,
                marks=tuple((a, b + start) for a, b in each.marks),
            )
            for each in prompt.segments
        )
        request = prompt.request
        if isinstance(request, Request):
            moved = {path: (a + start, b + start) for path, (a, b) in request.places.items()}
            request = request._replace(places=moved)
        yield prompt._replace(segments=tuple(segments), request=request)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    r"""Start and end of each line, without its end: ``\n``, ``\r\n`` or ``\r``."""
    start, length = 0, len(text)
    lone = "\r" in text
    while start < length:
        end = text.find("\n", start)
        end = length if end < 0 else end
        if lone:
            cut = text.find("\r", start, end)
            if 0 <= cut < end - 1:
                yield start, cut
                start = cut + 1
                continue
            if cut >= 0:
                yield start, cut
                start = end + 1
                continue
        yield start, end
        start = end + 1
