"""What changed from an earlier request of a log to a later one: around the prompt, and in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from promptorder.difference.changes import HEAD, IN_FORM, WORTH, Change, compare, has, short, size
from promptorder.forms._lifetimes import SLACK_S, load_options
from promptorder.forms._requests import ANTHROPIC, LLAMA_SERVER, OLLAMA, OPENAI, late_systems
from promptorder.lint._earlier import Earlier

_RELOADED, _IDLE, _KEY, _LATE = "model-reloaded", "idle-gap", "cache-key-changed", "late-system"
_NIGHT_S = 6 * 3600.0


class Asked(NamedTuple):
    """How a model was asked for: its options of loading, when, and how long it stays."""

    options: tuple[tuple[str, str], ...]
    when: float | None
    life_s: float

    @classmethod
    def of(cls, now: Earlier, body: dict[str, Any]) -> Asked:
        """As this request does."""
        return cls(load_options(body), now.when, now.life.seconds if now.life else 0.0)


def changes(
    was: Earlier, now: Earlier, shared: int, *, before: Asked | None, asked: Asked, in_session: bool
) -> Iterator[Change]:
    """What changed around the prompt, and in it; where the cache is gone anyway, no more than that.

    ``shared`` is how many parts both begin with; ``before`` and ``asked`` are how the model was asked for last time, by
    whichever request, and now.
    """
    loaded, options = (before if now.maker == OLLAMA else None), asked.options
    lost = size(now.parts[:shared])
    goes_on = in_session or (shared == len(was.parts) and len(now.parts) > shared)
    if loaded is not None and loaded.options != options and lost:
        names = ", ".join(sorted({name for name, _ in set(loaded.options) ^ set(options)}))
        yield Change(_RELOADED, "options", f"{names} changed, and the model is loaded again", lost)
        return
    if was.model != now.model and lost >= WORTH:
        what = f"the model changed from {short(was.model)} to {short(now.model)}"
        yield Change(_RELOADED, "model", what, lost)
        return
    if was.lora != now.lora:
        yield Change(_RELOADED, "lora", "the adapter changed", lost, note=True)
    gap = _gap(was, now, loaded, lost, goes_on)
    if gap is not None:
        yield gap
        return
    keys = (was.cache_key, now.cache_key)
    if all(keys) and keys[0] != keys[1] and lost >= WORTH and goes_on:
        what = f"the cache key changed from {short(keys[0])} to {short(keys[1])}"
        yield Change(_KEY, "cache-key", what, lost)
    elif now.maker == ANTHROPIC and was.life and now.life and was.life != now.life and lost >= WORTH:
        what = f"{was.life.what} became {now.life.what}, and the same text is written once more"
        yield Change(_KEY, "ttl", what, lost)
    change = compare(was.parts, now.parts, shared, in_session) or _late_system(was, now)
    if change is not None:
        yield change


def family_of(change: Change, now: Earlier) -> str:
    """Changes that are one cause: other text of any kind in one place is, and so is each way to rewrite the history."""
    part = now.parts[change.part] if 0 <= change.part < len(now.parts) else None
    of_text = change.cause == HEAD or (change.cause in IN_FORM and change.kind != "moved")
    if of_text and part is not None and part.role in ("system", "prompt", "user"):
        path = "/".join(map(str, part.path)) if part.role == "system" else ""
        return f"text of {part.role} {path}"
    return f"{change.cause} {change.note}"


def _gap(was: Earlier, now: Earlier, loaded: Asked | None, lost: int, goes_on: bool) -> Change | None:
    """Whether the cache had gone when the request came: that of the request before, or Ollama's with its model."""
    life, before = was.life, was.when
    if life is None or lost < WORTH:
        return None
    if life.seconds == 0:
        what = "keep_alive 0 unloads the model after each request"
        return Change(_RELOADED, "keep-alive", what, lost)
    seconds = life.seconds
    if loaded is not None:
        before, seconds = loaded.when, loaded.life_s
    if before is None or now.when is None:
        return None
    idle = now.when - before
    if not idle > min(seconds, life.likely_s) + SLACK_S:
        return None
    note = idle <= seconds + SLACK_S or idle > _NIGHT_S
    what = f"{_minutes(idle)} passed since the request before, and {life.what} had run out"
    return Change(_IDLE, "idle", what, lost, weak=not goes_on, note=note)


def _late_system(was: Earlier, now: Earlier) -> Change | None:
    """A system message that came after turns of the chat, and was not there before."""
    if now.maker in (OPENAI, LLAMA_SERVER):
        return None
    for index in late_systems(now.parts):
        if index >= len(was.parts) - 1 and not has(was.parts, now.parts[index]):
            chat = [part for part in now.parts[:index] if part.role not in ("tools", "schema", "system")]
            what = "a system message came late, and servers that gather them put it in front of the chat"
            return Change(_LATE, "late", what, size(chat), True, index)
    return None


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:,.1f} h"
