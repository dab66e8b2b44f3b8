"""Logs of requests: each is compared with the earlier one that it could best have reused, in one pass.

With a session named in the envelope, that is one of the session's last requests; without, one of the model's last ones,
which is how conversations that run side by side find their own. What is kept is bounded, so a log may be of any size.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from promptorder.difference.changes import HEAD, IN_FORM, WORTH, Change, compare, has, short, size
from promptorder.difference.drift import ID, PLACE
from promptorder.forms._envelope import SESSION_KEYS, TIME_KEYS, first_named, moment
from promptorder.forms._lifetimes import SLACK_S, load_options
from promptorder.forms._requests import ANTHROPIC, LLAMA_SERVER, OLLAMA, OPENAI, late_systems, unwrap
from promptorder.lint._earlier import Earlier, Group, belongs, best
from promptorder.lint.engine import Options, fingerprint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Hit, Related

RELOADED, IDLE, KEY, LATE = "model-reloaded", "idle-gap", "cache-key-changed", "late-system"
_IN_SESSION, _IN_MODEL = 8, 16
"""How many earlier requests of a session, or of a model without sessions, a request is compared with."""
_BUDGET = 96 << 20
"""Bytes of text that are kept for comparing."""
_MOST_RECORDS = 2000
_OPENINGS, _MOST_MODELS = 4, 50
"""How many sessions of a model a new session is compared with, and of how many models."""
_SHOWN = 4000
_NIGHT_S = 6 * 3600.0


class Difference(NamedTuple):
    """One cause in one session: what the first request that lost by it says. ``line`` counts from 1.

    ``start`` and ``end`` are offsets in the line, ``offset`` is where the line begins in the file, -1 in a stream.
    """

    cause: str
    line: int
    offset: int
    start: int
    end: int
    message: str
    severity: str
    changes: str
    lost_tokens: int
    occurrences: int
    earlier_line: int
    earlier_offset: int
    line_text: str


class Log(NamedTuple):
    """The differences of a log by cause, as the rules for logs ask for them."""

    by_cause: dict[str, list[Difference]]

    def hits(self, cause: str) -> Iterator[Hit]:
        """What a rule reports."""
        for each in self.by_cause.get(cause, ()):
            place, earlier = each.offset + each.start, each.earlier_offset
            yield Hit(
                place,
                each.offset + each.end,
                0,
                0,
                each.changes,
                message=each.message,
                severity=each.severity,
                worth=0,
                occurrences=each.occurrences,
                related=((earlier, earlier + 1, _could(each)),),
                stranded_tokens=each.lost_tokens,
            )


class _Loaded(NamedTuple):
    """How a model was last asked for."""

    options: tuple[tuple[str, str], ...]
    when: float | None
    life_s: float


class _Record:
    """A cause in a group: the first change by it, and how many came after it."""

    __slots__ = ("change", "count", "group", "others", "place", "text", "where")

    def __init__(self, change: Change, now: Earlier, was: Earlier, raw: str) -> None:
        self.change = change
        self.group: Group = now.group
        self.where = (now.line, now.offset, was.line, was.offset)
        text = now.parts[change.part].text if 0 <= change.part < len(now.parts) else ""
        self.place = _locate(raw, text, change.start, change.end)
        self.text = raw[:_SHOWN]
        self.count, self.others = 1, 0


class Follower:
    """Reads a log, request by request, and keeps what changed."""

    def __init__(self) -> None:
        self.requests = 0
        self._known: OrderedDict[str, deque[Earlier]] = OrderedDict()
        self._loaded: dict[str, _Loaded] = {}
        self._records: dict[tuple[int, str], _Record] = {}
        self._openings: dict[str, deque[Earlier]] = {}
        self._between: dict[str, _Record] = {}
        self._bytes = 0

    def feed(self, value: object, line: int, offset: int = -1, raw: str = "") -> None:
        """One line's value; what is no request is passed over. ``raw`` is the line, to find places in."""
        body, _ = unwrap(value)
        if body is None or not isinstance(value, dict):
            return
        session = first_named(value, SESSION_KEYS)
        when = next((found for key in TIME_KEYS if (found := moment(value.get(key))) is not None), None)
        now = Earlier(body, line, offset, when)
        if not now.parts:
            return
        self.requests += 1
        key = f"s{session}" if session else f"m{now.model}"
        window = self._known.setdefault(key, deque(maxlen=_IN_SESSION if session else _IN_MODEL))
        was, shared = best(window, now)
        changes = list(self._changes(was, now, shared, body, bool(session)))
        if was is not None and (session or changes or belongs(was, now, shared)):
            now.group = was.group
        now.group.requests += 1
        for change in changes:
            self._note(change, was or now, now, raw)
        if session and was is None:
            self._opened(now, raw)
        self._keep(key, window, was, now, shared)

    @property
    def kept_bytes(self) -> int:
        """About how much text is kept for comparing."""
        return self._bytes

    def log(self) -> Log:
        """What was found, by cause, in the order of lines."""
        by_cause: dict[str, list[Difference]] = {}
        for each in self.differences():
            by_cause.setdefault(each.cause, []).append(each)
        return Log(by_cause)

    def differences(self) -> list[Difference]:
        """What was found, in the order of lines."""
        told = {family for _, family in self._records}
        between = [record for family, record in self._between.items() if family not in told]
        found = map(_difference, (*self._records.values(), *between))
        return sorted(found, key=lambda each: (each.line, each.cause))

    def _changes(
        self, was: Earlier | None, now: Earlier, shared: int, body: dict[str, Any], in_session: bool
    ) -> Iterator[Change]:
        """What changed around the prompt, and in it; where the cache is gone anyway, no more than that."""
        options = load_options(body)
        loaded = self._loaded.get(now.model) if now.maker == OLLAMA else None
        self._loaded[now.model] = _Loaded(options, now.when, now.life.seconds if now.life else 0.0)
        if was is None:
            return
        lost = size(now.parts[:shared])
        goes_on = in_session or (shared == len(was.parts) and len(now.parts) > shared)
        if loaded is not None and loaded.options != options and lost:
            names = ", ".join(sorted({name for name, _ in set(loaded.options) ^ set(options)}))
            yield Change(RELOADED, "options", f"{names} changed, and the model is loaded again", lost)
            return
        if was.model != now.model and lost >= WORTH:
            what = f"the model changed from {short(was.model)} to {short(now.model)}"
            yield Change(RELOADED, "model", what, lost)
            return
        if was.lora != now.lora:
            yield Change(RELOADED, "lora", "the adapter changed", lost, note=True)
        gap = _gap(was, now, loaded, lost, goes_on)
        if gap is not None:
            yield gap
            return
        keys = (was.cache_key, now.cache_key)
        if all(keys) and keys[0] != keys[1] and lost >= WORTH and goes_on:
            what = f"the cache key changed from {short(keys[0])} to {short(keys[1])}"
            yield Change(KEY, "cache-key", what, lost)
        elif now.maker == ANTHROPIC and was.life and now.life and was.life != now.life and lost >= WORTH:
            what = f"{was.life.what} became {now.life.what}, and the same text is written once more"
            yield Change(KEY, "ttl", what, lost)
        change = compare(was.parts, now.parts, shared, in_session) or _late_system(was, now)
        if change is not None:
            yield change

    def _opened(self, now: Earlier, raw: str) -> None:
        """A session's first request: an id or a folder of its own keeps it from what other sessions have had read.

        A clock that stands still for a session, or the user's own words, may be meant; so only these count.
        """
        if now.model not in self._openings and len(self._openings) >= _MOST_MODELS:
            return
        fellows = self._openings.setdefault(now.model, deque(maxlen=_OPENINGS))
        was, shared = best(fellows, now)
        fellows.append(now)
        change = compare(was.parts, now.parts, shared, False) if was is not None else None
        if was is None or change is None or change.cause != HEAD or change.kind not in (ID, PLACE):
            return
        family = _family(change, now)
        if family in self._between:
            self._between[family].count += 1
        else:
            self._between[family] = _Record(change._replace(kind="session"), now, was, raw)

    def _note(self, change: Change, was: Earlier, now: Earlier, raw: str) -> None:
        key = (id(now.group), _family(change, now))
        record = self._records.get(key)
        if record is not None:
            record.count += 1
            return
        if len(self._records) >= _MOST_RECORDS:
            fellow = next((r for r in self._records.values() if r.change.cause == change.cause), None)
            if fellow is not None:
                fellow.others += 1
            return
        self._records[key] = _Record(change, now, was, raw)

    def _keep(self, key: str, window: deque[Earlier], was: Earlier | None, now: Earlier, shared: int) -> None:
        if was is not None:
            now.parts[:shared] = was.parts[:shared]  # one copy of what both begin with
        now.bytes = (
            sum(sys.getsizeof(part.text) + 150 for part in now.parts[shared if was is not None else 0 :])
            + 600
        )
        if len(window) == window.maxlen:
            self._bytes -= window[0].bytes
        window.append(now)
        self._bytes += now.bytes
        self._known.move_to_end(key)
        while self._bytes > _BUDGET and (len(self._known) > 1 or len(window) > 1):
            oldest = next(iter(self._known.values()))
            self._bytes -= oldest.popleft().bytes
            if not oldest:
                self._known.popitem(last=False)


