"""Logs of requests: each is compared with the earlier one that it could best have reused, in one pass.

With a session named in the envelope, that is one of the session's last requests; without, one of the model's last ones,
which is how conversations that run side by side find their own. What is kept is bounded, so a log may be of any size.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from promptorder.forms._requests import LLAMA_SERVER, OLLAMA, OPENAI, UNKNOWN, Part, late_systems, parts, provider, unwrap
from promptorder.lint import _changes
from promptorder.lint._changes import Change, compare
from promptorder.lint._drift import common_start
from promptorder.lint._lifetimes import SLACK_S, cache_key, lifetime, load_options, moment
from promptorder.lint.engine import Options, fingerprint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Hit, Related

RELOADED, IDLE, KEY, LATE = "model-reloaded", "idle-gap", "cache-key-changed", "late-system"
_SESSION_KEYS = (
    "session", "session_id", "sessionId", "conversation", "conversation_id", "conversationId", "chat_id", "thread_id", "thread",
)  # fmt: skip
_TIME_KEYS = ("ts", "timestamp", "time", "created_at", "started_at", "start_time", "created", "date")
_IN_SESSION, _IN_MODEL = 8, 16
"""How many earlier requests of a session, or of a model without sessions, a request is compared with."""
_BUDGET = 96 << 20
"""Bytes of text that are kept for comparing."""
_MOST_RECORDS = 2000
_SHOWN = 4000
_STEP = 64
_NIGHT_S = 6 * 3600.0
_WORTH = 160


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


class _Group:
    """A session, or requests without one that belong together."""

    __slots__ = ("requests",)

    def __init__(self) -> None:
        self.requests = 0


class _Kept:
    """What is kept of an earlier request: its parts, and a hash of each start of them."""

    __slots__ = ("bytes", "cache_key", "chain", "earlier", "group", "life", "line", "lora", "maker", "model", "offset", "parts", "when")

    def __init__(self, body: dict[str, Any], line: int, offset: int, when: float | None) -> None:
        self.line, self.offset, self.when = line, offset, when
        self.model = str(body.get("model", ""))
        self.parts: list[Part] = parts(body)
        self.chain: list[int] = []
        seen = 0
        for part in self.parts:
            seen = hash((seen, part.role, part.kind, part.text))
            self.chain.append(seen)
        self.cache_key = cache_key(body)
        self.lora = str(body.get("lora", ""))
        self.maker = provider(body)
        self.life = lifetime(self.maker, body)
        self.group = _Group()
        self.bytes = 0

    def shares(self, other: _Kept) -> int:
        """How many parts both begin with."""
        low, high = 0, min(len(self.chain), len(other.chain))
        while low < high:
            middle = (low + high + 1) // 2
            if self.chain[middle - 1] == other.chain[middle - 1]:
                low = middle
            else:
                high = middle - 1
        return low


class _Loaded(NamedTuple):
    """How a model was last asked for."""

    options: tuple[tuple[str, str], ...]
    when: float | None
    life_s: float


class _Record:
    """A cause in a group: the first change by it, and how many came after it."""

    __slots__ = ("change", "count", "group", "others", "place", "text", "where")

    def __init__(self, change: Change, now: _Kept, was: _Kept, raw: str) -> None:
        self.change, self.group = change, now.group
        self.where = (now.line, now.offset, was.line, was.offset)
        text = now.parts[change.part].text if 0 <= change.part < len(now.parts) else ""
        self.place = _locate(raw, text, change.start, change.end)
        self.text = raw[:_SHOWN]
        self.count, self.others = 1, 0


class Follower:
    """Reads a log, request by request, and keeps what changed."""

    def __init__(self) -> None:
        self.requests = 0
        self._known: OrderedDict[str, deque[_Kept]] = OrderedDict()
        self._groups: dict[str, _Group] = {}
        self._loaded: dict[str, _Loaded] = {}
        self._records: dict[tuple[int, str], _Record] = {}
        self._bytes = 0

    def feed(self, value: object, line: int, offset: int = -1, raw: str = "") -> None:
        """One line's value; what is no request is passed over. ``raw`` is the line, to find places in."""
        body, _ = unwrap(value)
        if body is None or not isinstance(value, dict):
            return
        session = _first(value, _SESSION_KEYS)
        when = next((found for key in _TIME_KEYS if (found := moment(value.get(key))) is not None), None)
        now = _Kept(body, line, offset, when)
        if not now.parts:
            return
        self.requests += 1
        key = f"s{session}" if session else f"m{now.model}"
        window = self._known.setdefault(key, deque(maxlen=_IN_SESSION if session else _IN_MODEL))
        was, shared = _best(window, now)
        changes = list(self._changes(was, now, shared, body, bool(session)))
        if was is not None and (session or changes or _belongs(was, now, shared)):
            now.group = was.group
        now.group.requests += 1
        for change in changes:
            self._note(change, was or now, now, raw)
        self._keep(key, window, was, now, shared)

    def log(self) -> Log:
        """What was found, by cause, in the order of lines."""
        by_cause: dict[str, list[Difference]] = {}
        for each in self.differences():
            by_cause.setdefault(each.cause, []).append(each)
        return Log(by_cause)

    def differences(self) -> list[Difference]:
        """What was found, in the order of lines."""
        return sorted(map(_difference, self._records.values()), key=lambda each: (each.line, each.cause))

    def _changes(
        self, was: _Kept | None, now: _Kept, shared: int, body: dict[str, Any], in_session: bool
    ) -> Iterator[Change]:
        maker = now.maker
        loaded = self._loaded.get(now.model)
        options = load_options(body)
        life_s = now.life.seconds if now.life else float("inf")
        self._loaded[now.model] = _Loaded(options, now.when, life_s)
        if was is None:
            return
        lost = _changes.size(now.parts[:shared])
        grown = shared == len(was.parts) and len(now.parts) > shared
        if maker in (OLLAMA, UNKNOWN) and loaded is not None and loaded.options != options and lost:
            names = sorted({name for name, _ in set(loaded.options) ^ set(options)})
            yield Change(RELOADED, "options", -1, 0, 0, lost, False, f"{', '.join(names)} changed, and the model is loaded again")
            return
        if was.model != now.model and lost >= _WORTH:
            yield Change(RELOADED, "model", -1, 0, 0, lost, False, f"the model changed from {was.model} to {now.model}")
            return
        if was.lora != now.lora:
            yield Change(RELOADED, "lora", -1, 0, 0, lost, False, "the adapter changed", note=True)
        gap = self._gap(was, now, loaded if maker == OLLAMA else None, lost, in_session or grown)
        if gap is not None:
            yield gap
            return
        if was.cache_key != now.cache_key and was.cache_key and now.cache_key and lost >= _WORTH and (in_session or grown):
            yield Change(KEY, "cache-key", -1, 0, 0, lost, False, f"the cache key changed from {was.cache_key} to {now.cache_key}")
        change = compare(was.parts, now.parts, shared, in_session)
        if change is not None:
            yield change
        elif maker not in (OPENAI, LLAMA_SERVER):
            late = _late_system(was, now)
            if late is not None:
                yield late

    def _gap(self, was: _Kept, now: _Kept, loaded: _Loaded | None, lost: int, goes_on: bool) -> Change | None:
        """Whether the cache had gone when the request came."""
        life, before = was.life, was.when
        if life is None or lost < _WORTH:
            return None
        if life.seconds == 0:
            return Change(RELOADED, "keep-alive", -1, 0, 0, lost, False, "keep_alive 0 unloads the model after each request")
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
        return Change(IDLE, "idle", -1, 0, 0, lost, False, what, weak=not goes_on, note=note)

    def _note(self, change: Change, was: _Kept, now: _Kept, raw: str) -> None:
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

    def _keep(self, key: str, window: deque[_Kept], was: _Kept | None, now: _Kept, shared: int) -> None:
        if was is not None:
            now.parts[:shared] = was.parts[:shared]  # one copy of what both begin with
        now.bytes = sum(sys.getsizeof(part.text) + 150 for part in now.parts[shared if was is not None else 0 :]) + 600
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


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, (str, int)) and not isinstance(found, bool) and found != "":
            return str(found)
    return ""


