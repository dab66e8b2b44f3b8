"""Logs of requests: each is compared with the earlier one that it could best have reused, in one pass.

With a session named in the envelope, that is one of the session's last requests; without, one of the model's last ones,
which is how conversations that run side by side find their own. What is kept is bounded, so a log may be of any size.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from collections.abc import Iterator

from promptorder.difference.changes import HEAD, Change, compare
from promptorder.difference.drift import ID, PLACE
from promptorder.forms._envelope import SESSION_KEYS, TIME_KEYS, first_named, moment
from promptorder.forms._requests import unwrap
from promptorder.lint._earlier import Earlier, belongs, best
from promptorder.lint._log_changes import Asked, changes, family_of
from promptorder.lint._log_differences import Difference, Log, Record
from promptorder.lint.engine import Options, fingerprint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Related

_IN_SESSION, _IN_MODEL = 8, 16
"""How many earlier requests of a session, or of a model without sessions, a request is compared with."""
_BUDGET = 96 << 20
"""Bytes of text that are kept for comparing."""
_MOST_RECORDS = 2000
_OPENINGS, _MOST_MODELS = 4, 50
"""How many sessions of a model a new session is compared with, and of how many models."""


class Follower:
    """Reads a log, request by request, and keeps what changed."""

    def __init__(self) -> None:
        self.requests = 0
        self._known: OrderedDict[str, deque[Earlier]] = OrderedDict()
        self._asked: dict[str, Asked] = {}
        self._records: dict[tuple[int, str], Record] = {}
        self._openings: dict[str, deque[Earlier]] = {}
        self._between: dict[str, Record] = {}
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
        before, asked = self._asked.get(now.model), Asked.of(now, body)
        self._asked[now.model] = asked
        if was is not None:
            changed = list(changes(was, now, shared, before=before, asked=asked, in_session=bool(session)))
            if session or changed or belongs(was, now, shared):
                now.group = was.group
            for change in changed:
                self._note(change, was, now, raw)
        elif session:
            self._opened(now, raw)
        now.group.requests += 1
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
        found = (record.difference() for record in (*self._records.values(), *between))
        return sorted(found, key=lambda each: (each.line, each.cause))

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
        family = family_of(change, now)
        if family in self._between:
            self._between[family].count += 1
        else:
            self._between[family] = Record(change._replace(kind="session"), now, was, raw)

    def _note(self, change: Change, was: Earlier, now: Earlier, raw: str) -> None:
        key = (id(now.group), family_of(change, now))
        record = self._records.get(key)
        if record is not None:
            record.count += 1
            return
        if len(self._records) >= _MOST_RECORDS:
            fellow = next((r for r in self._records.values() if r.change.cause == change.cause), None)
            if fellow is not None:
                fellow.others += 1
            return
        self._records[key] = Record(change, now, was, raw)

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


def findings(follower: Follower, path: str, rules: Rules, options: Options) -> Iterator[Finding]:
    """The findings of a log that was read as a stream, as the engine makes them of a file's."""
    for each in follower.differences():
        rule = rules.by_name.get(each.cause)
        if rule is None:
            continue
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
            severity=options.severities.get(rule.CODE) or each.severity or rule.SEVERITY,
            confidence="high",
            changes=each.changes or rule.CHANGES,
            occurrences=each.occurrences,
            stranded_tokens=each.lost_tokens,
            related=(Related(path, each.earlier_line, each.earlier_line, each.could_reuse),),
            tip=rule.TIP,
            fingerprint=fingerprint(rule.CODE, "", each.line_text, each.start + 1),
            line_text=each.line_text,
        )