def _gap(was: Earlier, now: Earlier, loaded: _Loaded | None, lost: int, goes_on: bool) -> Change | None:
    """Whether the cache had gone when the request came: that of the request before, or Ollama's with its model."""
    life, before = was.life, was.when
    if life is None or lost < WORTH:
        return None
    if life.seconds == 0:
        what = "keep_alive 0 unloads the model after each request"
        return Change(RELOADED, "keep-alive", what, lost)
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
    return Change(IDLE, "idle", what, lost, weak=not goes_on, note=note)


def _late_system(was: Earlier, now: Earlier) -> Change | None:
    """A system message that came after turns of the chat, and was not there before."""
    if now.maker in (OPENAI, LLAMA_SERVER):
        return None
    for index in late_systems(now.parts):
        if index >= len(was.parts) - 1 and not has(was.parts, now.parts[index]):
            chat = [part for part in now.parts[:index] if part.role not in ("tools", "schema", "system")]
            what = "a system message came late, and servers that gather them put it in front of the chat"
            return Change(LATE, "late", what, size(chat), True, index)
    return None


def _family(change: Change, now: Earlier) -> str:
    """Changes that are one cause: other text of any kind in one place is, and so is each way to rewrite the history."""
    part = now.parts[change.part] if 0 <= change.part < len(now.parts) else None
    of_text = change.cause == HEAD or (change.cause in IN_FORM and change.kind != "moved")
    if of_text and part is not None and part.role in ("system", "prompt", "user"):
        path = "/".join(map(str, part.path)) if part.role == "system" else ""
        return f"text of {part.role} {path}"
    return f"{change.cause} {change.note}"