def _best(window: deque[_Kept], now: _Kept) -> tuple[_Kept | None, int]:
    """The earlier request of which most can be reused: the longest shared start, then most of the rest, then the latest."""
    if not window:
        return None, 0
    starts = [(was.shares(now), was) for was in window]
    longest = max(shared for shared, _ in starts)
    fellows = [was for shared, was in starts if shared == longest]
    if len(fellows) == 1:
        return fellows[0], longest
    best, most_in, most_behind = fellows[-1], -1, -1
    rest = {part[:3] for part in now.parts[longest:]}
    for was in reversed(fellows):
        inside = _in_part(was, now, longest, most_in)
        if inside < most_in or (inside == most_in > 0 and len(rest) == 1):
            continue
        behind = _behind(was, rest, now, longest)
        if inside > most_in or behind > most_behind:
            best, most_in, most_behind = was, inside, behind
    return best, longest


def _in_part(was: _Kept, now: _Kept, k: int, known: int = 0) -> int:
    """How much of the first part that differs is shared, in steps, since a few letters alike are chance.

    ``known`` is what another request shares; whether this one shares less, as much or more is told by two comparisons.
    """
    if k >= len(was.parts) or k >= len(now.parts):
        return 0
    a, b = was.parts[k].text, now.parts[k].text
    if known > 0 and a[: known * _STEP] != b[: known * _STEP]:
        return 0
    more = (max(known, 0) + 1) * _STEP
    if a[:more] != b[:more]:
        return max(known, 0)
    return common_start(a, b) // _STEP