def _locate(raw: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Where a place in a part's text stands in the line; its first character where it is not found."""
    import json

    if not raw or not text:
        return 0, 1
    for ascii_only in (False, True):
        before, word = (
            json.dumps(piece, ensure_ascii=ascii_only)[1:-1]
            for piece in (text[max(0, start - 24) : start], text[start:end])
        )
        at = raw.find(before + word)
        if at >= 0:
            return at + len(before), at + len(before) + max(1, len(word))
    return 0, 1


def _difference(record: _Record) -> Difference:
    change = record.change
    line, offset, earlier_line, earlier_offset = record.where
    tokens = change.lost // 4
    amount = f"about {tokens:,} tokens" if tokens else "what comes behind it"
    message = (
        f"{change.what}: {amount} that line {earlier_line} had sent {'are' if tokens else 'is'} read again"
    )
    if change.history:
        message += ", turns of the chat among them"
    if record.others:
        message += f"; so in {record.others} more sessions"
    # What is deliberate happens once; what a program does comes again and again.
    seldom = change.weak and (record.count < 2 or 2 * record.count < record.group.requests - 1)
    severity = "info" if change.note or seldom else _SEVERITIES.get(change.kind, "")
    changes = _CHANGES.get(change.kind, "")
    return Difference(
        change.cause, line, offset, *record.place, message, severity, changes, tokens, record.count, earlier_line,
        earlier_offset, record.text,
    )  # fmt: skip


def _could(each: Difference) -> str:
    return f"about {each.lost_tokens:,} tokens of this request could have been reused"


def findings(follower: Follower, path: str, rules: Rules, options: Options) -> Iterator[Finding]:
    """The findings of a log that was read as a stream, as the engine makes them of a file's."""
    for each in follower.differences():
        rule = rules.by_name.get(each.cause)
        if rule is None:
            continue
        severities = options.severities
        yield Finding(
            path=path,
            form="jsonl",
            line=each.line,
            column=each.start + 1,
            end_line=each.line,
            end_column=each.end + 1,
            code=rule.CODE,
            name=each.cause,
            message=each.message,
            severity=severities.get(rule.CODE)
            or severities.get(each.cause)
            or each.severity
            or rule.SEVERITY,
            confidence="high",
            changes=each.changes or rule.CHANGES,
            occurrences=each.occurrences,
            stranded_tokens=each.lost_tokens,
            related=(Related(path, each.earlier_line, each.earlier_line, _could(each)),),
            tip=rule.TIP,
            fingerprint=fingerprint(rule.CODE, "", each.line_text, each.start + 1),
            line_text=each.line_text,
        )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:,.1f} h"


_SEVERITIES = dict.fromkeys(("date", "question", "memory", "text", "session"), "warning")
"""What changes seldom, or may be meant, is no error."""
_CHANGES = {"date": "day", "environment": "checkout", "session": "session"}