def _behind(was: _Kept, rest: set[tuple[str, str, str]], now: _Kept, k: int) -> int:
    """How much of what comes after the shared start both hold."""
    total = sum(len(part.text) for part in was.parts[k + 1 :] if part[:3] in rest)
    if k < len(was.parts) and k < len(now.parts):
        old, new = was.parts[k].text, now.parts[k].text
        # A sample from its middle tells whether a long text is the same but for what changes in it.
        if len(new) > 2 * _STEP and new[len(new) // 2 :][:_STEP] in old:
            total += len(old)
    return total


def _belongs(was: _Kept, now: _Kept, shared: int) -> bool:
    """Whether a request is of the same program as an earlier one: a start, or the end of a system text in common."""
    if _changes.size(now.parts[:shared]) >= _STEP:
        return True
    return _in_part(was, now, shared) > 0 or _behind(was, {part[:3] for part in now.parts}, now, shared) >= _WORTH


def _late_system(was: _Kept, now: _Kept) -> Change | None:
    """A system message that came after turns of the chat, and was not there before."""
    for index in late_systems(now.parts):
        if index >= len(was.parts) - 1 and now.parts[index][:3] not in {part[:3] for part in was.parts}:
            lost = _changes.size([part for part in now.parts[:index] if part.role not in ("tools", "schema", "system")])
            what = "a system message came late: servers that gather them in front of the chat read all of it again"
            return Change(LATE, "late", index, 0, 1, lost, True, what)
    return None


def _family(change: Change, now: _Kept) -> str:
    """Changes that are one cause: all kinds of other text in one place are, as are all rewritings of the history."""
    if change.cause in (_changes.HEAD, "fewshot-order", "lines-reordered", "json-order", "whitespace-drift", "encoding-drift"):
        part = now.parts[change.part] if 0 <= change.part < len(now.parts) else None
        if part is not None and part.role in ("system", "prompt", "user") and change.kind not in ("moved", "whitespace-drift"):
            return f"text of {part.role} {'/'.join(str(step) for step in part.path if part.role == 'system')}"
    return f"{change.cause} {change.note}"


def _locate(raw: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Where a place in a part's text stands in the line; its first character where it is not found."""
    import json

    if not raw or not text:
        return 0, 1
    for ascii_only in (False, True):
        before, word = (
            json.dumps(piece, ensure_ascii=ascii_only)[1:-1] for piece in (text[max(0, start - 24) : start], text[start:end])
        )
        at = raw.find(before + word)
        if at >= 0:
            return at + len(before), at + len(before) + max(1, len(word))
    return 0, 1


def _difference(record: _Record) -> Difference:
    change = record.change
    line, offset, earlier_line, earlier_offset = record.where
    tokens = change.lost // 4
    message = f"{change.what}: about {tokens:,} tokens that line {earlier_line} had sent are read again"
    if change.history:
        message += ", turns of the chat among them"
    if record.others:
        message += f"; so in {record.others} more sessions"
    # What is deliberate happens once; what a program does comes again and again.
    seldom = change.weak and (record.count < 2 or 2 * record.count < record.group.requests - 1)
    severity = "info" if change.note or seldom else ""
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
            severity=severities.get(rule.CODE) or severities.get(each.cause) or each.severity or rule.SEVERITY,
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


_CHANGES = {"date": "day", "environment": "checkout"}
